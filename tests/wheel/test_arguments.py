"""Invalid arguments raise an exception that names them, and change nothing."""
import json
import os
import random
import threading
import unittest

import evenkeel
import numpy as np
from world import RULES, Arrays, Hotel


class Arguments(Hotel):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lists = Arrays(cls.generate("lists.jsonl", 20, 2))

    def guard(self, rules=None):
        return evenkeel.Guard(self.manifest, self.profile, rules)

    def refused(self, call, *words, kind=ValueError):
        with self.assertRaises(kind) as caught:
            call()
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_an_invalid_argument_is_named_and_no_list_counts(self):
        guard, good = self.guard(), self.lists.of_plan()
        X, lists = good["X"], 20
        for wrong, *words in (
                ({"X": X.tolist()}, "'X'", "list"), ({"X": X[0]}, "'X'", "shape"), ({"X": X.astype(int)}, "'X'", "int64"),
                ({"X": X.astype(np.float16)}, "'X'", "float16"), ({"X": X.astype(">f4")}, "'X'", ">f4"),
                ({"X": X[:, :5]}, "'X' has 5 columns"), ({"X": X[:-1]}, "'starts'"),
                ({"starts": good["starts"][:-1]}, "'starts'"), ({"starts": []}, "'starts'"), ({"starts": [1, 2]}, "'starts'"),
                ({"starts": [0, 5, 3, len(X)]}, "'starts'"), ({"starts": [0.0, float(len(X))]}, "'starts'"), ({"starts": "abc"}, "'starts'"),
                ({"segments": ["arm"]}, "'segments'"), ({"segments": {"arm": ["A"]}}, "segments[arm]", "20"),
                ({"segments": {"arm": [1.5] * lists}}, "segments[arm]", "1.5"), ({"segments": {"arm": 2.5}}, "segments[arm]"),
                ({"segments": {"arm": ["a\0b"] * lists}}, "segments[arm]", "null"), ({"segments": {7: "x"}}, "'segments'", "7"),
                ({"segments": {"arm": ["\ud800"] * lists}}, "segments[arm]"),
                ({"segments": {f"d{i}": "x" for i in range(17)}}, "'segments'", "16"),
                ({"time_ms": [1.5] * lists}, "'time_ms'"), ({"time_ms": [-1] * lists}, "'time_ms'"), ({"time_ms": [1]}, "'time_ms'"),
                ({"time_ms": "now"}, "'time_ms'"), ({"query_features": None}, "'query_features' has 0 columns"), ({"query_features": X}, "'query_features'"),
                ({"query_features": [["x"]] * lists}, "'query_features'"), ({"query_features": np.zeros((lists, 3))}, "'query_features' has 3 columns"),
                ({"ids": ["q"]}, "'ids'"), ({"item_ids": ["h"]}, "'item_ids'"), ({"scores": [1.0]}, "'scores'")):
            with self.subTest(list(wrong)[0], value=str(wrong)[:60]):
                self.refused(lambda wrong=wrong: guard.observe(**{**good, **wrong}), *words)
        self.refused(lambda: guard.observe(np.ones((10001, 13), np.float32), [0, 10001], query_features=np.ones(8)), "list 0", "10001 items")
        self.assertEqual(guard.list_count, 0)
        guard.observe(**good)
        self.assertEqual(guard.list_count, lists)

    def test_missing_and_infinite_values_are_observed(self):
        guard, good = self.guard(), self.lists.of_plan()
        X = good["X"].copy()
        X[::3, 0], X[1::3, 1], X[2::3, 2] = np.nan, np.inf, -np.inf
        guard.observe(**{**good, "X": X})
        guard.observe(np.empty((0, 13), np.float32), [0], query_features=np.empty((0, 8)))
        guard.observe(np.empty((0, 13), np.float64), [0, 0], query_features=np.ones((1, 8)))
        self.assertEqual(guard.list_count, 21)

    def test_segment_values_are_those_of_messages(self):
        text = evenkeel._lists.text_of
        self.assertEqual([text(v, "s") for v in ("x", 7, np.int8(3), True, np.bool_(False), 2.0, None, float("nan"))],
                         ["x", "7", "3", "true", "false", "2", None, None])

    def test_times_may_be_datetimes(self):
        a, b, good = self.guard(), self.guard(), self.lists.of_plan()
        times = np.array(good["time_ms"])
        self.assertEqual(a.observe(**good), b.observe(**{**good, "time_ms": times.astype("datetime64[ms]").astype("datetime64[ns]")}))

    def test_invalid_assets_are_errors_with_their_names(self):
        text = evenkeel.Manifest(self.manifest).text
        self.refused(lambda: evenkeel.Manifest("features:\n  - {title: x}\n"), "manifest:2")
        self.refused(lambda: evenkeel.Manifest(7), "'path_or_text'")
        self.refused(lambda: evenkeel.Manifest(self.path("none.yaml")), "none.yaml", kind=OSError)
        self.refused(lambda: evenkeel.Profile.load(self.path("none.ekp")), "none.ekp", kind=OSError)
        self.refused(lambda: evenkeel.Profile.load(self.manifest), "features.yaml")
        self.refused(lambda: evenkeel.Guard(self.manifest, self.profile, "version: 1\ndefault: {}\n"), "rules:2", "default")
        self.refused(lambda: evenkeel.Guard(self.manifest, self.profile, 7), "'rules'")
        self.refused(lambda: evenkeel.Guard(self.manifest, 7), "'profile'")
        self.refused(lambda: evenkeel.Guard(7, self.profile), "'manifest'")
        self.refused(lambda: evenkeel.Guard(text.replace("breakfast,", "tea,"), self.profile), self.profile)
        with open(self.path("bad.yaml"), "w", encoding="utf-8") as out:
            out.write("features: 7\n")
        self.refused(lambda: evenkeel.Guard(self.path("bad.yaml"), self.profile), "bad.yaml:1")
        self.assertEqual(evenkeel.Guard(text, evenkeel.Profile.load(self.profile), self.rules).list_count, 0)

    def test_invalid_plans_are_errors(self):
        deep = '{"entries": [], "x": ' + "[" * 100000 + "]" * 100000 + "}"
        for source, *words in ((deep, "nest"), ("{", "line 1"), ("{}", "'entries'"), (b"{\xff", "'source'"), ({"entries": [{}]}, "entry 0"),
                               ({"entries": [float("nan")]}, "'source'"), (7, "'source'")):
            self.refused(lambda source=source: evenkeel.Plan.load(source), *words)
        self.refused(lambda: evenkeel.Plan.load(self.path("none.json")), "none.json", kind=OSError)
        plan = self.guard().plan
        with open(self.path("plan.json"), "w", encoding="utf-8") as out:
            out.write(plan.json)
        with open(self.path("plan.json"), encoding="utf-8") as source:
            self.assertEqual(evenkeel.Plan.load(source).json, plan.json)
        self.assertEqual(evenkeel.Plan.load(self.path("plan.json")).entries, [])
        X = self.lists.X.copy()
        X.flags.writeable = False
        self.refused(lambda: plan.apply(X, self.lists.starts), "'X'", "writable")

    def test_invalid_profiles_are_errors(self):
        lists, fit = self.lists, evenkeel.Profile.fit
        self.refused(lambda: fit(lists.X, features=self.manifest), "'starts'")
        self.refused(lambda: fit(lists.X, lists.starts, features=7), "'features'")
        self.refused(lambda: fit(lists.X, lists.starts, features=["a", "a"]), "a")
        self.refused(lambda: fit(lists.X, lists.starts, features=["a"]), "'X' has 13 columns")
        self.refused(lambda: fit(lists.X, lists.starts, features=self.manifest, query_features=lists.query_features, stratify_by="zone"), "zone")
        self.refused(lambda: fit(lists.X, query=["a"], features=self.manifest), "'query'")
        self.refused(lambda: fit({"q": [1, 2, 1], "x": [1, 2, 3]}, query="q", features=["x"]), "'query'", "adjacent")
        self.refused(lambda: fit({"q": [1], "x": ["many"]}, query="q", features=["x"]), "'x'", "numbers")
        self.refused(lambda: fit({"q": [1]}, query="q", features=["x"]), "'x'")
        self.refused(lambda: fit({"q": [1], "x": [1]}, query=None, features=["x"]), "'query'")
        own = np.repeat(np.arange(20), np.diff(lists.starts))
        made = fit(lists.X, query=own, features=[f"f{i}" for i in range(13)])
        self.assertEqual(made.manifest.item_features[12], "f12")
        os.mkdir(self.path("folder"))
        self.refused(lambda: made.save(self.path("folder")), kind=OSError)

    def test_a_guard_in_use_refuses_a_second_thread(self):
        guard, lists = self.guard(RULES), self.lists.of_plan()
        n, refused = 400, []
        rows = len(lists["X"])
        big = {"X": np.tile(lists["X"], (n, 1)), "starts": np.concatenate([[0], np.cumsum(np.tile(np.diff(lists["starts"]), n))]),
               "query_features": np.tile(lists["query_features"], (n, 1))}
        self.assertEqual(len(big["X"]), rows * n)

        def observe(what):
            try:
                guard.observe(**what)
            except RuntimeError as why:
                refused.append(str(why))

        worker = threading.Thread(target=observe, args=(big,))
        worker.start()
        while worker.is_alive():
            observe(lists)
        worker.join()
        self.assertGreater(len(refused), 0)
        self.assertIn("another thread", refused[0])

    def test_a_plan_may_be_used_by_several_threads(self):
        guard, lists = self.guard(RULES), Arrays(self.generate("cents.jsonl", 500, 5, "--fault", "price=x100,from=100"))
        guard.observe(**lists.of_plan())
        plan, results = guard.plan, []

        def work():
            for _ in range(20):
                results.append(plan.apply(**{**lists.of_plan(300), "X": lists.X[lists.starts[300]:].copy()}))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 80)
        self.assertEqual(len(set(results)), 1)
        self.assertGreater(results[0], 1000)
        good = lists.of_plan()
        self.refused(lambda: plan.apply(**{**good, "X": np.empty((len(lists.X), 0))}), "'X' has 0 columns", "'price'")

    def test_random_arguments_never_crash(self):
        rng, good = random.Random(7), self.lists.of_plan()
        guard, X = self.guard(RULES), good["X"]
        plan, counted = guard.plan, 0
        odd = [None, 0, -1, 2 ** 70, 1.5, float("nan"), "x", b"x", [], {}, (), [None], [[1]], object(), np.zeros(3), np.zeros((2, 2)),
               np.zeros((0, 13), np.float32), np.array(["a"]), np.array([None]), np.array(3), X, X[::-1], X[:, ::-1], X.T, X[:1],
               np.broadcast_to(X[:1], X.shape), X.astype(np.complex64), good["starts"], good["starts"][::-1],
               good["starts"].astype(np.uint64) + 2 ** 63, [0, 2 ** 63], {"arm": "A"}, {"arm": None}, {None: "A"}, {"arm": good["ids"]},
               np.array(["NaT"], "datetime64[s]"), np.full(20, np.iinfo(np.int64).max), np.float32(1), lambda: 0]
        for _ in range(4000):
            changed = {key: rng.choice(odd) for key in rng.sample(sorted(good), rng.choice((1, 1, 2, 3)))}
            for call in (guard.observe, plan.apply):
                arguments = {**good, "X": X.copy(), **changed}
                if call == plan.apply and any(arguments["X"] is value for value in odd):
                    continue
                try:
                    call(**arguments)
                    counted += 1
                except (ValueError, OSError):
                    pass
        self.assertGreater(counted, 50)
        for _ in range(500):
            text = bytearray(json.dumps({"entries": [{"feature": "price"}], "version": 1}).encode())
            for _ in range(rng.choice((1, 2, 5))):
                text[rng.randrange(len(text))] = rng.randrange(256)
            try:
                evenkeel.Plan.load(bytes(text))
            except (ValueError, OSError):
                pass


if __name__ == "__main__":
    unittest.main()
