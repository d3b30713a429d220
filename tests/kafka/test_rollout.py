"""Rollout of a route step by step; the action on each list equals that of its plan.

The times in the messages drive everything: `min_duration` and what else the rules count is time in event time.
"""
import json
import os
import random
import signal
import sys
import unittest

from fixtures import Frame
from harness import Daemon, decoded, evenkeel, eventually, messages_of

import test_fleet
import test_pause
import test_state

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "format"))

from xxh64 import xxh64  # noqa: E402

WORLD = None  # set by run.py
BUCKET_SEED, BUCKETS = 0x656B63616E617279, 10000
RULES = """version: 1
defaults:
  mode: {mode}
  confirmation_lists: 32
  min_duration: 2m
  canary: {{initial_percent: 5, step_percent: 19, step_interval: 1m, max_percent: 100, min_lists: 5}}
segments: [arm]
features:
  price: {{units: [cents]}}
"""
CELL = ("price", "B")
HOLD_MS = 120000
STEPS = [5, 24, 43, 62, 81, 100]


def bucket(query):
    return xxh64(query.encode(), BUCKET_SEED) % BUCKETS


def cell_of(told):
    """Return feature and arm of an event or entry."""
    return told["feature"], (told["segment"] or {}).get("arm")


def upstream():
    """Return the path of a plain ranker that is sensitive to a fault in prices."""
    return test_fleet.made("rollout-upstream.safetensors", lambda path: evenkeel(
        "train", "--manifest", WORLD.path("features.yaml"), "--train", WORLD.path("train.txt"), "--vali",
        WORLD.path("train.txt"), "--epochs", 3, "--routing", "none", "--log-input", "none", "-o", path))


class Traffic:
    """Hotel lists, each healthy or with prices in cents in arm B, as chosen per call."""

    COUNT = 6000

    def __init__(self):
        def make(name, *fault):
            return test_fleet.made(name, lambda path: evenkeel(
                "generate", "hotel", "-n", self.COUNT, "--seed", 5, "-f", "messages", f"--upstream-model={upstream()}",
                *fault, "-o", path))
        self.healthy = messages_of(make("rollout-healthy.mp"))
        self.faulty = messages_of(make("rollout-faulty.mp", "--fault=price=x100,arm=B"))
        self.sent = []

    def next(self, count, faulty):
        begin = len(self.sent)
        assert begin + count <= len(self.healthy), "the story needs more lists"
        self.sent += (self.faulty if faulty else self.healthy)[begin:begin + count]
        return [Frame(raw, b"k", message["time_ms"], [("n", str(begin + i).encode())], 0)
                for i, (raw, message) in enumerate(self.sent[begin:])]


class Stage:
    """Daemon with state, its rules and its results."""

    def __init__(self, name, traffic, model=None):
        self.source, self.target = WORLD.topics()
        self.alerts = WORLD.broker.create(self.target + ".alerts")
        test_state.state_topic(self.target, 1)
        self.traffic, self.rules = traffic, WORLD.path(name + "-rules.yaml")
        self.daemon, self.model = None, model or test_fleet.model()

    def write(self, mode, more=""):
        with open(self.rules, "w") as out:
            out.write(RULES.format(mode=mode) + more)

    def start(self):
        self.daemon = test_state.daemon(self.source, self.target, "at_least_once", rules=self.rules,
                                        model=self.model, alerts=self.alerts,
                                        http=f"token_file: {test_pause.tokens()}", pipeline="shadow_scoring_cpu_percent: 100")
        self.daemon.start()
        self.daemon.wait_ready()
        return self

    def stop(self):
        daemon, self.daemon = self.daemon, None
        assert daemon.stop() == 0, daemon.log()

    def kill(self):
        if self.daemon:
            self.daemon.__exit__()

    def send(self, count, faulty):
        WORLD.send(self.source, self.traffic.next(count, faulty))
        eventually("all lists are counted",
                   lambda: self.daemon.assert_running() or
                   self.daemon.status().get("observed_lists") == len(self.traffic.sent))

    def send_until(self, what, condition, faulty, each=150, most=4000):
        for _ in range(0, most, each):
            self.send(each, faulty)
            if condition():
                return
        raise AssertionError(f"not within {most} lists: {what}")

    def reload(self, mode, more=""):
        """Reload other rules."""
        before = self.reloads()
        self.write(mode, more)
        self.daemon.process.send_signal(signal.SIGHUP)
        eventually("it reloads", lambda: self.reloads() > before)

    def reloads(self):
        assert "event=reload_refused" not in self.daemon.log(), self.daemon.log()
        return self.daemon.metric('evenkeel_reloads_total{result="done"}')

    def tell(self, *words):
        """Run an operator command on the same machine. Return its output."""
        code, out, error = test_pause.tell(*words, "-c", self.daemon.config)
        assert code == 0, error
        return out

    def history(self):
        return self.daemon.json("/api/v1/history?n=1000")

    def found(self):
        return [cell_of(f) for f in self.daemon.json("/api/v1/findings") if f["state"] != "suspected"]

    def planned(self):
        return {cell_of(c): c for c in self.daemon.json("/api/v1/plan")["entries"]}


