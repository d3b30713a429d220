"""A long outage: nothing is lost, and what has piled up is worked off."""
import time
import unittest

from harness import eventually
from test_errors import Flow
import test_errors

WORLD = None  # set by run.py
OUTAGE = 60  # seconds


class Soak(unittest.TestCase):
    def setUp(self):
        test_errors.WORLD = WORLD

    def told(self, flow, began, out):
        print(f"\n    {flow.sent} in, {len(out)} out, {len(out) - len(set(out))} twice, "
              f"{time.monotonic() - began:.1f} s until all was out")


class AnOutageOfAMinute(Soak):
    RATE = 500  # messages a second, which pile up with those who send them

    def test_is_worked_off(self):
        flow = Flow(partitions=2)
        flow.send(10 * self.RATE)
        with flow.daemon as d:
            d.wait_ready()
            eventually("it is at work", lambda: d.json("/api/v1/status")["passed"] > self.RATE)
            WORLD.broker.down(crash=True)
            time.sleep(OUTAGE)
            self.assertEqual(d.get("/ready")[0], 503)
            WORLD.broker.up()
            began = time.monotonic()
            flow.send(OUTAGE * self.RATE)
            d.wait_drained(120)
            self.assertEqual(d.stop(), 0, d.log())
        out = flow.out()
        self.told(flow, began, out)
        self.assertEqual(set(out), set(range(flow.sent)))
