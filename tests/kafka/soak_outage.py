"""After a long outage no message is lost, and the backlog is processed."""
import time
import unittest

import soak
from harness import eventually, kafka, librdkafka
from test_errors import Flow

WORLD = None  # set by run.py
OUTAGE = 60  # seconds
BEFORE = 20000  # messages; the broker stops halfway


class AnOutageOfAMinute(unittest.TestCase):
    RATE = 500  # messages a second, which queue at their senders

    def go_on(self, flow):
        """Restart as a supervisor does: a transaction timeout ends the program."""
        d = flow.daemon
        if d.process.poll() is not None:
            self.assertEqual((flow.delivery, d.process.poll()), ("exactly_once", 1), d.log())
            self.assertIn("limits.transaction_timeout", d.last_words())
            self.ended += 1
            d.start()
        return d

    def outage(self, flow):
        """Run without a broker, supervised."""
        WORLD.broker.down(crash=True)
        end = time.monotonic() + OUTAGE
        while time.monotonic() < end:
            self.go_on(flow)
            time.sleep(0.2)
        eventually("it says that it waits", lambda: flow.daemon.get("/ready")[0] == 503)
        WORLD.broker.up()

    def go(self, delivery):
        flow, self.ended = Flow(partitions=2, delivery=delivery), 0
        flow.delivery = delivery
        flow.send(BEFORE)
        with flow.daemon as d:
            eventually("it is at work", lambda: d.status().get("forwarded", 0) > 0)
            self.outage(flow)
            began = time.monotonic()
            flow.send(OUTAGE * self.RATE)
            eventually("all came out", lambda: self.go_on(flow).settled(), 120)
            took = time.monotonic() - began
            self.assertEqual(d.stop(), 0, d.log())
        out = flow.out()
        twice = len(out) - len(set(out))
        soak.note({"test": "outage", "kafka": kafka(), "librdkafka": ".".join(map(str, librdkafka())),
                   "mode": delivery, "outage_s": OUTAGE, "in": flow.sent, "out": len(out), "twice": twice,
                   "ended": self.ended, "worked_off_s": round(took, 1)})
        self.assertEqual(set(out), set(range(flow.sent)))
        return twice

    def test_is_worked_off(self):
        self.go("at_least_once")

    def test_is_worked_off_exactly_once(self):
        self.assertEqual(self.go("exactly_once"), 0)
