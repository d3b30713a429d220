"""A stage is let in step by step, and what it does in each is what its plan says, list by list.

The times in the messages drive everything: `hold` and what else the rules count is time of the stream.
"""
import json
import os
import sys
import unittest

from fixtures import Frame
from harness import Daemon, decoded, evenkeel, eventually, messages_of

import test_fleet
import test_state

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "format"))

from xxh64 import xxh64  # noqa: E402

WORLD = None  # set by run.py
BUCKET_SEED, BUCKETS = 0x656B63616E617279, 10000
RULES = """version: 1
defaults: {{mode: {mode}, confirm_queries: 32, hold: 2m}}
segments: [arm]
features:
  price: {{units: [cents]}}
"""
CELL = ("price", "B")


def bucket(query):
    return xxh64(query.encode(), BUCKET_SEED) % BUCKETS


def cell_of(told):
    """Of something that was told: feature and arm."""
    return told["feature"], (told["segment"] or {}).get("arm")


class Traffic:
    """Hotel searches, healthy, or with prices in cents in arm B, as one likes at each."""

    def __init__(self, count):
        def make(name, *fault):
            return test_fleet.made(name, lambda path: evenkeel(
                "gen", "hotel", "-n", count, "--seed", 5, "-f", "messages", f"--score-model={test_fleet.model()}",
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
    """One daemon that keeps its state, its rules, and all that came of it."""

    def __init__(self, name, traffic):
        self.source, self.target = WORLD.topics()
        self.alerts = WORLD.broker.create(self.target + ".alerts")
        test_state.state_topic(self.target, 1)
        self.traffic, self.rules = traffic, WORLD.path(name + "-rules.yaml")
        self.daemon = None

    def write(self, mode):
        with open(self.rules, "w") as out:
            out.write(RULES.format(mode=mode))

    def start(self):
        self.daemon = test_state.daemon(self.source, self.target, "at_least_once", rules=self.rules,
                                        model=test_fleet.model(), alerts=self.alerts)
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
                   self.daemon.status().get("observed_queries") == len(self.traffic.sent))

    def send_until(self, what, condition, faulty, each=150, most=4000):
        for _ in range(0, most, each):
            self.send(each, faulty)
            if condition():
                return
        raise AssertionError(f"not within {most} lists: {what}")

    def found(self):
        return [cell_of(f) for f in self.daemon.json("/api/v1/findings") if f["state"] != "suspected"]

    def planned(self):
        return {cell_of(c): c for c in self.daemon.json("/api/v1/plan")["cells"]}


class RolloutStory(unittest.TestCase):
    LISTS = 9000

    def setUp(self):
        self.stage = Stage("rollout", Traffic(self.LISTS))
        self.addCleanup(self.stage.kill)

    def test_from_watching_to_acting_and_back(self):
        s = self.stage
        self.watched_only(s)
        self.enforced(s)
        self.recovered(s)
        self.come_back(s)
        s.stop()
        self.assert_each_list_as_its_plan_says(s)

    def watched_only(self, s):
        s.write("observe")
        s.start().send(600, faulty=False)
        s.send_until("it is found", lambda: s.found() == [CELL], faulty=True)
        self.assertEqual(s.planned(), {})

    def enforced(self, s):
        s.stop()
        s.write("enforce")
        s.start()
        self.assertEqual(s.found(), [CELL])
        s.send_until("it is routed", lambda: CELL in s.planned(), faulty=True)
        s.send(150, faulty=True)

    def recovered(self, s):
        s.send_until("its route has ended", lambda: not s.planned(), faulty=False)
        self.assertEqual(s.found(), [])

    def come_back(self, s):
        s.send_until("it is routed again", lambda: CELL in s.planned(), faulty=True)
        s.send(150, faulty=True)

    @staticmethod
    def word(plan, message):
        """What becomes of a list under a plan."""
        for cell in plan.get("cells", []):
            if message["segments"]["arm"] == cell["segment"]["arm"]:
                return "routed"
        return "pass"

    def assert_each_list_as_its_plan_says(self, s):
        told = [json.loads(f.value) for f in WORLD.read(s.alerts)]
        plans = {e["version"]: e for e in told if e["event"] == "plan"}
        out = WORLD.read(s.target)
        self.assertEqual([int(f.header("n")) for f in out], list(range(len(s.traffic.sent))))
        came = {}
        for f, (raw, message) in zip(out, s.traffic.sent):
            word = f.header("ek-action")
            self.assertEqual(word, self.word(plans.get(int(f.header("ek-plan")), {}), message))
            self.assertEqual(f.value == raw, word in ("pass", "shadow", "paused"))
            came[word] = came.get(word, 0) + 1
        print(f"\n    {len(out)} lists: {came}, {len(plans)} plans")
        self.assertEqual(WORLD.read(s.target + ".dead"), [])
