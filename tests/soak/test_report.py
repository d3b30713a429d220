#!/usr/bin/env python3
"""The soak report states each violation, and none in a clean run."""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "kafka")]

import meter
import report
from harness import Frame

CUT = 10


def frame(n, value=None, action="pass"):
    return Frame(value or b"v%d" % n, headers=[("n", b"%d" % n), ("ek-action", action.encode())])


def looks(memory=lambda at: 50000, descriptors=lambda at: 40, in_use=lambda at: 20000):
    return [{"name": "steady", "pid": 1, "at": at, "anonymous_kib": memory(at), "descriptors": descriptors(at), "threads": 12,
             **({"rest": True, "in_use_kib": in_use(at)} if at % 140 == 0 else {})} for at in range(0, 4000, 20)]


def healthy(**more):
    return {"round": 0, "fault": None, "disturbed": ["kill"], "sent": 10, "in": 10, "out": 9, "dead": 1, "routed": 0, "lost": 0, "twice": 0,
            "changed": 0, "wrongly_dead": 0, "ended": 0, "errors": [], **more}


class Judge(unittest.TestCase):
    def setUp(self):
        self.sent = [frame(n) for n in range(20)]
        self.out = [frame(n) for n in range(20) if n % CUT != CUT - 1]
        self.dead = [frame(9), frame(19)]

    def judge(self, source=None, out=None, dead=None):
        return report.judge(self.sent, source or self.sent, self.out if out is None else out, self.dead if dead is None else dead, CUT)

    def test_all_is_well_when_each_came_out_once(self):
        row = self.judge()
        self.assertEqual((row["lost"], row["twice"], row["changed"], row["wrongly_dead"]), (0, 0, 0, 0))

    def test_one_that_did_not_come_out_is_lost(self):
        self.assertEqual(self.judge(out=self.out[1:])["lost"], 1)

    def test_one_that_was_never_sent_is_lost_too(self):
        self.assertEqual(self.judge(source=self.sent[1:], out=self.out[1:])["lost"], 1)

    def test_one_that_came_out_again_is_told_unless_it_was_sent_again(self):
        again = self.out + [frame(3)]
        self.assertEqual(self.judge(out=again)["twice"], 1)
        self.assertEqual(self.judge(source=self.sent + [frame(3)], out=again)["twice"], 0)

    def test_only_what_was_routed_may_differ(self):
        self.out[2] = frame(2, b"other", "routed")
        self.assertEqual(self.judge()["changed"], 0)
        self.out[2] = frame(2, b"other")
        self.assertEqual(self.judge()["changed"], 1)

    def test_only_what_was_cut_may_be_a_dead_letter(self):
        self.assertEqual(self.judge(out=self.out[1:], dead=self.dead + [frame(0)])["wrongly_dead"], 1)


class Growth(unittest.TestCase):
    def held(self, rows, rounds=None):
        return {what: held for what, held, _ in report.verdicts(rounds or [healthy()], rows)}

    def test_what_stays_is_well(self):
        self.assertTrue(all(self.held(looks()).values()))

    def test_two_percent_of_memory_are_seen_and_the_first_minutes_are_not(self):
        self.assertFalse(self.held(looks(lambda at: 50000 + at * 3))["memory of the first instance, at rest"])
        self.assertTrue(self.held(looks(lambda at: 50000 if at > 300 else 20000))["memory of the first instance, at rest"])

    def test_a_leak_that_reuses_free_pages_is_seen(self):
        self.assertFalse(self.held(looks(in_use=lambda at: 20000 + at // 2))["of it in use"])

    def test_what_is_used_between_rests_is_not_growth(self):
        self.assertTrue(all(self.held(looks(lambda at: 50000 if at % 140 == 0 else 60000 + at * 10)).values()))

    def test_a_leak_is_seen_through_noise_at_rest(self):
        noise = (300, -200, 0, 250, -300, 100, -50)
        self.assertTrue(self.held(looks(lambda at: 50000 + noise[at // 140 % 7]))["memory of the first instance, at rest"])
        self.assertFalse(self.held(looks(lambda at: 50000 + noise[at // 140 % 7] + at))["memory of the first instance, at rest"])

    def test_too_few_rests_are_not_well(self):
        self.assertFalse(self.held([{**row, "rest": False} for row in looks()])["growth"])

    def test_a_leak_of_descriptors_is_seen(self):
        self.assertFalse(self.held(looks(descriptors=lambda at: 40 + at // 200))["its descriptors"])

    def test_growth_is_that_of_the_longest_life(self):
        before = [{**row, "pid": 0, "at": row["at"] / 10 - 100} for row in looks(lambda at: 10000)]
        self.assertTrue(all(self.held(before + looks()).values()))
        self.assertFalse(self.held(before + looks(lambda at: 50000 + at * 3))["memory of the first instance, at rest"])

    def test_too_short_is_not_well(self):
        self.assertFalse(self.held(looks()[:10])["growth"])

    def test_nothing_is_said_before_all_is_warm(self):
        self.assertFalse(self.held([row for row in looks() if row["at"] < 1780])["growth"])
        self.assertNotIn("growth", self.held([row for row in looks() if row["at"] < 1860]))

    def test_an_error_of_a_round_is_told(self):
        self.assertFalse(self.held(looks(), [healthy(errors=["it fell"])])["what went wrong besides"])


class Files(unittest.TestCase):
    def test_are_written_and_the_verdict_follows(self):
        with tempfile.TemporaryDirectory() as folder:
            about = {"kafka": "1", "librdkafka": "2", "hours": 1}
            self.assertTrue(report.write(folder, [healthy()], looks(), about, None)[0])
            self.assertFalse(report.write(folder, [healthy(lost=1)], looks(), about, None)[0])
            self.assertFalse(report.write(folder, [healthy()], looks(), about, "it stood still")[0])
            self.assertFalse(report.write(folder, [], [], about, None)[0])
            with open(os.path.join(folder, "soak.svg"), encoding="utf-8") as file:
                self.assertIn("</svg>", file.read())


class Meter(unittest.TestCase):
    def test_knows_this_process_and_no_other_that_is_not(self):
        row = meter.of_process(os.getpid())
        self.assertGreater(row["anonymous_kib"], 1000)
        self.assertGreater(row["descriptors"], 2)
        self.assertIsNone(meter.of_process(1 << 30))

    def test_reads_percentiles_of_what_is_new(self):
        line = 'evenkeel_end_to_end_duration_seconds_bucket{le="%s"} %d\n'
        text = "".join(line % row for row in (("0.001", 10), ("0.01", 110), ("+Inf", 111)))
        found, counts = meter.latency(text, {0.001: 10, 0.01: 10, float("inf"): 10})
        self.assertEqual(found, {"p50_ms": 10, "p99_ms": 10})
        self.assertEqual(meter.latency(text, counts)[0], {})
        beyond = "".join(line % row for row in (("0.001", 10), ("0.01", 110), ("+Inf", 211)))
        self.assertEqual(meter.latency(beyond, counts)[0], {"p50_ms": 10, "p99_ms": 10})


def main():
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=0).run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]))
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
