"""An operator command to one instance applies to the whole fleet, also after a restart."""
import itertools
import signal

from harness import eventually

import test_fleet
from test_fleet import Fleet, coming, fleet_of, lists, status, wait_decider, wait_for
from test_pause import tell, tokens

WORLD = None  # set by run.py


def last_order(d):
    return max(d.json("/api/v1/commands"), key=lambda order: order["command_id"])["state"]


def send_order(d, *words):
    """Send a command. Return (status, output, error). A leader change may exceed the command's timeout; lost ones are
    repeated."""
    status, output, error = tell(*words, "-c", d.config)
    if status and "the leader of the fleet has not applied it" in error:
        eventually("it is decided", lambda: last_order(d) != "pending")
        if last_order(d) == "lost":
            return send_order(d, *words)
        status = int(last_order(d) != "applied")
    return status, output, error


class Ordered(test_fleet.OnePlan):
    COUNT, RATE = 4000, 250
    PLACE = ("price", "--segment", "arm=B")
    PIN = {"feature": "price", "segment": {"arm": "B"}, "action": "route", "until_ms": None, "actor": "ana",
           "reason": "miles", "source": "operator"}

    def told(self, to, *words):
        code, said, error = send_order(to, *words)
        self.assertEqual((code, error), (0, ""), to.log())
        return said.splitlines()

    def wait_all(self, what, instances, condition):
        for i in instances:
            wait_for(what, i, lambda i=i: condition(i))

    def wait_more(self, what, instances, count):
        """Wait for that many more counted lists."""
        before = {i: status(i)[count] for i in instances}
        self.wait_all(what, instances, lambda i: status(i)[count] > before[i] + 20)

    def test_an_order_to_one_holds_for_all_and_over_a_restart(self):
        fleet, http = Fleet(2), {"http": f"token_file: {tokens()}"}
        values = itertools.cycle(lists(self.COUNT, self.COUNT))  # healthy
        with fleet.endless(values, self.RATE, 2) as stream, \
                fleet.instance("one", **http) as one, fleet.instance("two", **http) as two:
            self.wait_shared((one, two), [1, 1])
            stream.start()
            both = (one, two)
            self.wait_all("the plan is heard", both, lambda i: fleet_of(i)["plan_version"])
            decider, other = wait_decider(*both)
            name = "one" if decider is one else "two"
            said = self.told(other, "pin", *self.PLACE, "--action", "route", "--reason", "miles")
            self.assertEqual(said, ["price, arm=B: pinned to route", f"for all instances, as decided by {name}"])
            self.wait_more("all route", both, "routed")
            for i in both:
                self.assertEqual(i.json("/api/v1/pins"), [self.PIN])
                decisions = [(d["type"], d["actor"]) for d in i.json("/api/v1/history") if d["actor"] == "ana"]
                self.assertEqual(decisions, [("pin", "ana")])
            code, _, error = tell("unpin", "taxes", "-c", other.config)
            self.assertEqual(code, 1)
            self.assertIn("'taxes' is not pinned there", error)
            self.assertEqual(self.told(other, "pause", "--reason", "odd")[0], "paused")
            self.wait_all("all are paused", both, lambda i: status(i)["paused"])
            wait_for("it is known by whom", decider, lambda: status(decider)["paused"]["actor"] == "ana")
            self.assertEqual(other.stop(), 0, other.log())
            other.start()
            self.wait_shared(both, [1, 1])
            self.wait_all("all are paused", both, lambda i: status(i)["paused"])
            self.assertEqual(other.json("/api/v1/pins"), [self.PIN])
            self.assertEqual(self.told(other, "resume")[0], "not paused")
            self.wait_all("none is paused", both, lambda i: not status(i)["paused"])
            self.wait_more("all route", both, "routed")
            self.assertEqual(self.told(other, "unpin", *self.PLACE)[0], "price, arm=B: unpinned")
            self.wait_all("nothing is in force", both, lambda i: i.json("/api/v1/plan")["entries"] == [])
            stream.enough()
            for i in both:
                i.wait_drained()
            self.assertEqual((one.stop(), two.stop()), (0, 0), one.log() + two.log())
        told = [(e["type"], e["actor"]) for e in fleet.told() if e["event"] == "decision" and e["actor"] == "ana"]
        self.assertEqual(sorted(told), sorted([("pin", "ana"), ("pause", "ana"), ("resume", "ana"), ("unpin", "ana")]))


