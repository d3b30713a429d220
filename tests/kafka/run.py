"""Run the tests against a real broker, with --soak the long ones; the last line is `N passed, N failed`.

    EVENKEEL=build/evenkeel EKTOOL=build/tests/kafka/ektool KAFKA_LIBS=build/kafka/libs \\
      python3 tests/kafka/run.py [--soak] [CLASS[.TEST]...]
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import soak_network
import soak_outage
import soak_rebalance
import test_alerts
import test_at_once
import test_attacks
import test_delivery
import test_errors
import test_exactly
import test_fleet
import test_fleet_orders
import test_http
import test_fleet_rollout
import test_flow
import test_items
import test_learn
import test_memory
import test_observe
import test_orders
import test_pause
import test_plan
import test_positions
import test_rebalance
import test_reload
import test_repair
import test_rollout
import test_schemas
import test_security
import test_serve
import test_state
import test_story
import test_watch
import workers

MODULES = (test_delivery, test_alerts, test_at_once, test_attacks, test_errors, test_exactly, test_fleet, test_fleet_orders, test_fleet_rollout, test_flow,
           test_http, test_items, test_learn, test_memory, test_observe, test_orders, test_pause, test_plan, test_positions, test_rebalance, test_reload, test_repair, test_rollout,
           test_schemas, test_security,
           test_serve, test_state, test_story, test_watch)
SOAK = (soak_network, soak_outage, soak_rebalance)


def suites(names, modules):
    """Return one suite per class, or per name."""
    loader = unittest.TestLoader()
    if not names:
        return [suite for module in modules for suite in loader.loadTestsFromModule(module) if suite.countTestCases()]
    homes = {name: next((m for m in modules if hasattr(m, name.split(".")[0])), None) for name in names}
    for name in (name for name, home in homes.items() if not home):
        sys.exit(f"no class '{name}'")
    return [loader.loadTestsFromName(name, home) for name, home in homes.items()]


def main(words):
    soak = words[:1] == ["--soak"]
    names, modules = (words[1:], SOAK) if soak else (words, MODULES)
    # Measurements run alone.
    result = workers.share(suites(names, modules), MODULES + SOAK, 1 if soak else workers.COUNT)
    skipped = f", {result.skipped} skipped" if result.skipped else ""
    print(f"{result.run - result.failed - result.skipped} passed, {result.failed} failed{skipped}")
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
