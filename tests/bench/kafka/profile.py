#!/usr/bin/env python3
"""CPU profile of `evenkeel run` at saturation: kafka/profile.py BUILD RESULTS [--messages N]

`perf` samples the program while it processes a full topic. Prints the percentage of all samples per function, with its
library, and per library.
"""
import os
import re
import shutil
import subprocess

import place as at
from place import Place, Stage

from record import Bench, words

FUNCTIONS = 20
LINE = re.compile(r"\s*([\d.]+)%\s+(\S+)\s+\[(.)\]\s+(\S+)")


def report(data):
    """Return [(percent, library, function)], the kernel as one library."""
    told = subprocess.run(["perf", "report", "-i", data, "--stdio", "--no-children", "-g", "none", "-F", "overhead,dso,sym"],
                          capture_output=True, text=True, check=True).stdout
    found = [LINE.match(line) for line in told.splitlines()]
    return [(float(m[1]), "kernel" if m[3] == "k" else re.sub(r"\.so.*|-\d.*", "", m[2]), m[4]) for m in found if m]


def tell(bench, title, rows):
    libraries = {}
    for share, library, _ in rows:
        libraries[library] = libraries.get(library, 0) + share
    for name, share in sorted(libraries.items(), key=lambda x: -x[1])[:6]:
        bench.line(f"{title}, all of {name}", "%", share, None, None)
    named = [r for r in rows if not r[2].startswith("0x")]  # a library without symbols is in its sum
    for share, library, function in sorted(named, reverse=True)[:FUNCTIONS]:
        bench.line(f"{title}, {re.sub('[.@].*', '', function)} ({library})", "%", share, None, None)


def sample(place, build, title, faulty, args):
    n = args.messages
    source, target = place.stream(n, "bin", n // 10 if faulty else None), place.topic()
    data = os.path.join(place.folder, "perf.data")
    run = at.run_of(build)
    with Stage(place, run, source, target) as stage:
        at.throughput(place, stage, n // 10, n * 3 // 10)
        perf = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "-o", data, "-p", str(stage.process.pid)])
        at.throughput(place, stage, n * 4 // 10, n * 95 // 100)
        perf.send_signal(2)
        perf.wait(timeout=60)
    tell(Bench("perf", args.results), title, report(data))
    place.delete(source)
    place.delete(target)


def main():
    args = words(__doc__, messages=60000)
    if not shutil.which("perf"):
        print("perf: skipped, no perf")
        return
    with Place(args.build) as place:
        sample(place, args.build, "nothing routed", False, args)
        sample(place, args.build, "5 features routed", True, args)


if __name__ == "__main__":
    main()
