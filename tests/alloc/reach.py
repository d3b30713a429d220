#!/usr/bin/env python3
"""Check that a sweep made an allocation fail in every source file that allocates.

    reach.py unswept.txt SITES PROGRAM [SITES PROGRAM...]

SITES has the addresses that sites.c wrote for that program. A file that no sweep reaches needs a line `FILE: REASON`
in unswept.txt; an obsolete line is an error. --list also prints the calls that no sweep reached; their source lines
may be off by one or two.
"""
import collections
import glob
import re
import subprocess
import sys

CALL = re.compile(r"\bek_(?:calloc|realloc|calloc_aligned|strndup|strdup)\s*\(")
PLACE = re.compile(r"((?:lib|daemon)/[\w/]+\.(?:c|cc|h)):(\d+)")
ITSELF = ("lib/base/alloc.c",)


def calls():
    """Return the lines of the calls by file."""
    found = collections.defaultdict(list)
    for pattern in ("lib/**/*.c", "lib/**/*.cc", "daemon/**/*.c"):
        for name in sorted(glob.glob(pattern, recursive=True)):
            for number, line in enumerate(open(name), 1):
                if CALL.search(line) and not line.lstrip().startswith(("*", "/*")) and name not in ITSELF:
                    found[name].append(number)
    return found


def reached(sites, program):
    try:
        addresses = sorted(set(open(sites).read().split()))
    except FileNotFoundError:
        return set()
    said = subprocess.run(["addr2line", "-i", "-e", program], input="\n".join(addresses), capture_output=True,
                          text=True, check=True).stdout
    return {(m.group(1), int(m.group(2))) for m in map(PLACE.search, said.splitlines()) if m}


def exceptions(name):
    lines = (line.strip() for line in open(name))
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def main(words):
    listing = "--list" in words
    words = [w for w in words if w != "--list"]
    known, there = exceptions(words[0]), calls()
    hit = set().union(*(reached(s, p) for s, p in zip(words[1::2], words[2::2])))
    files = {name for name, _ in hit}
    faults = [f"{name}:{there[name][0]}: no sweep makes its memory run out; add one to tests/alloc, or a reason to {words[0]}"
              for name in there if name not in files and name not in known]
    faults += [f"{words[0]}: {name} {'is swept' if name in files else 'asks for no memory'}: the line can go"
               for name in known if name in files or name not in there]
    if listing:
        for name, lines in there.items():
            left = [n for n in lines if not any((name, n + d) in hit for d in (-1, 0, 1, 2))]
            if left:
                print(f"{name}: {' '.join(map(str, left))}")
    for fault in faults:
        print(f"FAILED {fault}")
    print(f"{len(there) - len(known)} of {len(there)} files that ask for memory are swept")
    print(f"{0 if faults else 1} passed, {len(faults)} failed")
    return 1 if faults else 0


sys.exit(main(sys.argv[1:]))
