"""Tables of docs/dev/results.md. Each is a function of the bench, `render` and `cell` (results.py) that returns Markdown."""
import random

import judge_table
from sets import INPUTS, TRANSFORMS

LOSS = "listmle"
ALL_SETS = ("hotel", "swissmetro", "car", "mq2008")
CHOICE_SETS = ("hotel", "swissmetro", "car")
LOSSES = {"listnet": "ListNet", "listmle": "ListMLE"}
ONE_LOSS = {"listmle": "ListNet = ListMLE"}  # one positive label in each list: the same function


def perturb(specs):
    return [word for spec in specs for word in ("--fault", spec)]


def random_factors(features, salt):
    """Return one factor per feature, log-uniform from 1/1000 to 1000, outside [1/2, 2]; deterministic."""
    draw = random.Random(salt)
    found = []
    for feature in features:
        factor = 1.0
        while .5 <= factor <= 2:
            factor = 10 ** draw.uniform(-3, 3)
        found.append(f"{feature}=x{factor:.3g}")
    return found


def with_and_without(name):
    """The paper's comparison on one set: losses x with and without SIR, unperturbed and perturbed."""
    def table(bench, render, cell):
        data = bench.set(name)
        lists = {"unperturbed": [], "main x100": [f"{data.main}=x100"], "all x random": random_factors(data.routable, name)}
        everything = ["--route", "all"]
        models = [("plain", "plain", {}),
                  (f"SIR, {data.main}", "static", dict.fromkeys(lists, ["--route", data.main])),
                  ("SIR, all features", "static_all", dict.fromkeys(lists, everything)),
                  ("routable, nothing routed", "routable", {}),
                  ("routable, faulty features routed", "routable",
                   {"main x100": ["--route", data.main], "all x random": everything})]
        rows = []
        for loss, spelled in (ONE_LOSS if name in ("swissmetro", "car") else LOSSES).items():
            for label, variant, words in models:
                cells = []
                for faults, specs in lists.items():
                    values = bench.ours(name, variant, loss, perturb(specs) + words.get(faults, []))
                    cells += [cell(values, 0), cell(values, 1)]
                rows.append((f"{spelled}, {label}", cells))
        asked = [(specs, [s.split("=")[0] for s in specs] or [data.main], remedy)
                 for remedy in (None, "repair") for specs in lists.values()]
        peers = [cell(v, k) for v in bench.theirs(name, asked) for k in (0, 1)]
        rows += [("LightGBM", peers[:len(peers) // 2]), ("LightGBM, rescaled", peers[len(peers) // 2:])]
        head = [data.name] + [f"{faults}, @{k}" for faults in lists for k in (5, 10)]
        return render(rows, head, best=False)
    return table


# Column -> variant, arguments; FAULTY: the affected features. Columns with arms apply only to faults with arms.
REMEDIES = {
    "plain": ("plain", []),
    "unnoticed": ("routable", []),
    "routed": ("routable", ["--route", "FAULTY"]),
    "routed, spread": ("routable", ["--route", "FAULTY", "--normalize-spread", "auto"]),
    "blanked": ("routable", ["--blank", "FAULTY"]),
    "plain, rescaled": ("plain", ["--repair", "FAULTY"]),
    "plain, rescaled per known arm": ("plain", ["--repair", "FAULTY", "--repair-by", "arm"]),
    "routable, rescaled": ("routable", ["--repair", "FAULTY"]),
    "plain, filled": ("plain", ["--impute", "FAULTY"]),
}
THEIRS = {"LightGBM": None, "LightGBM, rescaled": "repair", "LightGBM, filled": "fill"}


def has_arms(specs):
    return any("@" in s or "=currency" in s for s in specs)


def remedies(bench, name, faults, columns, theirs):
    """Return the rows of a table: faults are (label, specs, features)."""
    asked = [(specs, features, remedy) for _, specs, features in faults for remedy in theirs.values()]
    peers = bench.theirs(name, asked)
    rows = []
    for i, (label, specs, features) in enumerate(faults):
        cells = []
        for column in columns:
            variant, words = REMEDIES[column]
            arms = "arm" not in words or has_arms(specs)
            words = [w.replace("FAULTY", ",".join(features)) for w in words]
            cells.append(bench.ours(name, variant, LOSS, perturb(specs) + words) if arms else None)
        rows.append((label, cells + peers[i * len(theirs):(i + 1) * len(theirs)]))
    return rows


def per_set(bench, render, names, faults_of, columns, theirs):
    parts = []
    for name in names:
        rows = remedies(bench, name, faults_of(bench.set(name)), columns, theirs)
        parts.append(render(rows, [name, *columns, *theirs]))
    return "\n\n".join(parts)


def subset(bench, render, _):
    """Any subset of the features on another scale, each by a separate factor."""
    def faults(data):
        found = []
        for count in sorted({1, 2, 3, 5, len(data.routable)}):
            if count <= len(data.routable):
                chosen = random.Random(count).sample(data.routable, count)
                found.append((f"{count} of {len(data.routable)}", random_factors(chosen, f"{data.name} {count}"), chosen))
        return found
    columns = ["plain", "unnoticed", "routed", "plain, rescaled", "routable, rescaled", "plain, filled"]
    return per_set(bench, render, ALL_SETS, faults, columns, THEIRS)


def faults(bench, render, _):
    """Faults of the main feature that no single factor describes."""
    def of_set(data):
        main, hit = data.main, [data.main]
        found = [("x10", [f"{main}=x10"], hit), ("x100", [f"{main}=x100"], hit),
                 ("x100, half of the lists", [f"{main}=x100@0.5"], hit),
                 ("x100, a tenth of the lists", [f"{main}=x100@0.1"], hit)]
        if data.nights:
            found.append((f"times {data.nights}", [f"{main}=*{data.nights}"], hit))
        found += [("a currency per list", [f"{','.join(data.priced)}=currency"], data.priced),
                  ("+ median", [f"{main}=+1median"], hit), ("squared", [f"{main}=^2"], hit), ("root", [f"{main}=^0.5"], hit),
                  ("0 in half of the items", [f"{main}=zero,items=0.5"], hit), ("sign turned", [f"{main}=neg"], hit),
                  ("x100, half of the items", [f"{main}=x100,items=0.5"], hit)]
        zeros = {"swissmetro": "headway", "car": "pollution"}.get(data.name)
        if zeros:
            found.append((f"{zeros} x100 (0 for some)", [f"{zeros}=x100"], [zeros]))
        return found
    columns = ["plain", "unnoticed", "routed", "routed, spread", "blanked", "plain, rescaled",
               "plain, rescaled per known arm", "plain, filled"]
    return per_set(bench, render, CHOICE_SETS, of_set, columns, THEIRS)


CODES = {"hotel": (["chain"], ["breakfast"], ["free_cancellation"], ["stars"]),
         "swissmetro": (["is_train"], ["airline_seats"], ["is_train", "is_swissmetro"]),
         "car": (["size"], ["fuel_electric"], ["body_truck", "body_van"])}


def codes(bench, render, _):
    """Renumbered code features. Blanking and routing apply only to routable features."""
    parts = []
    for name in CHOICE_SETS:
        data = bench.set(name)
        rows, asked = [], [([f"{','.join(f)}=recode"], f, r) for f in CODES[name] for r in (None, "fill")]
        peers = bench.theirs(name, asked)
        for i, features in enumerate(CODES[name]):
            specs, joined = [f"{','.join(features)}=recode"], ",".join(features)
            routable = all(f in data.routable for f in features)
            plain, clean, none = (bench.ours(name, v, LOSS, w) for v, w in (
                ("plain", perturb(specs)), ("routable", []), ("routable", perturb(specs))))
            filled = bench.ours(name, "routable", LOSS, perturb(specs) + ["--impute", joined])
            routed = bench.ours(name, "routable", LOSS, perturb(specs) + ["--route", joined]) if routable else None
            silent = bench.ours(name, "routable", LOSS, perturb(specs) + ["--blank", joined]) if routable else None
            rows.append((joined, [clean, plain, none, routed, silent, filled, *peers[2 * i:2 * i + 2]]))
        parts.append(render(rows, [name, "routable, healthy", "plain", "routable", "routed", "blanked", "routable, filled",
                                   "LightGBM", "LightGBM, filled"], best=False))
    return "\n\n".join(parts)


def cost(bench, render, _):
    """Healthy lists: cost of routability, and of an unnecessary route."""
    rows = [("plain", "plain", []), ("plain with logs", "plain_log", []), ("routable, nothing routed", "routable", []),
            ("routable, main routed", "routable", ["--route", "MAIN"]), ("routable, half of them routed", "routable", None),
            ("routable, all routed", "routable", ["--route", "all"]), ("SIR, main", "static", ["--route", "MAIN"]),
            ("SIR, all", "static_all", ["--route", "all"]), ("list-free, nothing routed", "list_free", []),
            ("list-free, main routed", "list_free", ["--route", "MAIN"])]
    made = []
    for label, variant, words in rows:
        cells = []
        for name in ALL_SETS:
            routable = bench.set(name).routable
            half = ["--route", ",".join(random.Random(name).sample(routable, (len(routable) + 1) // 2))]
            cells.append(bench.ours(name, variant, LOSS, half if words is None else words))
        made.append((label, cells))
    made.append(("LightGBM", [bench.theirs(name, [([], [bench.set(name).main], None)])[0] for name in ALL_SETS]))
    return render(made, ["healthy lists", *ALL_SETS], best=False)


def inputs(bench, render, _):
    """Comparison of the default with other transforms, batch normalization and dropout."""
    parts = []
    for head, specs in (("clean", []), ("x100, unnoticed", ["MAIN=x100"])):
        rows = [("the default" if v == "routable" else v, [bench.ours(name, v, LOSS, perturb(specs)) for name in ALL_SETS])
                for v in ("routable", *INPUTS)]
        parts.append(render(rows, [head, *ALL_SETS], best=False))
    return "\n\n".join(parts)


def sources(bench, render, _):
    """Lists with items from two random sources, A and B: effect of a fault in one of them."""
    two, hit = ["--sources", "2"], perturb(["MAIN=x100,source=1"])
    rows = [("healthy, nothing routed", []), ("healthy, routed by source", [*two, "--route-per-source", "MAIN"]),
            ("B x100, unnoticed", [*two, *hit]), ("B x100, routed with one mean", [*two, *hit, "--route", "MAIN"]),
            ("B x100, blanked", [*two, *hit, "--blank", "MAIN"]),
            ("B x100, routed by source", [*two, *hit, "--route-per-source", "MAIN"])]
    made = [(label, [bench.ours(name, "routable", LOSS, words) for name in CHOICE_SETS]) for label, words in rows]
    return render(made, ["mixed lists", *CHOICE_SETS], best=False)


def transforms(bench, render, cell):
    """The paper's first table: one network with raw, standardized, rank, logarithmic and mixed inputs."""
    head = ["transform"] + [f"{name}, @{k}" for name in ALL_SETS for k in (1, 5, 10)]
    rows = []
    for label in TRANSFORMS:
        values = [bench.figures(name, f"published {label}", "approxndcg", [], ("ndcg@1", "ndcg@5", "ndcg@10")) for name in ALL_SETS]
        rows.append((label, [cell(of, k) for of in values for k in range(3)]))
    return render(rows, head, best=False)


METHODS = {"nfs": "NFS", "xgas": "XGAS", "hcas": "HCAS", "importance": "importance", "random": "random"}


def select(bench, render, cell):
    """NDCG@3 with a part of the features, selected by several methods, evaluated by two rankers."""
    parts = []
    for name in bench.names or ("mq2008", "hotel", "car", "swissmetro"):
        data = bench.set(name)
        found = {method: bench.chosen(name, method) for method in METHODS}
        sizes = range(len(found["hcas"][0]))
        asked = [{str(s): runs[i]["features"] for i, s in enumerate(bench.seeds)}
                 for method in METHODS for runs in zip(*found[method])]
        peers = bench.peer.judge(data, bench.seeds, asked)
        rows = []
        for m, (method, label) in enumerate(METHODS.items()):
            ours = [[[run[i]["ndcg@3"]] for run in found[method]] for i in sizes]
            theirs = peers[m * len(sizes):(m + 1) * len(sizes)]
            rows.append((label, [text for a, b in zip(ours, theirs) for text in (cell(a, 0), cell(b, 0))]))
        counts = [s["count"] for s in found["hcas"][0]]
        head = [data.name] + [f"{c} of {counts[-1]}{', LightGBM' if k else ''}" if c < counts[-1] else f"all{', LightGBM' if k else ''}"
                              for c in counts for k in (0, 1)]
        parts.append(render(rows, head, best=False))
    return "\n\n".join(parts)


TABLES = {**{name: with_and_without(name) for name in ALL_SETS},
          "subset": subset, "faults": faults, "codes": codes, "cost": cost, "inputs": inputs, "sources": sources,
          "transforms": transforms, "select": select, "normalize": judge_table.table(ALL_SETS)}
