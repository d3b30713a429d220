#!/usr/bin/env python3
"""Run the tests of a folder (default: this one), test_*.py with unittest, and print skipped tests with reasons.

    python3 tests/exchange/run.py BUILD [FOLDER]
"""
import os
import sys
import unittest

# pip compiles no module of an environment (tests/python_env.sh), but the first import of each does.
sys.dont_write_bytecode = sys.prefix == sys.base_prefix
HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    os.environ["BUILD"] = os.path.abspath(sys.argv[1])
    folder = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else HERE
    suite = unittest.defaultTestLoader.discover(folder, "test_*.py", top_level_dir=folder)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite)
    for test, why in result.skipped:
        print(f"skipped: {test}: {why}")
    # Several parts of one test may fail.
    failed = len({getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors})
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    return 1 if failed or not result.testsRun else 0


sys.exit(main())
