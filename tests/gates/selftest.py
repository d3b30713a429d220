"""Does each gate catch what it is for? Plants one fault at a time in a copy of the tree."""
import os
import shutil
import subprocess
import tempfile

from tree import Tree

MAKE = os.environ.get("MAKE", "make").split()[0]


def copy_of(tree, folder):
    """The tree and its build, times included, so that make only builds what a seed touches."""
    ignore = shutil.ignore_patterns(".git", "__pycache__", "check", "demo*", "*.ekp", "*.zst")
    root = os.path.join(folder, "tree")
    shutil.copytree(tree.root, root, ignore=ignore, symlinks=True)
    return Tree(root, tree.build, tree.cc, tree.cxx, tree.cflags)


class Planted:
    """A fault appended to a file (or making it), taken away afterwards."""

    def __init__(self, tree, additions):
        self.tree, self.additions, self.before = tree, additions, []

    def __enter__(self):
        for name, text in self.additions:
            path = self.tree.path(name)
            self.before.append((path, os.path.exists(path) and (open(path, "rb").read(), os.stat(path))))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "a", encoding="utf-8") as f:
                f.write(text)

    def __exit__(self, *_):
        for path, old in self.before:
            if old is False:
                os.remove(path)
                continue
            with open(path, "wb") as f:
                f.write(old[0])


def build(tree):
    subprocess.run([MAKE, "-s", "-k", f"B={tree.build}", f"{tree.build}/libevenkeel.so"], cwd=tree.root,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def found_by(gate, tree):
    if getattr(gate, "NEEDS_BUILD", False):
        build(tree)
    fresh = Tree(tree.root, tree.build, tree.cc, tree.cxx, tree.cflags)
    found = list(gate.faults(fresh))
    return found, getattr(fresh, "note", "").startswith("skipped")


def report(good, name, what, found):
    print(f"{'ok' if good else 'FAILED':6} {name}: {what}", flush=True)
    if not good:
        for fault in found[:10] or ["(no fault found)"]:
            print(f"  {fault}")
    return good


def test_gate(name, gate, tree):
    found, skipped = found_by(gate, tree)
    yield report(not found, name, "the clean tree passes", found)
    if skipped:
        return
    for what, path, text, expected in gate.SEEDS:
        also = getattr(gate, "ALSO", {}).get(what)
        with Planted(tree, [(path, text)] + ([also] if also else [])):
            found, _ = found_by(gate, tree)
        yield report(any(expected in fault for fault in found), name, what + " is caught", found)


def run(tree, gates):
    results = []
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_of(tree, folder)
        for name, gate in gates.items():
            results += test_gate(name, gate, copy)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1
