"""Tests of the page in headless Chromium; the last line is `N passed, N failed`.

    B=build EVENKEEL=build/evenkeel PAGE_BROKER=build/tests/page/broker AXE=axe.min.js \\
      python3 tests/page/run.py [CLASS[.TEST]...]
"""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import browser
import kept
import test_acts
import test_drawn
import test_files
import test_in_fleet
import test_keys
import test_live
import test_many
import test_rare
import test_report
import test_shown
import timed

# All tests up to test_live share an instance, which the last one stops.
MODULES = (test_files, test_drawn, test_rare, test_report, test_keys, test_acts, test_live, test_shown, test_in_fleet, test_many)


def suite(names):
    loader = unittest.TestLoader()
    if not names:
        return unittest.TestSuite(loader.loadTestsFromModule(m) for m in MODULES)
    return unittest.TestSuite(loader.loadTestsFromName(name, next(m for m in MODULES if hasattr(m, name.split(".")[0])))
                              for name in names)


def ahead(tests):
    """Start slow fixtures before the first test, in parallel with the others."""
    if isinstance(tests, unittest.TestSuite):
        return {begin for test in tests for begin in ahead(test)}
    return {tests.ahead} if hasattr(tests, "ahead") else set()


def main(names):
    if not browser.available():
        print("skipped: no chromium or no chromedriver")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    try:
        tests = suite(names)
        for begin in ahead(tests):
            begin()
        result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=timed.Timed).run(tests)
    finally:
        kept.close()
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    passed = result.testsRun - failed - skipped
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
