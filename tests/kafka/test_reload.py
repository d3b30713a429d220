"""Reload of rules by signal, under load and with both delivery modes."""
import json
import signal
import unittest

from fixtures import numbers
from harness import Daemon, eventually

import test_fleet

WORLD = None  # set by run.py
PARTITIONS = 2


def rules(mode):
    return f"version: 1\ndefaults: {{mode: {mode}}}\nsegments: [arm]\n"


def confirmed(daemon):
    return [f for f in daemon.json("/api/v1/findings") if f["state"] in ("confirmed", "updated")]


class Reload(unittest.TestCase):
    COUNT, FAULTY, RATE = 3200, 700, 500

    def write(self, mode):
        with open(self.rules, "w") as out:
            out.write(rules(mode))

    def reload(self, mode, result):
        """Reload other rules. Return the result."""
        series = f'evenkeel_reloads_total{{result="{result}"}}'
        before = self.d.metric(series)
        self.write(mode)
        self.d.process.send_signal(signal.SIGHUP)
        eventually(f"it is {result}", lambda: self.d.metric(series) == before + 1)

    def run_through(self, delivery):
        self.rules = WORLD.path(f"reload-{delivery}.yaml")
        self.write("observe")
        source, target = WORLD.topics(PARTITIONS)
        alerts = WORLD.broker.create(target + ".alerts")
        values = test_fleet.coming(self.COUNT, self.FAULTY)
        with WORLD.endless(source, values, self.RATE, PARTITIONS) as stream, Daemon(
                WORLD.folder, WORLD.broker, source, target, WORLD.folder, rules=self.rules, model=test_fleet.model(),
                alerts=alerts, delivery=delivery, pipeline="workers: 2") as self.d:
            self.d.wait_ready()
            stream.start()
            eventually("the fault is found", lambda: confirmed(self.d))
            self.reload("perhaps", "refused")
            self.assertEqual(self.d.status()["routed"], 0)
            self.reload("enforce", "done")
            eventually("it routes", lambda: self.d.status()["routed"] > 20)
            self.assertEqual(confirmed(self.d)[0]["mode"], "enforce")
            frames = stream.enough()
            self.d.wait_drained()
            self.assertEqual(self.d.status()["observed_lists"], len(frames))
            self.assertEqual(self.d.stop(), 0, self.d.log())
            self.assertIn("event=reload_refused", self.d.log())
        out = WORLD.read(target)
        self.assertEqual(sorted(numbers(out)), list(range(len(frames))))  # none lost, none duplicated
        for p in range(PARTITIONS):
            part = [n for f, n in zip(out, numbers(out)) if f.partition == p]
            self.assertEqual(part, sorted(part))
        for f in out:
            routed = f.header("ek-action") == "routed"
            self.assertEqual(routed, f.value != frames[int(f.header("n"))].value)
            self.assertGreaterEqual(int(f.header("ek-plan-version")), int(routed))
        told = [e for e in map(lambda f: json.loads(f.value), WORLD.read(alerts)) if e["event"] == "reload"]
        self.assertEqual([(e["result"], e["carried_over"]) for e in told], [("refused", None), ("done", "all")])
        self.assertIn(self.rules, told[0]["errors"][0]["message"])
        self.assertIn("'mode'", told[0]["errors"][0]["message"])

    def test_at_least_once(self):
        self.run_through("at_least_once")

    def test_exactly_once(self):
        self.run_through("exactly_once")


class ReloadInAFleet(unittest.TestCase):
    COUNT, FAULTY, RATE = 4000, 1000, 500

    @test_fleet.unless_late
    def test_all_act_by_the_rules_of_the_one_that_decides(self):
        path = WORLD.path("reload-fleet.yaml")

        def write(mode):
            with open(path, "w") as out:
                out.write(rules(mode))
        write("observe")
        fleet = test_fleet.Fleet(PARTITIONS)
        values = test_fleet.coming(self.COUNT, self.FAULTY)
        done = 'evenkeel_reloads_total{result="done"}'
        with fleet.endless(values, self.RATE, PARTITIONS) as stream, \
                fleet.instance("one", rules_path=path) as one, fleet.instance("two", rules_path=path) as two:
            both = (one, two)
            for d in both:
                eventually("it has a partition", lambda d=d: d.status().get("partitions") == 1)
            stream.start()
            for d in both:
                eventually("the fault is found", lambda d=d: confirmed(d))
            write("enforce")
            for d in both:
                d.process.send_signal(signal.SIGHUP)
            for d in both:
                eventually("it is done", lambda d=d: d.metric(done) == 1)
            for d in both:
                eventually("it routes", lambda d=d: d.status()["routed"] > 20)
            count = len(stream.enough())
            for d in both:
                d.wait_drained()
                self.assertEqual(d.stop(), 0, d.log())
        out = fleet.out()
        self.assertEqual(sorted(numbers(out)), list(range(count)))
        test_fleet.OnePlan.assert_one_version_at_a_time(self, out)
