"""Table of docs/dev/results.md on feature scalings, evaluated by a linear ranker: `evenkeel normalize --cross-validate`."""
import sys

from sets import run

COLUMNS = {"p@5": "P@5", "ndcg@1": "NDCG@1", "ndcg@3": "@3", "ndcg@5": "@5", "ndcg@10": "@10", "map": "MAP", "err": "ERR"}
TRAINING_ONLY = ("hotel",)  # large enough


def files(data):
    """Return all lists of the set; for a set with folds its parts, in order."""
    split = data.splits[0]
    return split["train"] if data.name in TRAINING_ONLY else split["train"] + split["vali"] + split["test"]


def judged(bench, data):
    known = bench.found[data.name]
    if "judge" not in known.of:
        print(data.name, "judge", file=sys.stderr)
        known.add({"judge": run(bench.args.program, "normalize", "--manifest", data.manifest, "--letor", *files(data),
                                "--cross-validate", "--json")})
    return known.of["judge"]


def figure(value):
    return f"{value:.4f}".replace("0.", ".", 1)


def probability(method):
    test = method["t_tests"].get("minmax")
    if not test or test["p"] is None:
        return "-"
    return "<.0001" if test["p"] < 1e-4 else figure(test["p"])


def chosen(method):
    """Return the selected C of the folds, as powers of ten."""
    return " ".join(f"{fold['c']:.0e}".replace("e+0", "e").replace("e-0", "e-") for fold in method["folds"])


def table(names):
    def of(bench, render, _):
        parts = []
        for name in names:
            methods = judged(bench, bench.set(name))["methods"]
            rows = [(m["method"], [figure(m["metrics"][c]) for c in COLUMNS] + [probability(m), chosen(m)]) for m in methods]
            parts.append(render(rows, [name, *COLUMNS.values(), "p", "C"], best=False))
        return "\n\n".join(parts)
    return of
