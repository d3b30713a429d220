#!/usr/bin/env python3
"""Statistics of the source tree: sizes, modules, folders, exports, functions.

usage: house.py [--build FOLDER]

With --build, exports are counted from the object files there.
"""
import argparse
import collections
import os
import subprocess
import sys

import gate_layers
import gate_size
from tree import Tree

TOOLS = "daemon/tools"
OFFLINE = ("lib/offline", "lib/text")
MODULES_IN_FOLDER = 26


def is_vendored(name):
    return name.startswith("lib/vendor/")


def sources(tree):
    return [n for n in tree.files("*.c", "*.cc", "*.h", folders=("lib", "daemon")) if not is_vendored(n)]


def part_of(name):
    if name.startswith(TOOLS):
        return "tools"
    if name.startswith(OFFLINE):
        return "offline"
    return name.split("/")[0]


def count_lines(tree):
    lines = collections.Counter()
    for name in sources(tree):
        lines[part_of(name)] += tree.text(name).count("\n")
    return lines


def modules(tree):
    """Return the modules by folder: the sources, each with its header if any."""
    found = collections.defaultdict(set)
    for name in sources(tree):
        if name.endswith(".h"):
            continue
        found[os.path.dirname(name)].add(os.path.splitext(os.path.basename(name))[0])
    return found


def folder_graph(tree):
    """Return the included folders by folder."""
    graph = collections.defaultdict(set)
    for name in sources(tree):
        here = os.path.dirname(name)
        graph[here].update(())
        for _, included in gate_layers.includes(tree, name):
            home = gate_layers.home_of(included, here, tree)
            if home is not None and home != here:
                graph[here].add(home)
    return graph


def cycle_of(graph):
    """Return one cycle as a list of folders, empty if none."""
    state, path = {}, []

    def visit(folder):
        state[folder] = 1
        path.append(folder)
        for other in sorted(graph.get(folder, ())):
            if state.get(other) == 1:
                return path[path.index(other):] + [other]
            if other not in state:
                found = visit(other)
                if found:
                    return found
        path.pop()
        state[folder] = 2
        return []

    for folder in sorted(graph):
        if folder not in state:
            found = visit(folder)
            if found:
                return found
    return []


def function_lengths(tree):
    """Return the line counts of all functions of the product, including heads and braces."""
    return sorted(length for name in sources(tree) if name.endswith(".c")
                  for length, *_ in gate_size.c_functions(tree, name))


def object_symbols(path):
    out = subprocess.run(["nm", "-P", path], capture_output=True, text=True, check=True).stdout
    defined, used = set(), set()
    for line in out.splitlines():
        name, kind = line.split()[:2]
        if kind == "T":
            defined.add(name)
        elif kind == "U":
            used.add(name)
    return defined, used


def count_exports(tree, build):
    """Return the number of exported functions, and of those called by exactly one other file."""
    callers, defined = collections.Counter(), set()
    for name in sources(tree):
        if name.endswith(".h"):
            continue
        path = os.path.join(tree.root, build, os.path.splitext(name)[0] + ".o")
        if os.path.exists(path):
            own, used = object_symbols(path)
            defined |= own
            callers.update(used - own)
    defined = {n for n in defined if n.startswith("ek_")}
    return len(defined), sum(callers[n] == 1 for n in defined)


def linked_lines(tree, build):
    """Return the lines of the modules of lib/ of which libevenkeel.so has a function, with their headers."""
    shared = os.path.join(tree.root, build, "libevenkeel.so")
    if not os.path.exists(shared):
        return "not built"
    out = subprocess.run(["nm", "-P", shared], capture_output=True, text=True, check=True).stdout
    linked = {line.split()[0] for line in out.splitlines() if line.split()[1] in "tT"}
    lines = 0
    for name in sources(tree):
        base = os.path.splitext(name)[0]
        path = os.path.join(tree.root, build, base + ".o")
        if part_of(name) != "lib":
            continue
        if os.path.exists(path):
            own, _ = object_symbols(path)
            if not own & linked:
                continue
        lines += tree.text(name).count("\n")
    return lines


def table(tree, build):
    lines, folders, lengths = count_lines(tree), modules(tree), function_lengths(tree)
    graph = folder_graph(tree)
    largest = max(folders, key=lambda f: len(folders[f]))
    yield "lines, daemon/ without tools", lines["daemon"]
    yield "lines, daemon/tools", lines["tools"]
    yield "lines, lib/ of libevenkeel", lines["lib"]
    if build:
        yield "of them of modules linked into it", linked_lines(tree, build)
    yield "lines, lib/offline and lib/text", lines["offline"]
    yield "modules", sum(map(len, folders.values()))
    yield "folders", len(folders)
    yield "modules in the largest folder", f"{len(folders[largest])} ({largest})"
    yield "includes between folders", sum(map(len, graph.values()))
    yield "cycle of folders", " -> ".join(cycle_of(graph)) or "none"
    yield "function lines, median / p95 / longest", \
        f"{lengths[len(lengths) // 2]} / {lengths[len(lengths) * 95 // 100]} / {lengths[-1]}"
    if build:
        exports, single = count_exports(tree, build)
        yield "exported functions", exports
        yield "of them with one calling file", f"{single} ({100 * single / exports:.0f}%)" if exports else "not built"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=".")
    parser.add_argument("--build")
    args = parser.parse_args()
    for label, value in table(Tree(args.root), args.build):
        print(f"{label:42} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
