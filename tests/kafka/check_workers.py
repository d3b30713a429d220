#!/usr/bin/env python3
"""If a test worker dies, its tests fail and all others still run. Needs no broker."""
import contextlib
import io
import os
import signal
import sys
import unittest

sys.dont_write_bytecode = True

import workers


class World:
    """World without processes."""

    class broker:
        up = staticmethod(lambda: None)

    def __init__(self):
        self.broker = World.broker

    def prepare(self):
        if os.environ.get("NO_WORLD"):
            sys.exit(1)

    def close(self):
        pass


class Dies(unittest.TestCase):
    def test_in_it(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Passes(unittest.TestCase):
    def test_it(self):
        pass


class Fails(unittest.TestCase):
    def test_it(self):
        self.fail("on purpose")

    def test_passes(self):
        pass


class FailsTwice(unittest.TestCase):
    def test_it(self):
        for number in range(2):
            with self.subTest(number):
                self.fail("on purpose")


class Skips(unittest.TestCase):
    NEEDS = "what is not there"

    def test_it(self):
        self.skipTest("on purpose")


def outcome(*classes, count=2):
    suites = [unittest.TestLoader().loadTestsFromTestCase(c) for c in classes]
    told, out = io.StringIO(), sys.__stdout__
    try:
        sys.__stdout__ = io.StringIO()
        with contextlib.redirect_stdout(told):
            return tuple(workers.share(suites, [], count))
    finally:
        sys.__stdout__ = out


def main():
    workers.fixtures.World = World
    cases = [("all of them run", outcome(Passes, Fails, Skips, Passes), (5, 1, 1)),
             ("one that ends in a test costs that class", outcome(Dies, Passes, Passes, Passes), (4, 1, 0)),
             ("when all have ended the rest has failed", outcome(Dies, Dies, Passes, Passes), (4, 4, 0)),
             ("a test whose subtests fail counts once", outcome(FailsTwice), (1, 1, 0)),
             ("fewer classes than workers", outcome(Passes), (1, 0, 0))]
    os.environ["NO_WORLD"] = "1"
    cases.append(("those that cannot begin have failed", outcome(Passes, Passes), (2, 2, 0)))
    bad = 0
    for name, got, wanted in cases:
        bad += got != wanted
        print(f"{'ok  ' if got == wanted else 'FAIL'} {name}" + (f": {got}, not {wanted}" if got != wanted else ""))
    print(f"{len(cases) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
