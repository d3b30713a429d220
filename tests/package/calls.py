"""calls.py UNIT TRACE...: check that the unit's filter allows the program's system calls. A TRACE is the output of
`strace -f -c -o`."""
import re
import subprocess
import sys


def members(word):
    """Return the system calls of a set, or the one."""
    if not word.startswith("@"):
        return {word}
    said = subprocess.run(["systemd-analyze", "syscall-filter", word], capture_output=True, text=True, check=True).stdout
    found = set()
    for line in map(str.strip, said.splitlines()[1:]):
        if line and not line.startswith("#"):
            found |= members(line)
    return found


def let_through(unit):
    """Evaluate the lines like systemd: the first sets the default, a ~ removes."""
    found = set()
    with open(unit, encoding="utf-8") as f:
        for line in re.findall(r"^SystemCallFilter=(.*)", f.read(), re.M):
            named = set().union(*map(members, line.lstrip("~").split()))
            found = found - named if line.startswith("~") else found | named
    return found


def called(trace):
    """Rows: share, seconds, microseconds, calls, errors if any, name."""
    with open(trace, encoding="utf-8") as f:
        rows = [row.split() for row in f]
    return {row[-1] for row in rows if len(row) >= 5 and re.fullmatch(r"\d+\.\d+", row[0]) and row[-1] != "total"}


def main():
    unit, *traces = sys.argv[1:]
    used = set().union(*map(called, traces))
    refused = sorted(used - let_through(unit))
    print(f"{len(used)} calls, refused: {' '.join(refused) or 'none'}")
    return bool(refused) or len(used) < 30


sys.exit(main())
