#!/usr/bin/env python3
"""Run the simulations and check the documented results: scaling.py BUILD [docs/scaling.md]

With a document it writes their values at its markers.
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs"))
import document  # noqa: E402
from document import table  # noqa: E402

INSTANCES = 100


def lines(build, name):
    program = os.path.join(build, "tests", "sim", name)
    return [json.loads(line) for line in subprocess.run([program], check=True, stdout=subprocess.PIPE).stdout.splitlines()]


def size(count):
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} B"


def delays(runs):
    return table(["fault", "suspected", "confirmed", "first instance", "all instances", "plans that came late", "lists scored apart"],
                 [[run["case"], *(f"{run[key]:.1f} s" if run[key] >= 0 else "-" for key in ("suspected_s", "confirmed_s", "first_s", "all_s")),
                   str(run["late"]), str(run["apart"])] for run in runs])


def sizes(runs):
    rows = []
    for run in runs:
        each = run["bytes"] / run["features"] / run["cells"]
        rows.append([str(run["features"]), str(run["cells"]), size(run["bytes"]), f"{each:.0f}", size(run["zstd"]),
                     f"{size(INSTANCES * run['bytes'])}/s", f"{run['take_ms']:.2f} ms"])
    return table(["item features", "segments", "a report", "bytes per feature and segment", "as zstd", f"{INSTANCES} instances, a report a second",
                  "the leader merges one in"], rows)


FOUND = re.compile(r"^eight instances find (.+) in ([\d.]+) lists each, on average; to be held: (\d+)$", re.M)
ALONE = re.compile(r"one instance finds x2 in ([\d.]+) lists alone, ([\d.]+) in a fleet; x1.2 in ([\d.]+) and ([\d.]+)")


def finds(build):
    """Return the delays that the fleet tests print."""
    run = subprocess.run([os.path.join(build, "tests", "prop-tests")], env={**os.environ, "CK_RUN_SUITE": "fleet"}, check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    two, two_fleet, fifth, fifth_fleet = ALONE.search(run).groups()
    rows = [[f"{fault} everywhere", "the sums of all", lists, held] for fault, lists, held in FOUND.findall(run)]
    rows += [["x2 on one instance", "that instance", two_fleet, f"{two} alone"],
             ["x1.2 on one instance", "that instance", fifth_fleet, f"{fifth} alone"]]
    return table(["fault", "found by", "lists of each instance", "to be held"], rows)


def faults(runs):
    """Return the violated requirements of each run."""
    for run in runs:
        for key in ("confirmed_s", "all_s"):
            if run[key] < 0:
                yield f"{run['case']}: never {key}"
        if run["apart"]:
            yield f"{run['case']}: {run['apart']} lists of one moment were scored under two plans"


def main():
    build = sys.argv[1]
    fleet, ticks = lines(build, "fleet"), lines(build, "ticks")
    wrong = list(faults(fleet))
    for sentence in wrong:
        print(f"FAILED {sentence}")
    if len(sys.argv) > 2:
        document.write(sys.argv[2], {"finds": finds(build), "delays": delays(fleet), "sizes": sizes(ticks)})
    print(f"{len(fleet) + len(ticks) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


sys.exit(main())
