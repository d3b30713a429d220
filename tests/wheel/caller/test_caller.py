"""Random calls of every public class and function: a result, or an exception of a documented kind that names an argument.

CALLS is their number. Rounds of calls share a guard and a ranker; FIRST is the number of the first round, which alone sets its
random numbers. BUILD/caller-round has the number of the round that runs, for the case of a report of a sanitizer.
"""
import contextlib
import copy
import functools
import io
import json
import os
import pathlib
import pickle
import random
import re
import signal
import sys
import tempfile
import threading
import traceback
import unittest
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import evenkeel  # noqa: E402
import numpy as np  # noqa: E402
import odd  # noqa: E402
from evenkeel import Guard, Manifest, Plan, Profile, Report, RoutableRanker, WideColumns  # noqa: E402

CALLS, FIRST, ROUND = int(os.environ.get("CALLS") or 6000), int(os.environ.get("FIRST") or 0), 50
MANIFEST = """features:
  - {name: price, index: 1, role: item, routable: true, unit: currency, positive: true}
  - {name: stars, index: 2, role: item, routable: true, positive: true}
  - {name: flag, index: 3, role: item}
  - {name: nights, index: 4, role: query, positive: true}
training: {hidden: [4], epochs: 1}
"""
RULES = "version: 1\nsegments: [arm]\ndefaults: {mode: enforce, min_duration: 0s}\nfeatures: {price: {units: [cents]}}\n"
LISTS, START = 6, 1_790_000_000_000
# What stands for an argument in a message: of files the position, of plans the entry.
SHOWN = {"X": "training data", "manifest": "manifest:|features|feature manifest|model", "features": "manifest:", "rules": "rules:|rule", "profile": "profile", "source": "plan|'version'|entr|JSON",
         "plan": "plan", "text": "plan|entr", "data": "X|column|query|starts", "names": "features", "path": "profile", "query": "column", "time": "time_ms|column",
         "segments": "column|stratify_by", "item_id": "item_ids|column", "item_ids": "'item_id'|column", "eval_set": "validation|'X'|'y'|'groups'", "y": "label|loss", "model": "model|safetensors|header|manifest"}


