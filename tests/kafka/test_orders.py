"""Operator decisions on findings over HTTP and by command."""
import json
import unittest

from fixtures import numbered
from harness import Daemon, eventually

import test_fleet
from test_pause import TOKEN, post, raw, tell, tokens

WORLD = None  # set by run.py


class Accepted(unittest.TestCase):
    """Prices of arm B arrive in cents; an operator accepts the shift and reverts it."""
    COUNT, FAULTY, ACCEPTED, REVERTED = 2400, 700, 1400, 1900
    KEYS = {"feature": "price", "segment": {"arm": "B"}}

    def send(self, first, last):
        WORLD.send(self.source, self.frames[first:last])
        self.d.wait_handled(last)

    def confirmed(self):
        return [f for f in self.d.json("/api/v1/findings") if f["state"] != "suspected"]

    def test_what_is_accepted_is_found_no_more_until_it_is_reverted(self):
        self.source, target = WORLD.topics(1)
        alerts = WORLD.broker.create(target + ".alerts")
        self.frames = numbered(test_fleet.lists(self.COUNT, self.FAULTY), 1)
        with Daemon(WORLD.folder, WORLD.broker, self.source, target, WORLD.folder, rules=test_fleet.rules(),
                    model=test_fleet.model(), alerts=alerts, http=f"token_file: {tokens()}") as self.d:
            self.d.wait_ready()
            self.send(0, self.ACCEPTED)
            found, = eventually("cents are found", self.confirmed)
            self.assertEqual((found["feature"], found["segment"]), ("price", {"arm": "B"}))
            body = json.dumps({**self.KEYS, "reason": "a new tariff"}).encode()
            answer = raw(self.d, [post("/api/v1/accept", body)] + [body[i:i + 20] for i in range(0, len(body), 20)])
            self.assertIn(" 200 ", answer)
            decision = json.loads(answer.split("\r\n\r\n")[1])
            self.assertEqual((decision["type"], decision["actor"], decision["reason"]), ("accept", "ana", "a new tariff"))
            self.assertAlmostEqual(decision["factor"], 100, delta=5)
            self.assertEqual((self.confirmed(), self.d.json("/api/v1/plan")["entries"]), ([], []))
            self.send(self.ACCEPTED, self.REVERTED)
            self.assertEqual(self.confirmed(), [])
            code, said, error = tell("accept", "price", "--segment", "arm=B", "-c", self.d.config)
            self.assertEqual((code, said), (1, ""))
            self.assertIn("no change of 'price' is confirmed in arm=B", error)
            self.assertEqual(tell("revert", str(decision["accept"]), "-c", self.d.config, "--reason", "it was none")[0], 0)
            self.send(self.REVERTED, self.COUNT)
            self.assertEqual([f["feature"] for f in self.confirmed()], ["price"])
            self.d.wait_drained()
            for page in ("/metrics", *("/api/v1/" + p for p in ("status", "findings", "plan", "events", "history"))):
                self.assertNotIn(TOKEN, self.d.get(page)[1])
            self.assertEqual(self.d.stop(), 0, self.d.log())
            self.assertNotIn(TOKEN, self.d.log())
        actions = [f.header("ek-action") for f in WORLD.read(target)]
        self.assertIn("routed", actions[self.FAULTY:self.ACCEPTED])
        self.assertEqual(set(actions[self.ACCEPTED:self.REVERTED]), {"pass"})
        self.assertIn("routed", actions[self.REVERTED:])
        told = [json.loads(f.value) for f in WORLD.read(alerts)]
        self.assertEqual([(t["type"], t["actor"], t["reason"]) for t in told
                          if t["event"] == "decision" and t["actor"] == "ana"],
                         [("accept", "ana", "a new tariff"), ("revert", "ana", "it was none")])


class Pinned(unittest.TestCase):
    """Pins override findings: a healthy feature is routed, a faulty one is not."""
    COUNT, FAULTY, PINNED, LEFT, FREE = 2000, 800, 200, 500, 1600
    PLACE = ("price", "--segment", "arm=B")

    def send(self, first, last):
        WORLD.send(self.source, self.frames[first:last])
        self.d.wait_handled(last)

    def told(self, *words):
        code, said, error = tell(*words, "-c", self.d.config)
        self.assertEqual((code, error), (0, ""))
        return said

    def test_a_pin_acts_whatever_is_found_until_it_is_taken_away(self):
        self.source, target = WORLD.topics(1)
        self.frames = numbered(test_fleet.lists(self.COUNT, self.FAULTY), 1)
        with Daemon(WORLD.folder, WORLD.broker, self.source, target, WORLD.folder, rules=test_fleet.rules(),
                    model=test_fleet.model(), http=f"token_file: {tokens()}") as self.d:
            self.d.wait_ready()
            self.send(0, self.PINNED)
            self.assertEqual(self.told("pin", *self.PLACE, "--action", "route"), "price, arm=B: pinned to route\n")
            self.send(self.PINNED, self.LEFT)
            self.assertEqual(self.told("pin", *self.PLACE, "--action", "none", "--until", "2999-01-31", "--reason", "wait"),
                             "price, arm=B: pinned to none\n")
            self.send(self.LEFT, self.FREE)
            found, = [f for f in self.d.json("/api/v1/findings") if f["state"] != "suspected"]
            self.assertEqual((found["feature"], found["segment"]), ("price", {"arm": "B"}))
            self.assertEqual(self.told("unpin", *self.PLACE), "price, arm=B: unpinned\n")
            self.send(self.FREE, self.COUNT)
            history = [(d["type"], d["actor"]) for d in self.d.json("/api/v1/history")]
            self.assertEqual([h for h in history if h[1] == "ana"], [("pin", "ana"), ("pin", "ana"), ("unpin", "ana")])
            self.d.wait_drained()
            self.assertEqual(self.d.stop(), 0, self.d.log())
        routed = [f.header("ek-action") == "routed" for f in WORLD.read(target)]
        in_b = [b"\xa3arm\xa1B" in f.value for f in self.frames]
        self.assertEqual(routed[:self.FREE], [b and self.PINNED <= i < self.LEFT for i, b in enumerate(in_b)][:self.FREE])
        self.assertEqual(routed[self.FREE:], in_b[self.FREE:])
