"""Scores of random models on random lists, with and without routes: the program against NumPy in double.

Uses text, messages of every encoding, a profile, rules with pins and `replay`: a list's path in production.
"""
import json

import draw
import oracle
from world import Difference, close, expect
import reference

TRANSFORMS = ("log1p", "log1p", "raw", "zscore", "cdf", "mixture")
ENCODINGS = ("array", "bin", "map", "json", "json-map")


def run(w):
    rng = w.rng
    manifest = draw.Manifest(rng)
    healthy = rng.random() < .5                 # the reference has neither missing nor infinite values
    lists = draw.lists(rng, manifest, int(rng.integers(1, 12)), absent=0 if healthy else .3,
                       longest=1000 if rng.random() < .1 else 100)
    about, tensors = draw.model(rng, manifest, ("log1p",) if healthy else TRANSFORMS)       # and no other transform
    w.write("f.yaml", manifest.yaml())
    w.write("l.txt", lists.letor())
    w.write("m.safetensors", draw.safetensors(about, tensors))
    scorer = oracle.Scorer(about, tensors)
    sources = int(rng.choice([0, 2, 3, 16]))
    encoding = ENCODINGS[rng.integers(len(ENCODINGS))]
    w.run("convert", "-m", "f.yaml", "--letor", "l.txt", "--upstream-model", "m.safetensors", "--encoding", encoding,
          *(["--sources", sources, "--seed", rng.integers(1000)] if sources else []), "-o", "in.msg")
    came = read(w, "in.msg", encoding)
    worst = compare(came, lists, came, scorer, ["none"] * len(manifest.routable), healthy, "no route")
    w.run("profile", "-m", "f.yaml", "--letor", "l.txt", "-o", "p.ekp")
    for _ in range(2 if manifest.routable else 0):
        actions = oracle.ACTIONS if sources and not about["list_free"] else oracle.ACTIONS[:3]
        treatment = [str(rng.choice(actions)) for _ in manifest.routable]
        if healthy and rng.random() < .5:
            treatment = [a if a == "none" else "route" for a in treatment]
        pins = "".join(f"  - {{feature: {manifest.items[f]}, action: {a}}}\n"
                       for f, a in zip(manifest.routable, treatment) if a != "none")
        if not pins:
            continue
        w.write("r.yaml", "version: 1\npins:\n" + pins)
        w.run("replay", "-m", "f.yaml", "-p", "p.ekp", "-r", "r.yaml", "-M", "m.safetensors", "-i", "in.msg", "-o", "out.ekc")
        worst = max(worst, compare(read(w, "out.ekc", encoding), lists, came, scorer, treatment, healthy, pins))
    return worst


def read(w, name, encoding):
    if not encoding.startswith("json"):
        return w.messages(name)
    if name.endswith(".ekc"):
        return [json.loads(m) for m in w.raw(name)]
    with open(w.path(name), "rb") as file:
        return [json.loads(line) for line in file if line.strip()]


def compare(found, lists, came, scorer, treatment, healthy, what):
    expect(len(found) == len(lists.x), f"{len(found)} lists, expected {len(lists.x)}")
    worst = 0
    for i, message in enumerate(found):
        sources = None
        if "source" in came[i]["items"][0]:
            sources = draw.np.array([int(item["source"]) for item in came[i]["items"]])
        x, query = lists.x[i], lists.queries(i)
        wanted, bound = scorer.score(x, query, treatment, sources)
        scores = [item["score"] for item in message["items"]]
        place = f"list {i} of {len(x)} items, {what}"
        worst = max(worst, close(scores, wanted, bound, place))
        if healthy and reference.scores(scorer, treatment):
            close(scores, reference.scores(scorer, treatment)(x, query), bound, "reference: " + place)
    return worst