class Case(unittest.TestCase):
    @staticmethod
    def word(plan, message):
        """Return the action on a list under a plan."""
        for cell in plan.get("entries", []):
            if message["segments"]["arm"] == cell["segment"]["arm"] and cell["mitigation"] != "none":
                inside = bucket(message["query"]) < round(100 * cell["percent"])
                return {"shadow": "shadow", "canary": "canary" if inside else "pass", "enforce": "routed"}[cell["mode"]]
        return "pass"

    def assert_each_list_as_its_plan_says(self, s):
        told = [json.loads(f.value) for f in WORLD.read(s.alerts)]
        plans = {e["version"]: e for e in told if e["event"] == "plan"}
        out = WORLD.read(s.target)
        self.assertEqual([int(f.header("n")) for f in out], list(range(len(s.traffic.sent))))
        came = {}
        for f, (raw, message) in zip(out, s.traffic.sent):
            word = f.header("ek-action")
            self.assertEqual(word, self.word(plans.get(int(f.header("ek-plan-version")), {}), message))
            self.assertEqual(f.value == raw, word in ("pass", "shadow", "paused"))
            came[word] = came.get(word, 0) + 1
        print(f"\n    {len(out)} lists: {came}, {len(plans)} plans")
        self.assertEqual(WORLD.read(s.target + ".dead"), [])


class RolloutStory(Case):
    def setUp(self):
        self.stage = Stage("rollout", Traffic())
        self.addCleanup(self.stage.kill)

    def test_from_watching_to_acting_and_back(self):
        s = self.stage
        for step in (self.watched_only, self.in_shadow, self.let_in, self.enforced, self.recovered, self.come_back,
                     self.pinned, self.accepted, self.reverted):
            step(s)
        self.assert_history(s.history())
        s.stop()
        self.assert_each_list_as_its_plan_says(s)

    def watched_only(self, s):
        s.write("observe")
        s.start().send(600, faulty=False)
        s.send_until("it is found", lambda: s.found() == [CELL], faulty=True)
        self.assertEqual(s.planned(), {})

    def in_shadow(self, s):
        s.reload("shadow")
        self.assertEqual(s.planned()[CELL]["mode"], "shadow")
        s.send_until("lists are ranked both ways", lambda: self.tried(s) > 20, faulty=True)

    @staticmethod
    def tried(s):
        return sum(r["compared"] for r in s.daemon.json("/api/v1/impact")["routes"] if cell_of(r) == CELL)

    def let_in(self, s):
        s.reload("canary")
        for percent in STEPS:
            s.send_until(f"{percent}%", lambda: s.planned()[CELL]["percent"] >= percent, faulty=True)
            if percent == 43:
                before = s.planned()
                s.stop()
                s.start()
                self.assertEqual(s.planned(), before)

    def enforced(self, s):
        s.reload("enforce")
        self.assertEqual(s.planned()[CELL]["mode"], "enforce")
        s.send(150, faulty=True)

    def recovered(self, s):
        s.send_until("its route has ended", lambda: not s.planned(), faulty=False)
        self.assertEqual(s.found(), [])

    def come_back(self, s):
        s.send_until("it is routed again", lambda: CELL in s.planned(), faulty=True)
        s.send_until("its route has ended again", lambda: not s.planned(), faulty=False)
        s.send_until("it is routed once more", lambda: CELL in s.planned(), faulty=True)

    def pinned(self, s):
        s.reload("enforce", "pins: [{feature: price, segment: {arm: B}, action: none, reason: let me look}]")
        self.assertEqual(s.planned()[CELL]["source"], "rules")
        s.send(150, faulty=True)
        s.reload("enforce")
        self.assertEqual(s.planned()[CELL]["source"], "finding")
        s.send(150, faulty=True)

    def accepted(self, s):
        s.tell("accept", "price", "--segment", "arm=B", "--reason", "cents from now on")
        self.assertEqual((s.planned(), s.found()), ({}, []))
        s.send(600, faulty=True)
        self.assertEqual((s.planned(), s.found()), ({}, []))

    def reverted(self, s):
        s.tell("revert", "1", "--reason", "it was none")
        s.send_until("it is routed as before", lambda: CELL in s.planned(), faulty=True)

    OVER = "no finding requests it$|^no finding requires it, and the minimum duration is over$"

    def assert_history(self, history):
        history = [d for d in history if d["type"] != "reload"]
        print()
        for d in history:
            print("   ", d["sequence"], d["type"], *cell_of(d) if "feature" in d else "", d["actor"], d["plan"], d["reason"])
        steps = [("step", "system", f"from {a}% to {b}% of the lists: ") for a, b in zip(STEPS, STEPS[1:])]
        wanted = [("route", "system", "a finding requests route: it is in shadow"),
                  ("route", "system", "under the current rules it is in a canary of 5% of the lists"), *steps,
                  ("step", "system", "under the current rules it is enforced"), ("end", "system", self.OVER),
                  ("relapse", "system", "the fault has come back 1 time: route is enforced, and holds 4 min"),
                  ("end", "system", self.OVER),
                  ("relapse", "system", "the fault has come back 2 times: route is enforced, and holds 6 min"),
                  ("end", "system", "a pin takes precedence"),
                  ("route", "system", "a finding requests route: it is enforced"),
                  ("end", "system", self.OVER), ("accept", "ana", "cents from now on"),
                  ("revert", "ana", "it was none"), ("relapse", "system", "the fault has come back 3 times")]
        for d, (what, who, why) in zip(history, wanted):
            self.assertEqual((d["type"], d["actor"]), (what, who), d)
            self.assertRegex(str(d["reason"]), "^" + str(why), d)
        self.assertEqual(len(history), len(wanted))
        times = [d["time_ms"] for d in history]
        back = next(i for i, d in enumerate(history) if d["type"] == "relapse")
        self.assertGreaterEqual(times[back + 1] - times[back], 2 * HOLD_MS)


