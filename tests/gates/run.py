#!/usr/bin/env python3
"""Run the gates: source rules that a compiler does not check.

A gate is a file gate_NAME.py with `faults(tree)`, which yields one line per fault, and SEEDS: faults to plant, each
with the text that its report must contain.

  run.py               every gate over the tree
  run.py NAME...       some gates
  run.py --selftest    copies the tree, checks that the clean copy passes, plants each seed and checks its report
"""
import argparse
import importlib
import os
import shlex
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from tree import Tree  # noqa: E402


def gates(names):
    found = sorted(f[len("gate_"):-3] for f in os.listdir(HERE) if f.startswith("gate_"))
    return {name: importlib.import_module("gate_" + name) for name in names or found}


def run_gate(name, gate, tree):
    tree.note = ""
    try:
        found = list(gate.faults(tree))
    except Exception as why:  # an exception in one gate must not hide the others
        found = [f"{type(why).__name__}: {why}"]
    for fault in found:
        print(f"  {fault}")
    print(f"{'FAILED' if found else 'ok':6} {name}{': ' + tree.note if tree.note else ''}", flush=True)
    return not found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(HERE)))
    parser.add_argument("--build", default="build", help="build folder, relative to the root")
    parser.add_argument("--selftest", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    tree = Tree(args.root, args.build, os.environ.get("CC", "cc"), os.environ.get("CXX", "c++"),
                shlex.split(os.environ.get("GATE_CFLAGS", "-std=c11 -D_GNU_SOURCE -Ilib -I.")))
    if args.selftest:
        import selftest
        return selftest.run(tree, gates(args.names))
    results = [run_gate(name, gate, tree) for name, gate in gates(args.names).items()]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
