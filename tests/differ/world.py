"""Common code of the cases: the program in a scratch folder, and the report of a difference."""
import json
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "format"))
import read_capture  # noqa: E402


class Difference(Exception):
    """The two sides differ."""


class World:
    """One run of a case: its random numbers, its folder, the program."""

    def __init__(self, program, folder, rng):
        self.program, self.folder, self.rng = program, folder, rng

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())

    def run(self, *words):
        """Return the standard output of a command that must succeed; a crash is a difference as well."""
        done = subprocess.run([self.program, *map(str, words)], cwd=self.folder, capture_output=True, check=False)
        if done.returncode:
            raise Difference(f"evenkeel {' '.join(map(str, words))}: status {done.returncode}\n{done.stderr.decode()}")
        return done.stdout.decode()

    def json(self, *words):
        return json.loads(self.run(*words, "--json"))

    def raw(self, name):
        """Return the message bytes of a capture or stream."""
        return [record[4] for record in read_capture.records(read_capture.read(self.path(name)))]

    def messages(self, name):
        """Return the messages of a file as dictionaries."""
        found = []
        for raw in self.raw(name):
            message = dict(read_capture.unpack(raw)[0])
            message["items"] = [dict(item) for item in message["items"]]
            found.append(message)
        return found


def expect(condition, what):
    if not condition:
        raise Difference(what)


def close(found, wanted, bound, what):
    """Check that numbers of one shape differ by at most `bound`; NaN equals NaN. Return the largest fraction of the
    bound."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    expect(found.shape == wanted.shape, f"{what}: {found.shape} numbers, expected {wanted.shape}")
    bound = np.broadcast_to(bound, wanted.shape)
    expect(np.isfinite(bound).all(), f"{what}: a bound that is none")
    with np.errstate(invalid="ignore"):
        apart = np.where((found == wanted) | (np.isnan(found) & np.isnan(wanted)), 0, np.abs(found - wanted))
    bad = np.flatnonzero(~(apart <= bound))
    if len(bad):
        i = bad[0]
        raise Difference(f"{what}: number {i} is {found.flat[i]!r}, expected {wanted.flat[i]!r} to {bound.flat[i]:.3g}; "
                         f"{len(bad)} of {found.size} differ")
    with np.errstate(all="ignore"):
        return float(np.nanmax(np.where(apart > 0, apart / bound, 0), initial=0))