class Accepted(Ordered):
    """An accepted shift applies at every instance from then on, under any leader."""
    COUNT, FAULTY, RATE = 16000, 1500, 250  # a short cycle of lists is a biased sample
    AT = ("price", "--segment", "arm=B")

    def wait_found(self, instances):
        try:
            self.wait_all("it is found", instances,
                          lambda i: [f["feature"] for f in i.json("/api/v1/findings")] == ["price"])
            self.wait_all("it is routed", instances, lambda i: i.json("/api/v1/plan")["entries"] != [])
        except AssertionError as error:
            seen = [(i.json("/api/v1/findings"), status(i)) for i in instances]
            raise AssertionError(f"{error}: {seen}") from error

    def wait_quiet(self, instances):
        self.wait_all("nothing is in force", instances, lambda i: i.json("/api/v1/plan")["entries"] == [])
        self.wait_more("lists pass", instances, "forwarded")

    def test_an_order_to_one_holds_for_all_and_over_a_restart(self):
        fleet, http = Fleet(2), {"http": f"token_file: {tokens()}"}
        with fleet.endless(coming(self.COUNT, self.FAULTY), self.RATE, 2) as stream, \
                fleet.instance("one", **http) as one, fleet.instance("two", **http) as two:
            both = (one, two)
            self.wait_shared(both, [1, 1])
            stream.start()
            self.wait_found(both)
            decider, other = wait_decider(*both)
            code, _, error = tell("accept", "price", "--segment", "arm=A", "-c", other.config)
            self.assertEqual(code, 1)
            self.assertIn("no change of 'price' is confirmed in arm=A: accept it in arm=B", error)
            said = self.told(other, "accept", *self.AT, "--reason", "cents")
            self.assertRegex(said[0], r"price, arm=B: x\d+\.?\d* is normal from now on; 'evenkeel revert 1' takes that back")
            self.wait_quiet(both)
            for i in both:
                accepted, = i.json("/api/v1/accepts")
                self.assertEqual([accepted[k] for k in ("version", "feature", "segment", "actor", "reason")],
                                 [1, "price", {"arm": "B"}, "ana", "cents"])
                told = [e for e in i.json("/api/v1/events?n=1000") if e["event"] == "finding" and e["state"] == "dismissed"]
                self.assertEqual([e["reason"] for e in told], ["accepted as normal"])
            decider.stop(signal.SIGKILL)
            wait_for("the other decides", other, lambda: fleet_of(other)["is_leader"])
            decider.start()
            self.wait_shared(both, [1, 1])
            self.wait_quiet(both)
            self.assertEqual(one.json("/api/v1/accepts"), two.json("/api/v1/accepts"))
            self.assertEqual(len(one.json("/api/v1/accepts")), 1)
            self.assertEqual(len(test_fleet.named(other.json("/api/v1/events?n=1000"))), 1)
            self.assertRegex(self.told(decider, "revert", "1")[0], r"price, arm=B: x\d+\.?\d* is no longer normal")
            self.wait_found(both)
            self.assertEqual(len(test_fleet.named(other.json("/api/v1/events?n=1000"))), 2)
            for i in both:
                self.assertEqual(i.json("/api/v1/accepts"), [])
            self.assertEqual((one.stop(), two.stop()), (0, 0), one.log() + two.log())
        told = [(e["type"], e["actor"]) for e in fleet.told() if e["event"] == "decision" and e["actor"] == "ana"]
        self.assertEqual(told, [("accept", "ana"), ("revert", "ana")])
        dismissed = [e["reason"] for e in fleet.told() if e["event"] == "finding" and e["state"] == "dismissed"]
        self.assertEqual(dismissed, ["accepted as normal"])
