"""The package has the findings, plans, repairs and profiles of the program, bit for bit."""
import json
import random
import unittest

import evenkeel
import numpy as np
from evenkeel import _lists
from world import Arrays, Hotel, run

FAULTS = (("price=x100,from=300,arm=B",), ("price=x100,from=300,to=900", "distance_center=x1.609344,from=500"), ("stars=nan,from=400,share=0.5",),
          ("price=^2,from=300",), ("taxes=+50,from=200", "price=neg,from=700"), ("price=*stay_nights,from=300",), ())


def lines_of(guard, arrays, rng):
    """Observe the lists in batches of random sizes, and return the events as text."""
    lines, first = [], 0
    while first < len(arrays.ids):
        last = min(first + rng.choice((1, 2, 7, 64, 500)), len(arrays.ids))
        part = arrays.part(first, last)
        lists = _lists.Lists.of(**part)
        lines += guard._native.observe(*lists.arguments(), None)
        first = last
    return lines


def laid_out(X, kind):
    """Return an array with these values and another layout."""
    if kind == 0:
        return X
    if kind == 1:
        return np.asfortranarray(X)
    if kind == 2:
        wide = np.full((2 * len(X), X.shape[1] + 3), 7, X.dtype)
        wide[::2, 1:-2] = X
        return wide[::2, 1:-2]
    if kind == 3:
        return X[::-1, ::-1].copy()[::-1, ::-1]
    if kind == 4:
        return X.astype(np.float64)
    bytes_ = np.zeros(X.nbytes + 1, np.uint8)[1:]
    out = np.ndarray(X.shape, X.dtype, bytes_)
    out[:] = X
    return out


class Same(Hotel):
    def replay(self, messages, *words):
        run("replay", "-m", self.manifest, "-p", self.profile, "-r", self.rules, "-i", messages, "--writes", "features",
            "-e", self.path("events.jsonl"), *words)
        with open(self.path("events.jsonl"), encoding="utf-8") as lines:
            return lines.read().splitlines()

    def test_findings_and_plans_of_generated_traffic_are_those_of_a_replay(self):
        rng, kinds = random.Random(1), set()
        for i, faults in enumerate(FAULTS):
            words = [word for fault in faults for word in ("--fault", fault)]
            messages = self.generate("lists.jsonl", 1200, 10 + i, *words)
            expected = self.replay(messages)
            guard = evenkeel.Guard(self.manifest, self.profile, self.rules)
            arrays = Arrays(messages)
            arrays.X = laid_out(arrays.X, i % 6)
            self.assertEqual(lines_of(guard, arrays, rng), expected)
            self.assertEqual(guard.list_count, 1200)
            kinds |= {json.loads(line)["event"] for line in expected}
        self.assertGreaterEqual(kinds, {"finding", "plan"})

    def test_events_are_the_parsed_lines_and_open_findings_follow_them(self):
        messages = self.generate("lists.jsonl", 1500, 3, "--fault", "price=x100,from=300,to=700")
        arrays, guard = Arrays(messages), evenkeel.Guard(self.manifest, self.profile, self.rules)
        events = guard.observe(**arrays.part(0, 700))
        self.assertEqual([f["feature"] for f in guard.findings if f["state"] in ("confirmed", "updated")], ["price"])
        events += guard.observe(**arrays.part(700, 1500))
        self.assertEqual(guard.findings, [])
        self.assertEqual(events, [json.loads(line) for line in self.replay(messages)])

    def test_a_plan_repairs_arrays_as_the_program_repairs_messages(self):
        fault = ("--fault", "price=x100,from=200,arm=B")
        messages = self.generate("lists.jsonl", 900, 4, *fault)
        run("generate", "hotel", "--lists", "900", "--seed", "4", "--format", "messages", "--encoding", "bin", *fault,
            "-o", self.path("lists.bin"))
        self.replay(self.path("lists.bin"), "-o", self.path("out.ekc"))
        with open(self.path("out.ekc"), "rb") as records:
            written = records.read()
        arrays, guard = Arrays(messages), evenkeel.Guard(self.manifest, self.profile, self.rules)
        guard.observe(**arrays.part(0, 800))
        plan = evenkeel.Plan.load(guard.plan.json)
        self.assertEqual([entry["feature"] for entry in plan.entries], ["price"])
        rows = slice(arrays.starts[800], arrays.starts[900])
        for kind in range(6):
            X = laid_out(arrays.X[rows].copy(), kind)
            before = X.copy()
            changed = plan.apply(**{**arrays.of_plan(800), "X": X})
            self.assertEqual(changed, np.count_nonzero(X != before))
            self.assertGreater(changed, 100)
            at = 0
            for row in X.astype(np.float32):  # features are float32 in these messages
                at = written.find(row.tobytes(), at) + 1
                self.assertGreater(at, 0)

    def test_a_profile_of_arrays_or_columns_is_the_file_of_the_program(self):
        arrays, manifest = Arrays(self.train), evenkeel.Manifest(self.manifest)
        frame = arrays.columns(manifest)
        for field in (None, "market", "stay_nights"):
            words = ["--stratify-by", field] if field else []
            run("profile", "--manifest", self.manifest, "--messages", self.train, *words, "-o", self.path("by.ekp"))
            with open(self.path("by.ekp"), "rb") as expected:
                expected = expected.read()
            made = evenkeel.Profile.fit(arrays.X, arrays.starts, features=manifest, stratify_by=field, segments=arrays.segments,
                                        time=arrays.time_ms, query_features=arrays.query_features, item_ids=arrays.item_ids)
            made.save(self.path("made.ekp"))
            with open(self.path("made.ekp"), "rb") as saved:
                self.assertEqual(saved.read(), expected)
            made = evenkeel.Profile.fit(frame, query="query", features=manifest, stratify_by=field, segments=["arm", "market"],
                                        time="time", item_ids="id")
            self.assertEqual(made._data, expected)

    def test_a_replay_of_columns_has_the_events_of_the_messages(self):
        messages = self.generate("lists.jsonl", 800, 6, "--fault", "price=x100,from=300")
        manifest = evenkeel.Manifest(self.manifest)
        result = evenkeel.replay(Arrays(messages).columns(manifest), manifest, self.profile, self.rules, query="query",
                                 segments=["arm", "market"], time="time", item_id="id")
        self.assertEqual(result.events, [json.loads(line) for line in self.replay(messages)])
        self.assertEqual(result.plan.version, result.guard.plan_version)
        self.assertEqual([entry["feature"] for entry in result.plan.entries], ["price"])


if __name__ == "__main__":
    unittest.main()
