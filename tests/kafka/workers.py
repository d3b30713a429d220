"""Distribution of test classes to worker processes, as tests mostly wait.

Each worker has its own world with a broker, so that a test may crash its broker. A free worker gets the next class,
largest first, so that all end at about the same time. Classes that need a further broker (NEEDS) run in the worker
that started it.
"""
import collections
import contextlib
import io
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import fixtures
import timed

COUNT = 3
LOCK = multiprocessing.Lock()
Outcome = collections.namedtuple("Outcome", "run failed skipped")


class Told(io.StringIO):
    """Output of a test, printed at its end in one piece."""

    def writeln(self, text=""):
        self.write(text + "\n")

    def out(self):
        with LOCK:
            print(self.getvalue(), end="", file=sys.__stdout__, flush=True)
        self.seek(0)
        self.truncate()


class Result(timed.Timed):
    def stopTest(self, test):
        super().stopTest(test)
        self.stream.out()


def run(suite):
    told = Told()
    result = Result(told, True, 2)
    with contextlib.redirect_stdout(told):
        suite.run(result)
    result.printErrors()
    told.out()
    failed = {getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors}  # of a subtest its test
    return Outcome(result.testsRun, len(failed), len(result.skipped))


def work(suites, modules, orders):
    """Worker: run the suites whose numbers it receives."""
    with contextlib.closing(fixtures.World()) as world:
        for module in modules:
            module.WORLD = world
        world.prepare()
        world.broker.up()
        while (which := orders.recv()) is not None:
            orders.send(run(suites[which]))


class Shared:
    """Suites and their workers."""

    def __init__(self, suites, modules):
        self.suites, self.modules = suites, modules
        self.left = sorted(range(len(suites)), key=lambda which: (self.needs(which) is None, -suites[which].countTestCases()))
        self.owner, self.busy, self.outcomes = {}, {}, []

    def needs(self, which):
        return next((getattr(test, "NEEDS", None) for test in self.suites[which]), None)

    def begin(self):
        ours, its = multiprocessing.Pipe()
        process = multiprocessing.Process(target=work, args=(self.suites, self.modules, its))
        process.start()
        its.close()  # so that its end is detected
        self.give(ours)
        return process

    def give(self, worker):
        """Send the next suite to a worker, or None if none is left."""
        which = next((w for w in self.left if self.owner.setdefault(self.needs(w) or w, worker) is worker), None)
        if which is not None:
            self.left.remove(which)
            self.busy[worker] = which
        with contextlib.suppress(OSError):  # it has ended, which the wait for its result reports
            worker.send(which)

    def take(self, worker):
        which = self.busy.pop(worker)
        try:
            self.outcomes.append(worker.recv())
        except (EOFError, OSError):
            self.fail(which, "its worker ended")
            return
        self.give(worker)

    def fail(self, which, why):
        count = self.suites[which].countTestCases()
        print(f"FAILED {self.suites[which]}: {why}", flush=True)
        self.outcomes.append(Outcome(count, count, 0))

    def finish(self):
        while self.busy:
            for worker in multiprocessing.connection.wait(list(self.busy)):
                self.take(worker)
        for which in self.left:
            self.fail(which, "nobody was left to run it")


def share(suites, modules, count):
    """Run all suites and return the total."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # unlike SystemExit it ends a test, too
    shared, processes = Shared(suites, modules), []
    try:
        for _ in range(min(count, len(suites))):
            processes.append(shared.begin())
        shared.finish()
    except BaseException as failure:
        for process in processes:
            process.terminate()
        if isinstance(failure, KeyboardInterrupt):
            sys.exit(1)
        raise
    finally:
        for process in processes:
            process.join()
    return Outcome(*map(sum, zip(*shared.outcomes)))
