#!/usr/bin/env python3
"""Time of `evenkeel check` for large files: peers/check.py BUILD RESULTS [--rounds N]

136 and 2,048 features with their own settings, checked against their manifest, including process start. Also the CPU
time, user and system, for 1,000 features and 200 pins.
"""
import os
import resource
import statistics
import subprocess
import tempfile
import time

from record import Bench, words


def write(folder, features, pins=0):
    manifest, rules = os.path.join(folder, f"features-{features}.yaml"), os.path.join(folder, f"rules-{features}.yaml")
    with open(manifest, "w", encoding="ascii") as out:
        out.write("version: 1\nfeatures:\n")
        out.writelines(f"  - {{name: f{i}, index: {i}, role: item, routable: true}}\n" for i in range(1, features + 1))
    with open(rules, "w", encoding="ascii") as out:
        out.write("version: 1\nsegments: [arm]\ndefaults: {mode: observe}\nfeatures:\n")
        out.writelines(f"  f{i}: {{mode: enforce, report_threshold: 1.05, units: [cents, thousands], actions: {{sign: alert}}}}\n"
                       for i in range(1, features + 1))
        out.write("pins:\n" if pins else "")
        out.writelines(f"  - {{feature: f{i}, segment: {{arm: B}}, action: route, until: 2027-01-31, reason: known}}\n"
                       for i in range(1, pins + 1))
    return manifest, rules


def seconds(words):
    began = time.perf_counter()
    subprocess.run(words, check=True, capture_output=True)
    return time.perf_counter() - began


def processor_seconds(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    args = words(__doc__, rounds=20)
    program, bench = os.path.join(args.build, "evenkeel"), Bench("check", args.results)
    with tempfile.TemporaryDirectory() as folder:
        for features in (136, 2048):
            manifest, rules = write(folder, features)
            whole = [seconds([program, "check", "--manifest", manifest, rules]) for _ in range(args.rounds)]
            bare = [seconds([program, "--version"]) for _ in range(args.rounds)]
            case = f"check of rules, {features} features with settings of their own"
            bench.case(case, "ms", 1e3 * statistics.median(whole),
                       {"limit: the start of the program": 1e3 * statistics.median(bare)})
        manifest, rules = write(folder, 1000, pins=200)
        whole = [processor_seconds([program, "check", "--manifest", manifest, rules]) for _ in range(args.rounds)]
        bare = [processor_seconds([program, "--version"]) for _ in range(args.rounds)]
        bench.case("check of rules, 1000 features and 200 pins, processor time", "ms", 1e3 * statistics.median(whole),
                   {"limit: the start of the program": 1e3 * statistics.median(bare)})


if __name__ == "__main__":
    main()
