"""Faults and mitigations of `eval` against the reference's: the faulty values, and the NDCG of the lists under each
mitigation. Lists with two scores closer than single precision are excluded."""
import dataclasses

import numpy as np

import draw
import oracle
import reference
from world import Difference, close, expect

REMEDIES = ("none", "route", "blank", "repair", "fill", "repair", "spread")
DIGITS = 2e-9
FACTOR = 7.25                   # of rescale
DRAWS, LEAST = 20, 3            # a draw with that many effective mitigations is enough


@dataclasses.dataclass
class Padded:
    """Lists in the reference's form: padded to one length, in double."""
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


def fault_of(rng, manifest, f):
    """Return (arguments of a fault of feature f, its effect on lists)."""
    name, faults = manifest.items[f], reference.faults
    factor, add = float(np.float32(10. ** rng.uniform(-3, 3))), float(np.float32(abs(rng.normal(0, 50))))
    kinds = {"scale": (f"{name}=x{factor!r}", lambda lists: faults.scale(lists, [f], factor)),
             "power": (f"{name}=^2", lambda lists: faults.power(lists, [f], 2.)),
             "medians": (f"{name}=+{add!r}median", lambda lists: faults.offset(lists, [f], add))}
    if manifest.queries:
        kinds["query"] = (f"{name}=*{manifest.queries[0]}", lambda lists: faults.nightly_to_stay(lists, [f], 0))
    return kinds[str(rng.choice(list(kinds)))]


def broken_by(fault, lists):
    """Return the lists with a fault, in single precision."""
    with np.errstate(all="ignore"):
        out = fault[1](padded(lists))
        out.items = out.items.astype(np.float32).astype(float)
    return out


def run(w):
    for _ in range(DRAWS):
        if told(w) >= LEAST:
            return 0
    raise Difference(f"of {DRAWS} draws none has {LEAST} remedies that make a difference")


def told(w):
    """Draw lists, a model and a fault, and compare. Return the number of effective mitigations."""
    rng = w.rng
    manifest = draw.Manifest(rng, int(rng.integers(3, 9)))
    if not manifest.routable:
        return 0
    lists = draw.lists(rng, manifest, int(rng.integers(5, 25)), odd=0, absent=0, longest=40)
    train = draw.lists(rng, manifest, int(rng.integers(2, 10)), odd=0, absent=0, longest=40)
    model = draw.model(rng, manifest)
    w.write("f.yaml", manifest.yaml())
    w.write("l.txt", lists.letor())
    w.write("train.txt", train.letor())
    w.write("m.safetensors", draw.safetensors(*model))
    k = int(rng.integers(len(manifest.routable)))
    fault = fault_of(rng, manifest, manifest.routable[k])
    words, broken = fault[0], broken_by(fault, lists)
    w.run("convert", "-m", "f.yaml", "--letor", "l.txt", "--fault", words, "-o", "broken.msg")
    messages = w.messages("broken.msg")
    expect(len(messages) == len(lists.x), f"{len(messages)} lists under {words}, expected {len(lists.x)}")
    for i, message in enumerate(messages):
        found = np.array([item["features"] for item in message["items"]], np.float32)
        wanted = broken.items[i, :len(lists.x[i])]
        close(found, wanted, 1.2e-7 * np.abs(np.nan_to_num(wanted)) + 1e-45, f"values of list {i} under {words}")
    return sum(measure(w, lists, train, fault, model, remedy, k) for remedy in REMEDIES)


def treated(lists, train, broken, model, remedy, k):
    """Return (lists, treatment, divisor of z of feature k)."""
    f = lists.manifest.routable[k]
    treatment, spread = ["none"] * len(lists.manifest.routable), 1
    out = broken.copy()
    if remedy in ("route", "blank", "spread"):
        treatment[k] = "blank" if remedy == "blank" else "route"
    with np.errstate(all="ignore"):
        if remedy == "fill":
            out.items[..., f] = model[1]["item_median"][f]
        elif remedy == "repair":
            out = reference.faults.repair(broken, padded(train), [f])
        elif remedy == "repair":
            out.items[..., f] /= FACTOR
        elif remedy == "spread":
            spread = reference.sir.within_list_sd(broken, lists.manifest.routable)[k] / float(model[1]["log_sd"][k])
        out.items = out.items.astype(np.float32)
    return out, treatment, spread


def judged(lists, train, fault, model, remedy, k):
    """Return (NDCG of each list, whether its order is certain)."""
    broken = broken_by(fault, lists)
    out, treatment, spread = treated(lists, train, broken, model, remedy, k)
    tensors = dict(model[1])
    if spread != 1:
        tensors["log_sd"] = tensors["log_sd"].astype(float)
        tensors["log_sd"][k] *= spread
    scorer, each, sure = oracle.Scorer(model[0], tensors), [], []
    for i, labels in enumerate(lists.labels):
        x, before = out.items[i, :len(labels)], broken.items[i, :len(labels)]
        # Another test covers values beyond the float range.
        sure.append(bool(np.isfinite(x).all() and np.isfinite(before).all() and ((x == 0) <= (before == 0)).all()))
        if not sure[-1]:
            each.append(0)
            continue
        scores, bound = scorer.score(x, lists.queries(i), treatment)
        _, first, same = np.unique(x, axis=0, return_index=True, return_inverse=True)
        scores = scores[first][same.reshape(-1)]                # of duplicates, equal in any summation order
        order = np.argsort(-scores, kind="stable")
        # A value, factor or ratio computed in double may round differently, which doubles the bound.
        near = np.diff(-scores[order]) <= 40 * np.maximum(bound[order][1:], bound[order][:-1])
        twins = np.array([(x[a] == x[b]).all() for a, b in zip(order, order[1:])], bool)
        sure[-1] = not (near & ~twins & (labels[order][1:] != labels[order][:-1])).any()
        each.append(reference.metrics.ndcg(list(scores), [float(v) for v in labels]) or 0)
    return each, sure


def of_sure(lists, *how):
    """Return (certain lists, NDCG of each). Some mitigations and faults depend on all lists of a file, so the
    remaining ones are evaluated again."""
    each, sure = judged(lists, *how)
    while lists.x and not all(sure):
        left = draw.Lists(lists.manifest)
        for i in np.flatnonzero(sure):
            left.add(lists.x[i], lists.query[i], lists.labels[i])
        lists = left
        each, sure = judged(lists, *how) if lists.x else ([], [])
    return lists, each


def measure(w, lists, train, fault, model, remedy, k):
    """Return whether the mitigation has an effect."""
    sure, each = of_sure(lists, train, fault, model, remedy, k)
    if not each:
        return False
    name, words = lists.manifest.items[lists.manifest.routable[k]], fault[0]
    option = {"none": [], "route": ["--route", name], "blank": ["--blank", name], "spread": ["--route", name, "--normalize-spread", "auto"],
              "repair": ["--repair", f"{name}={FACTOR}"], "fill": ["--impute", name],
              "repair": ["--repair", name, "--reference", "train.txt"]}[remedy]
    w.write("sure.txt", sure.letor())
    found = w.json("eval", "-m", "f.yaml", "--model", "m.safetensors", "--data", "sure.txt", "--fault", words, *option, "--metric",
                   "ndcg", "--empty-lists", "0")["metrics"]["ndcg"]
    wanted = np.mean(each)
    close([found], [wanted], DIGITS, f"NDCG of {len(each)} lists under {words} with {remedy}")
    return remedy != "none" and abs(np.mean(judged(sure, train, fault, model, "none", k)[0]) - wanted) > 1000 * DIGITS
