"""What people say to one instance of a fleet holds for all, over a restart too."""
import threading
import unittest

from harness import eventually

import test_fleet
from test_fleet import Fleet, fleet_of, lists, paced, status, wait_for
from test_pause import tell, tokens

WORLD = None  # set by run.py


class Ordered(test_fleet.OnePlan):
    COUNT, RATE = 4000, 250
    PLACE = ("price", "--segment", "arm=B")
    PIN = {"feature": "price", "segment": {"arm": "B"}, "action": "route", "until_ms": None, "author": "ana",
           "reason": "miles", "by": "person"}

    def told(self, to, *words):
        code, said, error = tell(*words, "-c", to.config)
        self.assertEqual((code, error), (0, ""), to.log())
        return said.splitlines()

    def wait_all(self, what, instances, condition):
        for i in instances:
            wait_for(what, i, lambda i=i: condition(i))

    def wait_more(self, what, instances, count):
        """Of lists that are counted so."""
        before = {i: status(i)[count] for i in instances}
        self.wait_all(what, instances, lambda i: status(i)[count] > before[i] + 20)

    def test_an_order_to_one_holds_for_all_and_over_a_restart(self):
        fleet, http = Fleet(2), {"http": f"token_file: {tokens()}"}
        frames = paced(lists(self.COUNT, self.COUNT), 2, self.RATE)  # nothing is wrong with them
        sender = threading.Thread(target=WORLD.send, args=(fleet.source, frames, self.RATE))
        with fleet.instance("one", **http) as one, fleet.instance("two", **http) as two:
            self.wait_shared((one, two), [1, 1])
            sender.start()
            both = (one, two)
            self.wait_all("the plan is heard", both, lambda i: fleet_of(i)["plan_version"])
            decider = next(i for i in both if fleet_of(i)["decides"])
            other = two if decider is one else one
            name = "one" if decider is one else "two"
            said = self.told(other, "pin", *self.PLACE, "--action", "route", "--reason", "miles")
            self.assertEqual(said, ["price, arm=B: pinned to route", f"for all instances, as decided by {name}"])
            self.wait_more("all route", both, "routed")
            for i in both:
                self.assertEqual(i.json("/api/v1/pins"), [self.PIN])
                decisions = [(d["what"], d["who"]) for d in i.json("/api/v1/history") if d["who"] == "ana"]
                self.assertEqual(decisions, [("pin", "ana")])
            code, _, error = tell("unpin", "taxes", "-c", other.config)
            self.assertEqual(code, 1)
            self.assertIn("'taxes' is not pinned there", error)
            self.assertEqual(self.told(other, "pause", "--reason", "odd")[0], "paused")
            self.wait_all("all are paused", both, lambda i: status(i)["paused"])
            self.assertEqual(status(decider)["paused"]["who"], "ana")
            self.assertEqual(other.stop(), 0, other.log())
            other.start()
            self.wait_shared(both, [1, 1])
            self.wait_all("all are paused", both, lambda i: status(i)["paused"])
            self.assertEqual(other.json("/api/v1/pins"), [self.PIN])
            self.assertEqual(self.told(other, "resume")[0], "not paused")
            self.wait_all("none is paused", both, lambda i: not status(i)["paused"])
            self.wait_more("all route", both, "routed")
            self.assertEqual(self.told(other, "unpin", *self.PLACE)[0], "price, arm=B: no longer pinned")
            self.wait_all("nothing is in force", both, lambda i: i.json("/api/v1/plan")["cells"] == [])
            sender.join()
            for i in both:
                i.wait_drained()
            self.assertEqual((one.stop(), two.stop()), (0, 0), one.log() + two.log())
        told = [(e["what"], e["who"]) for e in fleet.told() if e["event"] == "decision" and e["who"] == "ana"]
        self.assertEqual(sorted(told), sorted([("pin", "ana"), ("pause", "ana"), ("resume", "ana"), ("unpin", "ana")]))