def stranger():
    """Return the path of a model distilled from a scorer that was trained on shuffled labels."""
    def make(path):
        def at(name):
            return WORLD.path("stranger-" + name)
        with open(WORLD.path("train.txt")) as file:
            lines = [line.split(" ", 1) for line in file if not line.startswith("#")]
        labels = [label for label, _ in lines]
        random.Random(3).shuffle(labels)
        with open(at("train.txt"), "w") as out:
            out.writelines(f"{label} {rest}" for label, (_, rest) in zip(labels, lines))
        common = ["train", "--manifest", WORLD.path("features.yaml"), "--epochs", 1]
        evenkeel(*common, "--train", at("train.txt"), "--vali", at("train.txt"), "-o", at("scorer.safetensors"))
        evenkeel("generate", "hotel", "-n", 2000, "--seed", 1, "-f", "messages",
                 f"--upstream-model={at('scorer.safetensors')}", "-o", at("lists.mp"))
        evenkeel(*common, "--teacher", "upstream", "--train", at("lists.mp"), "--vali", at("lists.mp"), "-o", path)
    return test_fleet.made("stranger.safetensors", make)


class Withdrawn(Case):
    """A route by a model unlike the upstream scorer is more harmful than the fault, and is rolled back."""
    RAIL = "worse_than_unmitigated"

    def test_a_model_that_does_more_harm_than_the_fault_is_taken_back(self):
        s = Stage("rolled_back", Traffic(), stranger())
        self.addCleanup(s.kill)
        s.write("canary")
        s.start().send(600, faulty=False)
        s.send_until("it acts on some", lambda: CELL in s.planned(), faulty=True)
        s.send_until("it is rolled back", lambda: not s.planned(), faulty=True, each=600)
        self.assertEqual(s.found(), [CELL])
        s.send(300, faulty=True)
        self.assertEqual(s.planned(), {})
        kept, = [r["rolled_back"] for r in s.daemon.json("/api/v1/impact")["routes"] if cell_of(r) == CELL]
        self.assertEqual(kept["guardrail"], self.RAIL)
        self.assertGreaterEqual(kept["observed"], kept["limit"])
        told = s.tell("status")
        self.assertRegex(told, rf"\nrolled back, until .*\nFEATURE .*\n{CELL[0]} +\S+ +route +{self.RAIL} +\S+ of at most \S+\n")
        last = s.history()[-1]
        self.assertEqual((last["type"], last["actor"], last["guardrail"], cell_of(last)),
                         ("rollback", "system", self.RAIL, CELL))
        self.assertEqual(s.daemon.metric(f'evenkeel_routes_rolled_back_total{{reason="{self.RAIL}"}}'), 1)
        self.assertIn(self.RAIL, s.daemon.log())
        s.stop()
        self.assert_each_list_as_its_plan_says(s)
