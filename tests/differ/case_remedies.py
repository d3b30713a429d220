"""Faults and what is done about them, as `eval` has them, against the reference's: the values that a fault leaves, and the
NDCG of the lists under each remedy. Orders are compared where no two scores are closer than single precision can tell."""
import dataclasses

import numpy as np

import draw
import oracle
import reference
from world import close

REMEDIES = ("none", "route", "silence", "rescale", "fill", "repair", "spread")
DIGITS = 2e-9


@dataclasses.dataclass
class Padded:
    """Lists as the reference has them: filled up to one length, in double."""
    items: np.ndarray
    mask: np.ndarray
    queries: np.ndarray

    def copy(self):
        return dataclasses.replace(self, items=self.items.copy())

    def __len__(self):
        return len(self.queries)


def padded(lists):
    q, d, f = len(lists.x), max(map(len, lists.x)), len(lists.manifest.items)
    out = Padded(np.ones((q, d, f)), np.zeros((q, d), bool), np.array([lists.queries(i) for i in range(q)]).reshape(q, -1))
    for i, x in enumerate(lists.x):
        out.items[i, :len(x)], out.mask[i, :len(x)] = x, True
    return out


def break_it(rng, manifest, lists, f):
    """-> (the words of the fault, the lists with it in single precision)"""
    name, faults = manifest.items[f], reference.faults
    factor, add = float(np.float32(10. ** rng.uniform(-3, 3))), float(np.float32(rng.normal(0, 50)))
    kinds = {"scale": (f"{name}=x{factor!r}", lambda: faults.scale(lists, [f], factor)),
             "power": (f"{name}=^2", lambda: faults.power(lists, [f], 2.)),
             "medians": (f"{name}=+{abs(add)!r}median", lambda: faults.offset(lists, [f], abs(add)))}
    if manifest.queries:
        kinds["query"] = (f"{name}=*{manifest.queries[0]}", lambda: faults.nightly_to_stay(lists, [f], 0))
    words, broken = kinds[str(rng.choice(list(kinds)))]
    with np.errstate(all="ignore"):
        out = broken()
        out.items = out.items.astype(np.float32).astype(float)
    return words, out


def run(w):
    rng = w.rng
    manifest = draw.Manifest(rng, int(rng.integers(3, 9)))
    if not manifest.routable:
        return 0
    lists = draw.lists(rng, manifest, int(rng.integers(2, 25)), odd=0, absent=0, longest=40)
    train = draw.lists(rng, manifest, int(rng.integers(2, 10)), odd=0, absent=0, longest=40)
    about, tensors = draw.model(rng, manifest)
    w.write("f.yaml", manifest.yaml())
    w.write("l.txt", lists.letor())
    w.write("train.txt", train.letor())
    w.write("m.safetensors", draw.safetensors(about, tensors))
    k = int(rng.integers(len(manifest.routable)))
    f = manifest.routable[k]
    words, broken = break_it(rng, manifest, padded(lists), f)
    w.run("convert", "-m", "f.yaml", "--letor", "l.txt", "--fault", words, "-o", "broken.msg")
    for i, message in enumerate(w.messages("broken.msg")):
        found = np.array([item["features"] for item in message["items"]], np.float32)
        wanted = broken.items[i, :len(found)]
        close(found, wanted, 1.2e-7 * np.abs(np.nan_to_num(wanted)) + 1e-45, f"values of list {i} under {words}")
    measure(w, lists, train, broken, (about, tensors), words, k)
    return 0


def treated(lists, train, broken, model, remedy, k, factor):
    """-> (lists, treatment, what z of feature k is divided by)"""
    f = lists.manifest.routable[k]
    treatment, spread = ["none"] * len(lists.manifest.routable), 1
    out = broken.copy()
    if remedy in ("route", "silence", "spread"):
        treatment[k] = "silence" if remedy == "silence" else "route"
    with np.errstate(all="ignore"):
        if remedy == "fill":
            out.items[..., f] = model[1]["item_median"][f]
        elif remedy == "repair":
            out = reference.faults.repair(broken, padded(train), [f])
        elif remedy == "rescale":
            out.items[..., f] /= factor
        elif remedy == "spread":
            spread = reference.sir.within_list_sd(broken, lists.manifest.routable)[k] / float(model[1]["log_sd"][k])
        out.items = out.items.astype(np.float32)
    return out, treatment, spread


def measure(w, lists, train, broken, model, words, k):
    name, remedy, factor = lists.manifest.items[lists.manifest.routable[k]], str(w.rng.choice(REMEDIES)), 7.25
    option = {"none": [], "route": ["--route", name], "silence": ["--silence", name], "spread": ["--route", name, "--spread", "auto"],
              "rescale": ["--rescale", f"{name}={factor}"], "fill": ["--fill", name],
              "repair": ["--repair", name, "--reference", "train.txt"]}[remedy]
    found = w.json("eval", "-m", "f.yaml", "--model", "m.safetensors", "--data", "l.txt", "--perturb", words, *option, "--metric",
                   "ndcg", "--empty", "0")["metrics"]["ndcg"]
    out, treatment, spread = treated(lists, train, broken, model, remedy, k, factor)
    tensors = dict(model[1])
    if spread != 1:
        tensors["log_sd"] = tensors["log_sd"].astype(float)
        tensors["log_sd"][k] *= spread
    scorer, wanted, unsure = oracle.Scorer(model[0], tensors), [], 0
    for i, labels in enumerate(lists.labels):
        x = out.items[i, :len(labels)]
        if not np.isfinite(x).all() or (x == 0).any() and remedy in ("rescale", "repair"):
            return          # what is beyond the range of a float is another's test
        scores, bound = scorer.score(x, lists.queries(i), treatment)
        _, first, same = np.unique(x, axis=0, return_index=True, return_inverse=True)
        scores = scores[first][same.reshape(-1)]                # of twins to the last bit, however they were added up
        order = np.argsort(-scores, kind="stable")
        # What the way to x, a factor or a ratio in double, may have rounded otherwise, moves scores by as much again.
        near = np.diff(-scores[order]) <= 40 * np.maximum(bound[order][1:], bound[order][:-1])
        twins = np.array([(x[a] == x[b]).all() for a, b in zip(order, order[1:])], bool)
        unsure += bool((near & ~twins & (labels[order][1:] != labels[order][:-1])).any())
        wanted.append(reference.metrics.ndcg(list(scores), [float(v) for v in labels]) or 0)
    close([found], [np.mean(wanted)], DIGITS + unsure / len(wanted), f"NDCG under {words} with {remedy}")
