"""Concurrent changes to a running stage under load with a faulty feature: fleet members join and leave, rules are
reloaded, operator commands and page requests arrive."""
import signal
import threading
import unittest

from fixtures import numbers
from harness import eventually

import test_fleet
import test_state
from test_fleet_orders import send_order
from test_pause import tokens
from test_reload import rules

WORLD = None  # set by run.py
PAGES = ("/metrics", "/", "/ready", "/api/v1/status", "/api/v1/features", "/api/v1/features/price", "/api/v1/findings", "/api/v1/plan",
         "/api/v1/events?n=100", "/api/v1/history", "/api/v1/samples?feature=price", "/api/v1/pins", "/api/v1/reload")


class AllAtOnce(unittest.TestCase):
    COUNT, FAULTY, RATE, ASKERS, TIMES = 3000, 600, 300, 3, 2

    def ask(self, d, over, failures):
        """Request one page after the other until the end."""
        asked = 0
        while not over.is_set() or asked < len(PAGES):
            status, _ = d.get(PAGES[asked % len(PAGES)])
            if status not in (200, 503):
                failures.append((PAGES[asked % len(PAGES)], status))
            asked += 1

    def order(self, d):
        """Send operator commands."""
        for words in (("pause", "--reason", "odd"), ("resume",), ("pin", "taxes", "--action", "route", "--reason", "odd"), ("unpin", "taxes")):
            self.tell(d, words)

    def tell(self, d, words):
        status, _, said = send_order(d, *words)
        self.assertEqual(status, 0, f"{words}: {said}\n{d.log()}")

    def write(self, mode):
        with open(self.path, "w") as out:
            out.write(rules(mode))

    def reload(self, d, mode, result):
        series = f'evenkeel_reloads_total{{result="{result}"}}'
        before = d.metric(series)
        self.write(mode)
        d.process.send_signal(signal.SIGHUP)
        eventually(f"it is {result}", lambda: d.metric(series) == before + 1)

    def test_loses_and_doubles_nothing_and_answers_all_the_time(self):
        self.path = WORLD.path("at-once-rules.yaml")
        self.write("enforce")
        fleet, over, failures = test_fleet.Fleet(2), threading.Event(), []
        self.addCleanup(over.set)
        test_state.state_topic(fleet.target, 2)
        common = {"http": f"token_file: {tokens()}", "state": f"topic: {fleet.target}.state, checkpoint_interval: 1s", "delivery": "exactly_once",
                  "rules_path": self.path, "pipeline": "workers: 2"}
        with fleet.endless(test_fleet.coming(self.COUNT, self.FAULTY), self.RATE, 2) as stream, fleet.instance("one", **common) as one:
            test_fleet.wait_decides(one.wait_ready())
            stream.start()
            askers = [threading.Thread(target=self.ask, args=(one, over, failures), daemon=True) for _ in range(self.ASKERS)]
            for asker in askers:
                asker.start()
            for _ in range(self.TIMES):
                self.reload(one, "perhaps", "refused")
                self.write("enforce")  # rules for the other instance's start
                with fleet.instance("two", **common) as two:
                    self.order(one)
                    test_fleet.wait_for("each has a share", two, lambda t=two: [d.status().get("partitions") for d in (one, t)] == [1, 1])
                    self.reload(one, "enforce", "done")
                    self.assertEqual(two.stop(), 0, two.log())
                eventually("one has it all", lambda: test_fleet.status(one)["partitions"] == 2)
            eventually("it routes", lambda: test_fleet.status(one)["routed"] > 20)
            count = len(stream.enough())
            one.wait_drained()
            over.set()
            for asker in askers:
                asker.join()
            self.assertEqual(one.stop(), 0, one.log())
        self.assertEqual(failures, [])
        self.assertEqual(sorted(numbers(fleet.out())), list(range(count)))
