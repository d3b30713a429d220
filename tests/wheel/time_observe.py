#!/usr/bin/env python3
"""Cost of Guard.observe per value, compared with a loop in C over the same lists: best rounds of alternating runs.

    time_observe.py BUILD
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import evenkeel
import numpy as np

ITEMS, FEATURES, LISTS, BATCH, TRAINING, ROUNDS, RUNS = 20, 136, 2000, 100, 4000, 5, 4
RULES = "version: 1\ndefaults: {dedup_key: []}\n"


def lists(count, seed):
    rng = np.random.default_rng(seed)
    level = np.repeat(3 + .3 * rng.normal(size=(count, FEATURES)), ITEMS, axis=0)
    return np.exp(level + .4 * rng.normal(size=level.shape)).astype(np.float32)


def python_rounds(manifest, profile, X, batch):
    guard, times = evenkeel.Guard(manifest, profile, RULES), []
    starts = np.arange(0, (batch + 1) * ITEMS, ITEMS)
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for first in range(0, len(X), batch * ITEMS):
            guard.observe(X[first:first + batch * ITEMS], starts)
        times.append(1e9 * (time.perf_counter() - begun) / X.size)
    return times


def main():
    program, ours = os.path.join(sys.argv[1], "tests/wheel/time_observe"), {BATCH: [], 1: []}
    with tempfile.TemporaryDirectory() as folder:
        manifest, rules, values, saved = (os.path.join(folder, name) for name in ("m.yaml", "rules.yaml", "values", "p.ekp"))
        made = evenkeel.Manifest.of(f"f{i}" for i in range(FEATURES))
        for path, text in ((manifest, made.text), (rules, RULES)):
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        profile = evenkeel.Profile.fit(lists(TRAINING, 1), np.arange(0, (TRAINING + 1) * ITEMS, ITEMS), features=made)
        profile.save(saved)
        X, theirs = lists(LISTS, 2), []
        X.tofile(values)
        for _ in range(RUNS):
            words = [program, manifest, saved, rules, values, str(ITEMS), str(FEATURES), str(ROUNDS)]
            theirs += map(float, subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())
            for batch, times in ours.items():
                times += python_rounds(made, profile, X, batch)
    for batch, times in ours.items():
        print(json.dumps({"bench": "wheel", "case": f"observe, 136 features, 20 items, float32, batches of {batch}",
                          "value": round(min(times), 4), "unit": "ns/value", "peer": round(min(theirs), 4),
                          "ratio": round(min(times) / min(theirs), 3)}))


main()
