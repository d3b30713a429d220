"""A stream of lists against the same stream item by item: `replay` has the same findings at the same list in the same
words. Scores are equal to rounding, as items carry the mean logarithms of their list."""
import json

import numpy as np

import draw
import traffic
from world import close, expect
import read_capture

ROUNDING = 1e-5
TIMES = {"time_ms", "since_ms"}         # without message times these are message numbers, which differ


def found(w, layout):
    """Return (events, all scores)."""
    words = ["-m", "f.yaml", "--letor", "l.txt", "--segment", "arm=A,B", "--layout", layout, "-o", layout + ".msg"]
    w.run("convert", *words)
    w.run("replay", "-m", "f.yaml", "-p", "p.ekp", "-r", "r.yaml", "-M", "m.safetensors", "-i", layout + ".msg", "--layout", layout,
          "-e", layout + ".jsonl", "-o", layout + ".ekc")
    messages = [dict(read_capture.unpack(raw)[0]) for raw in w.raw(layout + ".ekc")]
    items = [dict(item) for m in messages for item in m.get("items", [m.get("item")])]
    with open(w.path(layout + ".jsonl"), encoding="utf-8") as file:
        events = [{k: v for k, v in json.loads(line).items() if k not in TIMES} for line in file]
    return events, [item["score"] for item in items]


def run(w):
    rng = w.rng
    stream = traffic.Stream(rng)
    while not stream.manifest.routable:
        stream = traffic.Stream(rng)
    routable = stream.manifest.routable
    many = int(rng.choice([200, 600]))
    for name, count in (("train.txt", 400), ("l.txt", many)):
        lists = draw.Lists(stream.manifest)
        while len(lists.x) < count:
            _, x, query = stream.list()
            if len(x):
                lists.add(x, query, [0] * len(x))
        w.write(name, lists.letor())
        stream.number = 0
        stream.add_faults(many)
    w.write("f.yaml", stream.manifest.yaml())
    w.run("profile", "-m", "f.yaml", "--letor", "train.txt", "-o", "p.ekp")
    w.write("m.safetensors", draw.safetensors(*draw.model(rng, stream.manifest)))
    pins = [{"feature": stream.manifest.items[f], "action": str(rng.choice(["route", "blank"]))}
            | ({"segment": {"arm": str(rng.choice(["A", "B"]))}} if rng.random() < .4 else {})
            for f in rng.choice(routable, int(rng.integers(1, len(routable) + 1)), replace=False)]
    w.write("r.yaml", json.dumps({"segments": ["arm"], "defaults": {"confirmation_lists": int(rng.choice([8, 32, 64])),
                                                                  "false_alarms": "1 per 100000 lists"}, "pins": pins}))
    (one, scores), (other, parts) = found(w, "list"), found(w, "item")
    expect(one and np.any(scores), f"nothing to compare: {len(one)} events, {np.count_nonzero(scores)} scores")
    expect(len(scores) == len(parts), f"{len(scores)} scores of lists, {len(parts)} of items")
    close(parts, scores, ROUNDING * np.maximum(np.abs(scores), 1), "scores of items")
    for a, b in zip(one, other):
        expect(a == b, f"as lists and as items:\n{a}\n{b}")
    expect(len(one) == len(other), f"{len(one)} events of lists, {len(other)} of items: {(one + other)[-1:]}")
    return 0
