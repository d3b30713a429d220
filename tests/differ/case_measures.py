"""Ranking metrics of `eval` against the reference's, for the same scores."""
import draw
import reference
from world import close, expect

METRICS = ("ndcg", "ndcg@1", "ndcg@3", "ndcg@10", "ndcg@1000", "map", "p@1", "p@5", "p@64", "err", "err@2", "err@20", "mrr")
DIGITS = 2e-9           # printed with nine digits


def of_list(name, scores, labels, gain, most):
    kind, _, cutoff = name.partition("@")
    cutoff, m = int(cutoff) if cutoff else None, reference.metrics
    return {"ndcg": lambda: m.ndcg(scores, labels, cutoff, gain), "map": lambda: m.average_precision(scores, labels),
            "p": lambda: m.precision(scores, labels, cutoff), "mrr": lambda: m.reciprocal_rank(scores, labels),
            "err": lambda: m.expected_reciprocal_rank(scores, labels, most, cutoff)}[kind]()


def labels_of(rng, lists):
    """Return grades, usually; else fractions, large grades, or mostly lists without positive ones."""
    kind = rng.choice(["grades", "fractions", "large", "rare"])
    for i, labels in enumerate(lists.labels):
        if kind == "fractions":
            lists.labels[i] = draw.np.float32(labels / 3).astype(float)
        elif kind == "large":
            lists.labels[i] = labels * int(rng.choice([1, 30, 200]))
        elif kind == "rare":
            lists.labels[i] = labels * (rng.random() < .2)


def drawn(rng, manifest):
    lists = draw.lists(rng, manifest, int(rng.integers(1, 40)), absent=.2, longest=150)
    labels_of(rng, lists)
    return lists


def run(w):
    rng = w.rng
    manifest = draw.Manifest(rng)
    lists = drawn(rng, manifest)
    while rng.random() < .95 and not any(labels.any() for labels in lists.labels):
        lists = drawn(rng, manifest)
    about, tensors = draw.model(rng, manifest)
    if rng.random() < .2:                       # all scores of a list are equal
        tensors = {name: value * (not name.startswith("deep")) for name, value in tensors.items()}
    w.write("f.yaml", manifest.yaml())
    w.write("l.txt", lists.letor())
    w.write("m.safetensors", draw.safetensors(about, tensors))
    w.run("convert", "-m", "f.yaml", "--letor", "l.txt", "--upstream-model", "m.safetensors", "-o", "in.msg")
    scores = [[item["score"] for item in message["items"]] for message in w.messages("in.msg")]
    gain, empty = str(rng.choice(["exp", "linear"])), str(rng.choice(["skip", "0", "1"]))
    found = w.json("eval", "-m", "f.yaml", "--model", "m.safetensors", "--data", "l.txt", "--metric", ",".join(METRICS),
                   "--gain", gain, "--empty-lists", empty)
    most = max(float(max(labels)) for labels in lists.labels)
    for name in METRICS:
        each = [of_list(name, s, [float(v) for v in labels], gain, most) for s, labels in zip(scores, lists.labels)]
        counted = len(each) if empty != "skip" else sum(v is not None for v in each)
        expect(found["counted"][name] == counted, f"{name}: {found['counted'][name]} lists counted, expected {counted}")
        wanted = reference.metrics.mean(each, empty)
        value = found["metrics"].get(name)
        if wanted is None:
            expect(value is None, f"{name} of no list is {value}")
            continue
        close([value], [wanted], DIGITS * max(1, abs(wanted)), f"{name}, gain {gain}, empty {empty}")
    return 0
