#!/usr/bin/env python3
"""Replays the published sets in random orders: no healthy list gets a confirmed finding.

    python3 tests/accept/orders.py [--program build/evenkeel] [--sets hotel,...] [--orders 3]

EK_DATA names the folder with the sets; without it the test is skipped. An order shuffles all lists of a set, takes a
profile of the first 60% and replays the rest. One more replay keeps the files: their splits have no person in common,
and the lists of a person follow one another.
"""
import argparse
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

RULES = "version: 1\ndefaults: {mode: enforce}\nsegments: [arm]\n"


def read_lists(path):
    """Return the lists of a LETOR file, each as (query, text of its lines)."""
    found = []
    text = subprocess.run(["zstd", "-dc", path], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines(keepends=True):
        label, query, rest = line.split(" ", 2)
        if not found or found[-1][0] != query:
            found.append((query, []))
        found[-1][1].append((label, rest))
    return [lines for _, lines in found]


class Replay:
    def __init__(self, program, manifest, scratch):
        self.program, self.manifest, self.scratch = program, manifest, scratch
        with open(self.path("rules.yaml"), "w", encoding="ascii") as out:
            out.write(RULES)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def run(self, command, *words):
        result = subprocess.run([self.program, command, "-m", self.manifest, *words], capture_output=True, text=True,
                                check=False)
        if result.returncode:
            raise SystemExit(f"{command} {' '.join(words)}\n{result.stderr}")
        return result.stdout

    def messages(self, name, lists, seed):
        text, target = self.path("lists.txt"), self.path(name)
        with open(text, "w", encoding="utf-8") as out:
            for number, lines in enumerate(lists, 1):
                out.writelines(f"{label} qid:{number} {rest}" for label, rest in lines)
        self.run("convert", "-l", text, "--segment=arm=A,B", "-s", str(seed), "-o", target)
        return target

    def findings(self, train, test, seed):
        """Return the confirmed findings in the lists `test` after training on `train`."""
        profile, events = self.path("profile.ekp"), self.path("events")
        self.run("profile", "--messages", self.messages("train", train, seed), "-o", profile)
        self.run("replay", "-p", profile, "-r", self.path("rules.yaml"), "-i", self.messages("test", test, seed), "-e",
                 events)
        with open(events, encoding="utf-8") as stream:
            return [e["text"] for e in map(json.loads, stream) if e["event"] == "finding" and e["state"] == "confirmed"]


def splits_of(folder):
    """Return the lists of each file, the test split last."""
    order = {"train": 0, "vali": 1, "test": 2}
    paths = sorted(glob.glob(os.path.join(folder, "*.txt.zst")),
                   key=lambda p: (order.get(os.path.basename(p).split(".")[0], 0), p))
    return [read_lists(path) for path in paths]


def cases(splits, orders):
    """Yield (title, training lists, test lists)."""
    every = [one for part in splits for one in part]
    for seed in range(orders):
        shuffled = random.Random(seed).sample(every, len(every))
        cut = len(shuffled) * 6 // 10
        yield f"order {seed}", shuffled[:cut], shuffled[cut:]
    yield "as stored", [one for part in splits[:-1] for one in part], splits[-1]


def main():
    parser = argparse.ArgumentParser(description="healthy replays of the published sets")
    parser.add_argument("--program", default="build/evenkeel")
    parser.add_argument("--sets", default="hotel,car,swissmetro,mq2008")
    parser.add_argument("--orders", type=int, default=3)
    args = parser.parse_args()
    folder = os.environ.get("EK_DATA")
    if not folder:
        print("skipped: EK_DATA names no folder with the sets\n0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = 0
    for name in args.sets.split(","):
        place = os.path.join(folder, name)
        with tempfile.TemporaryDirectory() as scratch:
            replay = Replay(args.program, os.path.join(place, "features.yaml"), scratch)
            for number, (title, train, test) in enumerate(cases(splits_of(place), args.orders)):
                texts = replay.findings(train, test, number)
                passed, failed = passed + (not texts), failed + bool(texts)
                print(f"{name}, {title}: {len(train)} lists, then {len(test)}: {len(texts)} confirmed")
                for text in texts:
                    print(f"  {text}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
