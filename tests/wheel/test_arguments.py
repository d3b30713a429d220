"""Invalid arguments raise an exception that names them, and change nothing."""
import json
import os
import threading
import unittest
import warnings

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
        for query in (np.array([1, np.nan, 1]), np.array([1, np.nan, np.nan], object), np.array(["a", np.nan, "a"], object), np.array([1, None, None]),
                      np.array([1, "NaT", 1], "M8[s]")):
            self.refused(lambda query=query: fit({"q": query, "x": [1, 2, 3]}, query="q", features=["x"]), "'query': row 1 has no list id")
            self.refused(lambda query=query: fit(np.ones((3, 1)), query=query, features=["x"]), "'query': row 1 has no list id")
            ranker = evenkeel.RoutableRanker("features:\n  - {name: x, index: 1, role: item, routable: true}\n")
            self.refused(lambda query=query, ranker=ranker: ranker.fit(np.ones((3, 1)), np.ones(3), query), "'groups': row 1 has no list id")
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

        for _ in range(100):  # on a slow machine one thread may have ended before the other begins
            if refused:
                break
            worker = threading.Thread(target=observe, args=(big,))
            worker.start()
            while worker.is_alive():
                observe(lists)
            worker.join()
        self.assertGreater(len(refused), 0)
        self.assertIn("another thread", refused[0])

    def test_the_first_advance_starts_the_clock(self):
        guard = self.guard(RULES.replace("30s", "1h"))
        arrays = Arrays(self.generate("brief.jsonl", 1200, 2, "--fault", "price=x100,from=300,to=600,arm=B"))
        guard.observe(**arrays.of_plan())
        self.assertTrue(guard.plan.entries)
        for elapsed_ms, routed in ((0, True), (1000, True), (3_600_000, False)):
            guard.advance(10_800_000 + elapsed_ms)
            self.assertEqual(bool(guard.plan.entries), routed, elapsed_ms)

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

    def test_types_that_numpy_or_python_convert_are_refused(self):
        guard, good, lists = self.guard(), self.lists.of_plan(), 20
        huge = 10 ** 5000
        for wrong in ({"time_ms": np.ones(lists, "m8[s]")}, {"starts": good["starts"].astype("m8[s]")}, {"starts": [[0], [1, 2]]}, {"time_ms": [[0], [1, 2]]},
                      {"ids": [huge] * lists}, {"ids": [np.timedelta64(1, "s")] * lists}, {"segments": {"arm": [float("inf")] * lists}}):
            name = list(wrong)[0]
            with self.subTest(name):
                self.refused(lambda wrong=wrong: guard.observe(**{**good, **wrong}), "segments[arm]" if name == "segments" else f"'{name}'")
        self.refused(lambda: guard.observe(**{**good, "segments": {huge: "A"}}), "'segments'")

    def test_arrays_that_are_not_aligned_are_copied(self):
        good = self.lists.of_plan()

        def moved(values):
            out = np.ndarray(len(values), np.int64, np.zeros(8 * len(values) + 1, np.uint8)[1:])
            out[:] = values
            self.assertFalse(out.flags.aligned)
            return out

        lists = evenkeel._lists.Lists.of(**{**good, "starts": moved(good["starts"]), "time_ms": moved(good["time_ms"])})
        self.assertTrue(lists.starts.flags.aligned and lists.time_ms.flags.aligned)
        self.assertEqual(lists.time_ms.tolist(), list(good["time_ms"]))

    def test_subclasses_of_arrays_are_arrays(self):
        good = self.lists.of_plan()
        X, starts, other = good["X"], good["starts"], np.ma.masked_array(good["X"])
        self.assertEqual(self.guard().observe(**{**good, "X": other}), self.guard().observe(**good))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            other = np.matrix(X)
        np.testing.assert_array_equal(evenkeel.wide_columns(other, starts, [0]), evenkeel.wide_columns(X, starts, [0]))

    def test_values_behind_a_mask_are_refused(self):
        guard, lists, plan, fit = self.guard(), self.lists, self.guard().plan, evenkeel.Profile.fit
        good, owner = lists.of_plan(), np.repeat(np.arange(20), np.diff(lists.starts))
        rows = np.hstack([lists.X, lists.query_features[owner]])

        def masked(values):
            return np.ma.masked_array(values, np.arange(np.size(values)).reshape(np.shape(values)) == 1)

        def ranker():
            return evenkeel.RoutableRanker(self.manifest)

        for name in ("X", "starts", "time_ms", "query_features"):
            wrong = {**good, name: masked(good[name])}
            for call in (guard.observe, plan.apply):
                self.refused(lambda wrong=wrong, call=call: call(**wrong), f"'{name}'", "fill it with NaN")
        X, starts = masked(good["X"]), good["starts"]
        for name, call in (("scores", lambda: guard.observe(**good, scores=masked(lists.scores))),
                           ("query", lambda: fit(lists.X, query=masked(owner), features=["x"])),
                           ("query", lambda: fit({"q": masked([1, 2]), "x": [1, 2]}, query="q", features=["x"])),
                           ("features", lambda: fit({"q": [1, 2], "x": masked([1, 2])}, query="q", features=["x"])),
                           ("X", lambda: evenkeel.wide_columns(X, starts, [0])), ("X", lambda: evenkeel.augment(X, starts, [0])),
                           ("X", lambda: evenkeel.WideColumns.of(X, [0])), ("X", lambda: ranker().fit(masked(rows), lists.labels, owner)),
                           ("y", lambda: ranker().fit(rows, masked(lists.labels), owner)),
                           ("groups", lambda: ranker().fit(rows, lists.labels, masked(owner)))):
            self.refused(call, f"'{name}'", "fill it with NaN")
        self.assertEqual(guard.list_count, 0)

    def test_an_entry_of_a_query_feature_needs_no_column(self):
        manifest, profile = self.watch_query("stay_nights")
        lists, guard = Arrays(self.generate("nights.jsonl", 600, 5, "--fault", "stay_nights=x24,from=100")), evenkeel.Guard(manifest, profile, RULES)
        guard.observe(**lists.of_plan())
        document = json.loads(guard.plan.json)
        self.assertEqual([(entry["feature"], entry["role"]) for entry in document["entries"]], [("stay_nights", "query")])
        document["entries"][0] |= {"index": 7, "query_features": [{"name": "rooms", "index": 9}]}
        self.assertEqual(evenkeel.Plan.load(document).apply(lists.X[:, :2].copy(), lists.starts), 0)

    def test_a_path_that_no_file_can_have_is_refused(self):
        profile = evenkeel.Profile.load(self.profile)
        for path in ("a\0b", "\ud800", b"x", 7):
            for call, name in ((evenkeel.Manifest, "'path_or_text'"), (evenkeel.Profile.load, "'path'"), (profile.save, "'path'"), (evenkeel.Plan.load, "'source'"),
                               (lambda p: evenkeel.Guard(p, profile), "'manifest'"), (lambda p: evenkeel.Guard(self.manifest, p), "'profile'"),
                               (lambda p: evenkeel.Guard(self.manifest, profile, p), "'rules'"),
                               (lambda p: evenkeel.RoutableRanker.load(p, self.manifest), "'path'")):
                with self.subTest(path=path, name=name):
                    self.refused(lambda path=path, call=call: call(path), "line 1" if (path, name) == (b"x", "'source'") else name)

    def test_other_types_are_refused_by_name(self):
        lists, X, starts = self.lists, self.lists.X, self.lists.starts
        self.refused(lambda: evenkeel.Manifest.of(7), "'features'")
        self.refused(lambda: evenkeel.Manifest.of(["a"], 7), "'query_features'")
        self.refused(lambda: evenkeel.Manifest.of(["a"], routable=7), "'routable'")
        self.refused(lambda: evenkeel.Profile(7), "'data'")
        self.refused(lambda: evenkeel.Guard(self.manifest, evenkeel.Profile(b"x")), "profile")
        self.refused(lambda: evenkeel.Guard(self.manifest, self.profile, "\ud800\n"), "'rules'")
        self.refused(lambda: evenkeel.Plan(7), "'text'")
        self.refused(lambda: evenkeel.Plan.load('{"entries": [], "version": "x"}'), "'version'")
        self.refused(lambda: evenkeel.Plan.load('{"entries": [], "entries": 7}'), "duplicate")
        self.refused(lambda: evenkeel.augment(X, starts, [0], seed="x"), "'seed'")
        self.refused(lambda: evenkeel.augment(X, starts, [0], kind=X), "'kind'")
        self.refused(lambda: evenkeel.augment(X, starts, [0], p_any=None), "'p_any'")
        self.refused(lambda: evenkeel.augment(X, starts, [0], p_each="x"), "'p_each'")
        self.refused(lambda: evenkeel.augment(X, starts, [0], sd=float("nan")), "'sd'")
        self.refused(lambda: evenkeel.wide_columns(X, starts, [.5]), "'features'")
        self.refused(lambda: evenkeel.wide_columns(X, starts, evenkeel.WideColumns((.5,), (), ())), "'features'")
        self.refused(lambda: evenkeel.WideColumns.of(X, 7), "'routable'")
        self.refused(lambda: evenkeel.WideColumns((3,), (), ()).names(["a"]), "'features'")
        for name, value in (("loss", 7), ("log_input", "\ud800"), ("list_free", X), ("epochs", 10 ** 5000), ("hidden", 7)):
            ranker = evenkeel.RoutableRanker(self.manifest, **{name: value})
            rows = np.hstack([X, np.repeat(lists.query_features, np.diff(starts), axis=0)])
            self.refused(lambda ranker=ranker, rows=rows: ranker.fit(rows, lists.labels, np.repeat(np.arange(20), np.diff(starts))), f"'{name}'")

    def test_a_column_has_a_value_per_row(self):
        fit = evenkeel.Profile.fit
        for frame, name in (({"q": [1, 1], "x": [1, 2, 3]}, "'x'"), ({"q": [1, 1], "x": iter([1, 2])}, "'x'"), ({"q": [[1], [1, 2]], "x": [1, 2]}, "'query'"),
                            ({"q": [1, 1], "x": [[1], [2]]}, "'x'")):
            self.refused(lambda frame=frame: fit(frame, query="q", features=["x"]), name)
        self.refused(lambda: fit({"q": [1], "x": [1]}, query="q", features=["x"], segments=7), "'segments'")
        self.refused(lambda: fit(np.ones((1, 1)), query=[object()], features=["x"], stratify_by="zone"), "'stratify_by'")
        self.refused(lambda: evenkeel.replay({"q": [1], "x": [1]}, self.manifest, self.profile, query=7), "'query'")


if __name__ == "__main__":
    unittest.main()