def world(seed, lists, factor=1.0, most=8):
    """Return arguments of Guard.observe for plausible lists; prices of arm B times a factor."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most, lists)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    arms = rng.choice(["A", "B"], lists)
    X = np.exp(rng.normal(0, .4, (starts[-1], 3)) + [4.5, 1, 0])
    X[:, 2] = X[:, 2] > 1
    X[np.repeat(arms == "B", sizes), 0] *= factor
    return {"X": X.astype(np.float32), "starts": starts, "segments": {"arm": arms.tolist()}, "time_ms": (START + 1000 * np.arange(lists)).tolist(),
            "query_features": rng.integers(1, 9, (lists, 1)).astype(np.float32), "ids": [f"q{i}" for i in range(lists)],
            "item_ids": [f"h{i % 50}" for i in range(starts[-1])]}


def columns(lists):
    """Return the lists as a mapping of columns."""
    own = np.repeat(np.arange(len(lists["ids"])), np.diff(lists["starts"]))
    return {"query": np.array(lists["ids"])[own], "time": np.array(lists["time_ms"])[own], "id": np.array(lists["item_ids"]),
            "arm": np.array(lists["segments"]["arm"])[own], "nights": lists["query_features"][own, 0],
            "price": lists["X"][:, 0], "stars": lists["X"][:, 1], "flag": lists["X"][:, 2]}


class Caller:
    """One round of calls."""

    def __init__(self, assets, number):
        self.assets, self.rng = assets, random.Random(number)
        self.guard, self.plan = Guard(assets.manifest, assets.profile, RULES), Plan(self.rng.choice(assets.plans))
        self.calls = [getattr(self, name) for name in sorted(dir(Caller)) if name.startswith("call_")]
        self.weights = [getattr(call, "weight", 1) for call in self.calls]

    def __call__(self):
        self.rng.choices(self.calls, self.weights)[0]()

    def outcome(self, call, arguments, wrong):
        """Call, and return the result; None after an exception, which must name a changed argument. Others depend on the lists."""
        if set(wrong) & {"X", "starts", "data", "features", "query", "groups", "manifest"}:
            wrong = {*wrong, *arguments}
        try:
            return call(**arguments)
        except (ValueError, OSError, RuntimeError) as why:
            self.check(why, wrong)
        return None

    def check(self, why, wrong):
        text = str(why)
        if isinstance(why, OSError) and why.filename is not None or isinstance(why, RuntimeError) and "in another thread" in text:
            return
        names = [re.escape(os.path.join(self.assets.folder, "file"))] if wrong else []
        names += [rf"'{name}'|{name}\[|{SHOWN.get(name, '(?!)')}" for name in wrong]
        if isinstance(why, RuntimeError) or not re.search("|".join(names) or "(?!)", text):
            raise AssertionError(f"{sorted(wrong)}: {type(why).__name__} does not name the argument: {text[:300]}") from why

    def wrong(self, arguments, changes, most=2):
        """Replace some arguments by other values; return their names."""
        names = self.rng.sample(sorted(changes), min(self.rng.choice((0, 1, 1, most)), len(changes)))
        for name in names:
            arguments[name] = odd.anything(self.rng) if self.rng.random() < .15 else changes[name]()
        return set(names)

    @staticmethod
    def bounded(arguments, *names):
        """Replace large numbers of copies, epochs or units, whose call would be valid and take hours."""
        for name in names:
            if isinstance(arguments.get(name), (int, np.integer)) and arguments[name] > 9:
                arguments[name] = 9

    def path(self, data):
        """Write a file, and return its path or another one."""
        name = os.path.join(self.assets.folder, "file")
        with open(name, "wb") as out:
            out.write(data)
        return self.rng.choice((name, name, name, pathlib.Path(name), odd.PathTo(name), self.assets.folder, name + "/x", "a\0b", "", odd.PathTo(b"x"), "\ud800"))

    def lists(self):
        return dict(self.rng.choice(self.assets.batches))

    def changes(self, lists):
        rng, count, rows = self.rng, len(lists["ids"]), len(lists["X"])
        return {"X": lambda: odd.matrix(rng, lists["X"]), "starts": lambda: odd.offsets(rng, lists["starts"]), "segments": lambda: odd.segments(rng, count),
                "time_ms": lambda: odd.matrix(rng, np.array(lists["time_ms"])), "query_features": lambda: odd.matrix(rng, lists["query_features"]),
                "ids": lambda: odd.texts(rng, count), "item_ids": lambda: odd.texts(rng, rows), "scores": lambda: odd.matrix(rng, np.ones(rows))}

    def call_observe(self):
        lists = self.lists()
        wrong = self.wrong(lists, self.changes(lists), 3)
        events = self.outcome(self.guard.observe, lists, wrong)
        if events is not None:
            assert all(isinstance(event["event"], str) for event in events)
    call_observe.weight = 30

    def call_apply(self):
        lists = self.lists()
        lists["X"] = lists["X"].astype(self.rng.choice(("f4", "f8")))
        changes = self.changes(lists)
        del changes["scores"]
        wrong = self.wrong(lists, changes, 3)
        self.outcome(self.plan.apply, lists, wrong)
    call_apply.weight = 20

    def call_guard_members(self):
        guard, now = self.guard, odd.anything(self.rng)
        self.outcome(guard.advance, {"now_ms": self.rng.choice((now, START + self.rng.randrange(10 ** 7)))}, {"now_ms"})
        assert isinstance(guard.findings, list) and guard.list_count >= 0 and guard.plan_version >= 0
        self.plan = guard.plan
        assert self.plan.version == guard.plan_version and repr(self.plan)

    def call_load_plan(self):
        source = odd.anything(self.rng) if self.rng.random() < .1 else odd.plan_text(self.rng, self.assets.plans)
        kind = self.rng.randrange(5)
        if isinstance(source, (str, bytes)) and kind > 1:
            data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
            if kind == 2:
                source = self.path(data)
            elif kind == 3:
                source = io.BytesIO(data)
            else:
                with contextlib.suppress(ValueError, RecursionError):
                    source = json.loads(data)
        plan = self.outcome(Plan.load, {"source": source}, {"source"})
        if plan is not None:
            assert plan.version >= 0 and isinstance(plan.entries, list) and repr(plan)
            self.plan = plan
    call_load_plan.weight = 15

    def call_plan(self):
        self.outcome(Plan, {"text": odd.anything(self.rng)}, {"text"})

    def call_manifest(self):
        text = odd.text_changed(self.rng, MANIFEST)
        source = self.path(text.encode("utf-8", "surrogatepass")) if self.rng.random() < .3 else text
        if self.rng.random() < .1:
            source = odd.anything(self.rng)
        manifest = self.outcome(Manifest, {"path_or_text": source}, {"path_or_text", "manifest"})
        if manifest is not None:
            assert repr(manifest) and set(manifest.routable) <= set(manifest.item_features)
    call_manifest.weight = 4

    def call_manifest_of(self):
        names = {"features": ["a", "b"], "query_features": ["q"], "routable": ["a"]}
        wrong = self.wrong(names, {name: lambda: odd.texts(self.rng, 3) for name in names})
        self.outcome(Manifest.of, names, {*wrong, "manifest"})
    call_manifest_of.weight = 2

    def call_guard(self):
        assets, rng = self.assets, self.rng
        arguments = {"manifest": assets.manifest, "profile": assets.profile, "rules": RULES}
        wrong = self.wrong(arguments, {"manifest": lambda: odd.text_changed(rng, MANIFEST), "rules": lambda: odd.text_changed(rng, RULES),
                                       "profile": lambda: self.path(odd.bytes_changed(rng, assets.profile_bytes))})
        guard = self.outcome(Guard, arguments, wrong)
        if guard is not None and guard.manifest.item_features == assets.manifest.item_features:
            self.guard = guard
    call_guard.weight = 4

    def call_load_profile(self):
        profile = self.outcome(Profile.load, {"path": self.path(odd.bytes_changed(self.rng, self.assets.profile_bytes))}, {"path"})
        if profile is not None:
            self.outcome(profile.save, {"path": self.path(b"")}, {"path"})
            assert repr(profile)
        data = {"data": odd.bytes_changed(self.rng, self.assets.profile_bytes)}
        wrong = self.wrong(data, {"data": lambda: odd.anything(self.rng)})
        profile = self.outcome(Profile, data, wrong)
        if profile is not None:
            self.outcome(Guard, {"manifest": self.assets.manifest, "profile": profile}, {"profile"})
    call_load_profile.weight = 3

    def call_fit_arrays(self):
        lists, rng = self.lists(), self.rng
        changes = self.changes(lists)
        arguments = {"data": lists["X"], "starts": lists["starts"], "features": self.assets.manifest, "segments": lists["segments"], "time": lists["time_ms"],
                     "query_features": lists["query_features"], "item_ids": lists["item_ids"], "stratify_by": rng.choice((None, "arm", "nights"))}
        if rng.random() < .3:
            del arguments["starts"]
            arguments["query"] = np.array(lists["ids"])[np.repeat(np.arange(len(lists["ids"])), np.diff(lists["starts"]))]
        wrong = self.wrong(arguments, {"data": changes["X"], "starts": changes["starts"], "segments": changes["segments"], "time": changes["time_ms"],
                                       "query_features": changes["query_features"], "item_ids": changes["item_ids"], "stratify_by": lambda: rng.choice(odd.TEXTS),
                                       "features": lambda: odd.text_changed(rng, MANIFEST), "query": lambda: odd.texts(rng, len(lists["X"]))}, 3)
        self.outcome(Profile.fit, arguments, wrong)
    call_fit_arrays.weight = 6

    def frame(self):
        """Return a frame with changed columns, and whether it is valid."""
        rng, frame = self.rng, columns(self.lists())
        changed = rng.random() < .6
        if changed:
            name = rng.choice(sorted(frame))
            kind = rng.randrange(5)
            if kind == 0:
                del frame[name]
            elif kind == 1:
                frame[name] = odd.texts(rng, len(frame[name]))
            elif kind == 2:
                frame[name] = rng.sample(list(frame[name]), len(frame[name]))
            elif kind == 3:
                frame[name] = odd.anything(rng)
            elif np.array(frame[name]).dtype.kind in "fi":
                frame[name] = odd.matrix(rng, frame[name])
        return (odd.Frame(frame) if rng.random() < .3 else frame), changed

    def call_frames(self):
        rng = self.rng
        data, changed = self.frame()
        names = {"query": "query", "segments": ["arm"], "time": "time", "item_id": "id"}
        changes = {"query": lambda: rng.choice(odd.TEXTS), "segments": lambda: rng.choice((["arm", "none"], "arm", 7, [7], ["query", "id"], [["arm"]])),
                   "time": lambda: rng.choice(("price", "none", "arm")), "item_id": lambda: rng.choice(("price", "none", "arm")), "data": lambda: odd.anything(rng)}
        arguments = {"data": data, **names}
        wrong = self.wrong(arguments, changes)
        wrong |= {"data", "features", "segments", "query", "time", "item_id"} if changed or "data" in wrong else set()
        kind = rng.randrange(4)
        if kind == 0:
            arguments["item_ids"] = arguments.pop("item_id")
            self.outcome(Profile.fit, {**arguments, "features": self.assets.manifest}, wrong)
            return
        report = self.outcome(Report if kind == 1 else evenkeel.replay, {**arguments, "manifest": self.assets.manifest, "profile": self.assets.profile, "rules": RULES}, wrong)
        if kind == 1 and report is not None:
            assert report._repr_html_() and repr(report)
            self.outcome(report.save, {"path": self.path(b"")}, {"path"})
    call_frames.weight = 6

    def call_wide(self):
        lists, rng = self.lists(), self.rng
        changes = self.changes(lists)
        arguments = {"X": lists["X"], "starts": lists["starts"], "features": rng.choice(([0, 1], self.assets.wide))}
        columns_ = {"features": lambda: rng.choice(([0, 0], [-1], [3], [2 ** 70], 7, "ab", np.array([0, 1]), [0.5], [None], WideColumns((0,), (9,), ()),
                                                    WideColumns(None, "x", ()), WideColumns((0.5,), (), ()), np.array([True, False, True])))}
        kind = rng.randrange(4)
        if kind == 0:
            arguments = {"X": lists["X"], "routable": [0, 1]}
            wrong = self.wrong(arguments, {"X": changes["X"], "routable": columns_["features"]})
            wide = self.outcome(WideColumns.of, arguments, wrong)
            if wide is not None:
                names = {"features": ("price", "stars", "flag")}
                self.outcome(wide.names, names, self.wrong(names, {"features": lambda: odd.anything(rng)}) or {"features"})
            return
        wrong = self.wrong(arguments, {"X": changes["X"], "starts": changes["starts"], **columns_})
        if kind == 1:
            values = {"seed": lambda: odd.anything(rng), "kind": lambda: odd.anything(rng), "copies": lambda: rng.choice((0, -1, 2, True, 1.5, "2", None)),
                      "p_any": lambda: rng.choice((.5, 2, None, "x", float("nan"), [1])), "p_each": lambda: rng.choice((.5, 2, None, "x", float("nan"), [1])),
                      "sd": lambda: rng.choice((0, -1, None, "x", float("nan"), float("inf"), [1]))}
            wrong |= self.wrong(arguments, values)
            self.bounded(arguments, "copies")
        self.outcome(evenkeel.augment if kind == 1 else evenkeel.wide_columns, arguments, wrong)
    call_wide.weight = 6

    def call_train(self):
        assets, rng = self.assets, self.rng
        X, y, groups = assets.rows
        parameters = {"epochs": 1}
        values = {"loss": ("listnet", "listmle", "approxndcg"), "routing": ("random", "none", ["price"], ["flag"], 7, []), "hidden": ((4,), (2, 2), (0,), [2 ** 31], (2,) * 99),
                  "epochs": (1, 0, 1.5, True), "lr": (.1, 1e300, -1, float("nan")), "decay": (0, 1e300, "x"), "batch": (1, 7, 2 ** 31 - 1, 2 ** 31), "seed": (0, 2 ** 64, -1),
                  "log_input": ("always", "routed", "none"), "list_free": (True, 7)}
        wrong = self.wrong(parameters, {name: functools.partial(rng.choice, choices) for name, choices in values.items()})
        self.bounded(parameters, "epochs")
        arguments = {"X": X, "y": y, "groups": groups}
        wrong |= self.wrong(arguments, {"X": lambda: odd.matrix(rng, X), "y": lambda: odd.matrix(rng, y), "groups": lambda: odd.texts(rng, len(X)),
                                        "eval_set": lambda: rng.choice(((X, y, groups), (X, y), (X[:9], y, groups), 7, (X[:0], y[:0], groups[:0])))})
        ranker = RoutableRanker(assets.manifest, **parameters)
        self.outcome(ranker.fit, arguments, wrong)
        if hasattr(ranker, "model_"):
            self.outcome(ranker.predict, {"X": X, "groups": groups}, {*wrong, "model"})

    def call_predict(self):
        assets, rng = self.assets, self.rng
        X, _, groups = assets.rows
        arguments = {"X": X[:30], "groups": groups[:30]}
        wrong = self.wrong(arguments, {"X": lambda: odd.matrix(rng, X[:30]), "groups": lambda: odd.texts(rng, 30), "route": lambda: rng.choice(
            ((), ("price",), "stars", ("price", "price"), ("flag",), 7, [None], [[]], odd.anything(rng)))})
        self.outcome(assets.ranker.predict, arguments, wrong)
    call_predict.weight = 5

    def call_load_ranker(self):
        arguments = {"path": self.path(odd.bytes_changed(self.rng, self.assets.ranker.model_)), "manifest": self.assets.manifest}
        wrong = self.wrong(arguments, {"manifest": lambda: odd.text_changed(self.rng, MANIFEST), "path": lambda: odd.anything(self.rng)})
        ranker = self.outcome(RoutableRanker.load, arguments, {*wrong, "path", "model"})
        if ranker is not None:
            ranker = self.rng.choice((copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))))(ranker)
            self.outcome(ranker.save, {"path": self.path(b"")}, {"path"})
            self.outcome(ranker.predict, {"X": self.assets.rows[0][:5]}, {"X", "manifest"})
        ranker = RoutableRanker(self.assets.manifest)
        self.outcome(ranker.predict, {"X": None}, {"fit"})
        name = self.rng.choice((*RoutableRanker._PARAMETERS, "none"))
        self.outcome(ranker.set_params, {name: odd.anything(self.rng)}, {"none"})
        assert len(ranker.get_params()) == len(RoutableRanker._PARAMETERS)
    call_load_ranker.weight = 2

    def call_threads(self):
        """Two threads use one guard, one plan and one ranker."""
        lists, plan, results = self.lists(), self.plan, []

        def work():
            try:
                for _ in range(3):
                    self.outcome(self.guard.observe, lists, ())
                    self.outcome(plan.apply, {**lists, "X": lists["X"].copy()}, {"X", "query_features"})
                    self.assets.ranker.predict(*self.assets.rows[::2])
            except BaseException:  # of either thread
                results.append(traceback.format_exc())

        second = threading.Thread(target=work)
        second.start()
        work()
        second.join()
        assert not results, results[0]
    call_threads.weight = .5

    def call_interrupt(self):
        """A signal stops the training, or comes before or after it."""
        ranker = RoutableRanker(self.assets.manifest, epochs=10_000_000)
        with contextlib.suppress(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, .02)
            ranker.fit(*self.assets.rows)
            signal.setitimer(signal.ITIMER_REAL, 0)
    call_interrupt.weight = .05


class Random(unittest.TestCase):
    """Assets of all rounds: a small manifest, its profile, plans of several faults, and a ranker."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="evenkeel-caller-")
        cls.addClassCleanup(folder.cleanup)
        cls.enterClassContext(contextlib.chdir(folder.name))  # some paths are relative
        cls.folder, cls.manifest = folder.name, Manifest(MANIFEST)
        train = world(1, 400)
        cls.profile = Profile.fit(train["X"], train["starts"], features=cls.manifest, segments=train["segments"], time=train["time_ms"],
                                  query_features=train["query_features"], item_ids=train["item_ids"], stratify_by="arm")
        cls.profile_bytes, cls.wide = cls.profile._data, WideColumns.of(train["X"], [0, 1])
        cls.batches = [world(2 + i, LISTS, (1, 100, .01, -1)[i % 4], 5) for i in range(8)]
        cls.plans = ['{"entries": [], "version": 3}'] + [cls.plan_of(factor) for factor in (100, .01, -1, 3)]
        own = np.repeat(np.arange(40), np.diff(train["starts"])[:40])
        cls.rows = (np.hstack([train["X"][:len(own)], train["query_features"][own]]), np.random.default_rng(3).integers(0, 3, len(own)), own)
        warnings.simplefilter("ignore")  # about labels
        cls.ranker = RoutableRanker(cls.manifest).fit(*cls.rows)

    @classmethod
    def plan_of(cls, factor):
        guard = Guard(cls.manifest, cls.profile, RULES)
        for i in range(4):
            guard.observe(**world(100 + i, 300, factor))
        assert guard.plan.entries, f"no plan for factor {factor}"
        return guard.plan.json

    def test_random_calls_return_or_name_an_argument(self):
        def interrupted(*_):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupted)
        self.addCleanup(signal.signal, signal.SIGALRM, signal.SIG_DFL)
        failures = {}
        for number in range(FIRST, FIRST + CALLS // ROUND):
            with open(os.path.join(os.environ["BUILD"], "caller-round"), "w", encoding="ascii") as out:
                out.write(f"{number}\n")
            caller = Caller(type(self), number)
            for _ in range(ROUND):
                try:
                    caller()
                except Exception as why:
                    at = traceback.extract_tb((why.__cause__ or why).__traceback__)[-1]
                    failures.setdefault(f"{at.filename}:{at.lineno}", f"FIRST={number}: {traceback.format_exc()}")
        self.assertFalse(failures, "\n".join(failures.values()))


if __name__ == "__main__":
    unittest.main()
