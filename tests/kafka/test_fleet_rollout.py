"""Rollout of a route in a fleet: one plan, equal treatment of each list on all instances, also after a leader crash."""
import signal
import unittest

from harness import eventually

import test_fleet
import test_rollout

import read_fleet  # in tests/format, which test_rollout added to the path for xxh64

WORLD = None  # set by run.py
CELL, PARTITIONS = test_rollout.CELL, 2
FIRST, SECOND, LAST = test_rollout.STEPS[0], test_rollout.STEPS[1], test_rollout.STEPS[2]


class Instances:
    """Two instances of a fleet, their traffic, and their shared files."""

    def __init__(self):
        self.fleet, self.traffic = test_fleet.Fleet(PARTITIONS), test_rollout.Traffic()
        self.rules = WORLD.path("fleet-rollout-rules.yaml")
        self.write("observe")
        self.all = [self.fleet.instance(name, rules_path=self.rules, pipeline="shadow_scoring_cpu_percent: 100")
                    for name in ("one", "two")]

    def write(self, mode):
        with open(self.rules, "w") as out:
            out.write(test_rollout.RULES.format(mode=mode))

    def reload(self, mode):
        self.write(mode)
        for i in self.all:
            before = i.metric('evenkeel_reloads_total{result="done"}')
            i.process.send_signal(signal.SIGHUP)
            eventually("it reloads", lambda i=i, before=before:
                       i.metric('evenkeel_reloads_total{result="done"}') > before)

    def send(self, count, faulty):
        frames = self.traffic.next(count, faulty)
        for number, frame in enumerate(frames):
            frame.partition = number % PARTITIONS
        WORLD.send(self.fleet.source, frames)
        for i in self.all:
            eventually("all lists are handled", lambda i=i: i.assert_running() or i.settled())

    def send_until(self, what, condition, faulty, each=150):
        while not condition():
            assert len(self.traffic.sent) + each <= self.traffic.COUNT, what
            self.send(each, faulty)

    def percents(self):
        """Return the percentage of the route on each instance, None without a route."""
        cells = [{test_rollout.cell_of(c): c for c in i.json("/api/v1/plan")["entries"]} for i in self.all]
        return [c[CELL]["percent"] if CELL in c else None for c in cells]

    def at_least(self, percent):
        return all(p is not None and p >= percent for p in self.percents())

    def decider(self):
        return test_fleet.wait_decider(*self.all)[0]

    def plans(self):
        """Return the records of the plan topic by version, decoded independently."""
        records = [read_fleet.read(f.value) for f in WORLD.read(self.fleet.plan)]
        return {r["version"]: r for r in records}


class FleetRollout(unittest.TestCase):
    @staticmethod
    def word(plan, message):
        """Return the action on a list under the entries of a plan."""
        for e in plan["entries"]:
            if e["cell"] in (None, {"arm": message["segments"]["arm"]}):
                inside = test_rollout.bucket(message["query"]) < round(100 * e["percent"])
                return {"shadow": "shadow", "canary": "canary" if inside else "pass", "enforce": "routed"}[e["mode"]]
        return "pass"

    def test_a_canary_goes_on_where_it_stood_when_the_decider_is_killed(self):
        s = Instances()
        with s.all[0] as one, s.all[1] as two:
            eventually("both have a partition", lambda: one.ready() and two.ready() and
                       [test_fleet.status(i)["partitions"] for i in (one, two)] == [1, 1])
            s.send(600, faulty=False)
            s.send_until("it is found", lambda: all(
                test_fleet.named(i.json("/api/v1/events?n=1000")) for i in s.all), faulty=True)
            self.assertEqual(s.percents(), [None, None])
            s.reload("canary")
            s.send_until("the canary begins", lambda: s.at_least(FIRST), faulty=True)
            s.send_until("it grows", lambda: s.at_least(SECOND), faulty=True)
            first = s.decider()
            first.stop(signal.SIGKILL)
            s.all.remove(first)
            before, = s.percents()
            test_fleet.wait_decides(s.all[0])
            self.assertGreaterEqual(s.percents()[0], before)
            s.send_until("it goes on", lambda: s.at_least(max(before + 1, LAST)), faulty=True)
            s.reload("enforce")
            s.send_until("it is enforced", lambda: s.all[0].json("/api/v1/plan")["entries"][0]["mode"] == "enforce",
                         faulty=True)
            s.send(100, faulty=True)
            what = [d["type"] for d in s.all[0].json("/api/v1/history?n=1000") if d["type"] != "reload"]
            self.assertEqual((what[0], set(what[1:])), ("route", {"step"}))
            s.all[0].wait_drained()
            self.assertEqual(s.all[0].stop(), 0, s.all[0].log())
        self.assert_each_list_as_its_plan_says(s)

    def assert_each_list_as_its_plan_says(self, s):
        plans, came = s.plans(), {}
        out = s.fleet.out()
        self.assertEqual({int(f.header("n")) for f in out}, set(range(len(s.traffic.sent))))
        for f in out:
            raw, message = s.traffic.sent[int(f.header("n"))]
            word, version = f.header("ek-action"), int(f.header("ek-plan-version"))
            expected = self.word(plans[version], message) if version in plans else "pass"
            self.assertEqual(word, expected, (version, message["query"]))
            self.assertEqual(f.value == raw, word == "pass")
            came[word] = came.get(word, 0) + 1
        versions = [plans[v] for v in sorted(plans)]
        percents = [e["percent"] for p in versions for e in p["entries"] if e["mode"] == "canary"]
        self.assertEqual(percents, sorted(percents))
        self.assertGreater(len({p["decider"] for p in versions}), 1)
        print(f"\n    {len(out)} outputs: {came}, {len(plans)} plans, canaries of {sorted(set(percents))}%")
        self.assertTrue(came.get("canary") and came.get("routed"))
