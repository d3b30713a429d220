#!/usr/bin/env python3
"""Differential tests on random runs: the program against independent implementations.

    run.py --build build [--seed N] [--runs N] [--only CASE] [--first N] [--keep FOLDER]

Seed, case and number identify a run: --seed, --only, --first and --runs 1 repeat a failure; --keep keeps its files.
Prints the number of passed runs; exits with 1 on any failure.
"""
import argparse
import importlib.util
import os
import shutil
import sys
import tempfile
import time
import traceback

# The position in this list is part of a run's seed: append new cases.
CASES = ("scores", "measures", "streams", "profiles", "scales", "joined", "remedies", "numbers", "trained", "items")
OF_REFERENCE = ("measures", "remedies", "trained")
ALSO_OF_REFERENCE = ("scores",)                # have another comparison as well
OF_YAML = ("scales",)                          # read a manifest written by the program
LONG = ("streams", "joined", "items")          # whole streams: a quarter of the runs, unless selected
DEBIAN = "/usr/bin/python3"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--runs", type=int, default=20, help="of each case")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", choices=CASES)
    parser.add_argument("--keep", help="leave the files of what failed there")
    return parser.parse_args()


def one(case, args, number, folder):
    """Return (whether the run passed, its distance to its bound); prints differences."""
    import numpy as np
    from world import Difference, World
    w = World(os.path.abspath(os.path.join(args.build, "evenkeel")), folder,
              np.random.default_rng([args.seed, CASES.index(case), number]))
    try:
        return True, importlib.import_module("case_" + case).run(w) or 0
    except Difference as difference:
        print(f"FAILED {case}: {difference}")
    except Exception:           # an error of the case, or unreadable output: reported, and the others run
        print(f"FAILED {case}:")
        traceback.print_exc(file=sys.stdout)
    print(f"  again: --seed {args.seed} --only {case} --first {number} --runs 1", flush=True)
    return False, 0


def why_not(case):
    """Return the reason to skip a case, or None."""
    if case in OF_REFERENCE and not os.environ.get("EK_REFERENCE"):
        return "EK_REFERENCE names no folder"
    if case in OF_YAML and not importlib.util.find_spec("yaml"):
        return "there is no PyYAML"
    return None


def runs_of(case, args):
    """Return (passed, failed) of the runs of one case."""
    passed, worst = 0, 0
    runs = max(args.runs // 4, 1) if case in LONG and not args.only else args.runs
    for number in range(args.first, args.first + runs):
        with tempfile.TemporaryDirectory() as folder:
            good, share = one(case, args, number, folder)
            if args.keep and not good:
                shutil.copytree(folder, os.path.join(args.keep, f"{case}-{args.seed}-{number}"), dirs_exist_ok=True)
        passed, worst = passed + good, max(worst, share)
    print(f"{case}: {runs} runs" + (f", at most {worst:.2g} of the bound" if worst else "")
          + (", not against the reference" if case in ALSO_OF_REFERENCE and not os.environ.get("EK_REFERENCE") else ""), flush=True)
    return passed, runs - passed


def main():
    args = arguments()
    if not importlib.util.find_spec("numpy"):
        if os.path.exists(DEBIAN) and sys.executable != DEBIAN:
            os.execv(DEBIAN, [DEBIAN, "-B", *sys.argv])
        print("skipped: there is no numpy\n0 passed, 0 failed, 1 skipped")
        return 0
    if args.seed is None:
        args.seed = int(time.time())
    print(f"seed {args.seed}", flush=True)
    passed = failed = skipped = 0
    for case in [args.only] if args.only else CASES:
        if why := why_not(case):
            print(f"skipped: {case}, {why}")
            skipped += 1
            continue
        good, bad = runs_of(case, args)
        passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.exit(main())
