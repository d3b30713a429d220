"""Runs the tests against a real broker, with --soak the long ones; the last line is `N passed, N failed`.

    EVENKEEL=build/evenkeel EKTOOL=build/tests/kafka/ektool KAFKA_LIBS=build/kafka/libs \\
      python3 tests/kafka/run.py [--soak] [CLASS[.TEST]...]
"""
import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import fixtures
import soak_outage
import soak_rebalance
import test_alerts
import test_at_once
import test_delivery
import test_errors
import test_exactly
import test_fleet
import test_fleet_orders
import test_http
import test_fleet_rollout
import test_items
import test_memory
import test_orders
import test_pause
import test_rebalance
import test_reload
import test_rollout
import test_security
import test_state
import test_story
import test_watch

# The one that starts the broker is the first.
MODULES = (test_delivery, test_alerts, test_at_once, test_errors, test_exactly, test_fleet, test_fleet_orders, test_fleet_rollout,
           test_http, test_items, test_memory, test_orders, test_pause, test_rebalance, test_reload, test_rollout, test_security,
           test_state, test_story, test_watch)
SOAK = (soak_outage, soak_rebalance)


class Result(unittest.TextTestResult):
    """Says how long each test took."""

    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.stream.writeln(f"    {time.monotonic() - self.began:.1f} s")


def suite(names, modules):
    loader = unittest.TestLoader()
    if not names:
        return unittest.TestSuite(loader.loadTestsFromModule(m) for m in modules)
    found = []
    for name in names:
        module = next(m for m in modules if hasattr(m, name.split(".")[0]))
        found.append(loader.loadTestsFromName(name, module))
    return unittest.TestSuite(found)


def main(words):
    soak = words[:1] == ["--soak"]
    names, modules = (words[1:], SOAK) if soak else (words, MODULES)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    world = fixtures.World()
    for module in MODULES + SOAK:
        module.WORLD = world
    try:
        if names or soak:
            world.prepare()
            world.broker.up()
        result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2,
                                         resultclass=Result).run(suite(names, modules))
    finally:
        world.close()
    failed = len(result.failures) + len(result.errors)
    skipped = f", {len(result.skipped)} skipped" if result.skipped else ""
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed{skipped}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
