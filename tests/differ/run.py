#!/usr/bin/env python3
"""Differential tests of fresh random runs: the program against other programs that say the same.

    run.py --build build [--seed N] [--runs N] [--only CASE] [--first N] [--keep FOLDER]

A run is known by the seed, the case and its number, so what failed is seen again with --seed, --only, --first and
--runs 1; --keep leaves its files. Prints how many runs passed; ends with 1 when any failed.
"""
import argparse
import importlib.util
import os
import shutil
import sys
import tempfile
import time
import traceback

# The place in this list is a part of a run's seed: new ones go to its end.
CASES = ("scores", "measures", "streams", "profiles", "scales", "joined", "remedies", "numbers", "trained", "items")
OF_REFERENCE = ("measures", "remedies", "trained")
ALSO_OF_REFERENCE = ("scores",)                # hold to something else as well
OF_YAML = ("scales",)                          # read a manifest that the program has written
LONG = ("streams", "joined", "items")          # of whole streams: a quarter of the runs, unless they are asked for
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
    """-> (whether the run passed, how close to its bound it came); tells what differs."""
    import numpy as np
    from world import Difference, World
    w = World(os.path.abspath(os.path.join(args.build, "evenkeel")), folder,
              np.random.default_rng([args.seed, CASES.index(case), number]))
    try:
        return True, importlib.import_module("case_" + case).run(w) or 0
    except Difference as difference:
        print(f"FAILED {case}: {difference}")
    except Exception:           # a fault of the case, or an output that cannot be read: told, and the others go on
        print(f"FAILED {case}:")
        traceback.print_exc(file=sys.stdout)
    print(f"  again: --seed {args.seed} --only {case} --first {number} --runs 1", flush=True)
    return False, 0


def why_not(case):
    """Why a case has to be skipped, or None."""
    if case in OF_REFERENCE and not os.environ.get("EK_REFERENCE"):
        return "EK_REFERENCE names no folder"
    if case in OF_YAML and not importlib.util.find_spec("yaml"):
        return "there is no PyYAML"
    return None


def runs_of(case, args):
    """-> (passed, failed) of the runs of one case"""
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
