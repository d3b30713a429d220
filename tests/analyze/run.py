#!/usr/bin/env python3
"""Static analysis: run.py TOOL... -- SOURCE... -- FLAG...   (tools: gcc, clang-tidy, cppcheck)

A finding fails unless tests/analyze/known.txt lists it: lines `TOOL CHECK FILE: REASON`, where FILE may be a pattern.
An unused line fails as well if its tool analyzed all sources. A missing tool is reported and skipped. JOBS sets the
number of parallel files. With KEEP=FOLDER the findings of gcc and clang-tidy are cached there (kept.py), so that an
interrupted run resumes.
"""
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
from kept import Kept  # noqa: E402

KNOWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "known.txt")
JOBS = int(os.environ.get("JOBS", os.cpu_count() or 1))

GCC = ["-O1", "-fanalyzer"]
# Off: style; unusedFunction and missingInclude, which need the whole program and its libraries; uninitvar and
# ctuuninitvar, which mistake output parameters for reads (gcc, clang and the sanitizers detect real cases).
CPPCHECK = ["--std=c11", "-q", "-j", str(JOBS), "--enable=warning,performance,portability",
            "--template={file}:{line}: {id}: {message}", "--suppress=*:/usr/*", "--suppress=*:lib/vendor/*",
            "--suppress=uninitvar", "--suppress=ctuuninitvar"]

_GCC = re.compile(r"^([^:\s]+):(\d+):\d+: warning: (.*?) (?:\[CWE-\d+\] )?\[-W([\w-]+)\]$", re.M)
_TIDY = re.compile(r"^([^:\s]+):(\d+):\d+: (?:warning|error): (.*?) \[([\w.,-]+)\]$", re.M)
_CPPCHECK = re.compile(r"^([^:\s]+):(\d+): (\w+): (.*)$", re.M)


def said_by(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr, done.returncode


def gcc(source, flags):
    _, said, status = said_by(["gcc", *flags, *GCC, "-c", "-o", os.devnull, source])
    if status:
        return [(source, 0, "broken", said.splitlines()[0] if said else "gcc failed")]
    return [(f, int(n), check, what) for f, n, what, check in _GCC.findall(said)]


def clang_tidy(source, flags):
    said, more, _ = said_by(["clang-tidy", "--quiet", source, "--", *flags])
    here = os.getcwd() + os.sep
    found = [(f.replace(here, ""), int(n), check, what) for f, n, what, check in _TIDY.findall(said)]
    return found or ([(source, 0, "broken", more.splitlines()[0])] if "error" in more and "generated" not in more else [])


def per_file(tool, look, settings):
    folder = os.environ.get("KEEP")

    def over(sources, flags):
        kept = Kept(folder, tool, settings) if folder else None
        one = (lambda s: kept.look(look, s, flags)) if kept else (lambda s: look(s, flags))
        with ThreadPoolExecutor(JOBS) as pool:
            found = [f for of_file in pool.map(one, sources) for f in of_file]
        if kept and kept.taken:
            print(f"{tool}: {kept.taken} of {len(sources)} files are as they were at the last run")
        return found
    return over


def checks_of(path):
    with open(path, encoding="utf-8") as f:
        return [line for line in f if not line.startswith("#")]


def cppcheck(sources, flags):
    keep = [f for f in flags if f.startswith(("-I", "-D"))]
    with tempfile.NamedTemporaryFile("w", suffix=".list") as names:
        names.write("\n".join(sources))
        names.flush()
        _, said, _ = said_by(["cppcheck", *CPPCHECK, *keep, "--file-list=" + names.name])
    return [(f, int(n), check, what) for f, n, check, what in _CPPCHECK.findall(said)]


TOOLS = {"gcc": per_file("gcc", gcc, GCC), "clang-tidy": per_file("clang-tidy", clang_tidy, checks_of(".clang-tidy")),
         "cppcheck": cppcheck}


def known():
    """Return [(tool, check, pattern)], and faults of the file itself."""
    entries, faults = [], []
    with open(KNOWN, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.strip() and not line.startswith("#"):
                entry = re.fullmatch(r"(\S+) (\S+) ([^\s:]+): (\S.*)\n?", line)
                if entry and entry.group(1) in TOOLS:
                    entries.append(entry.groups()[:3])
                else:
                    faults.append(f"{KNOWN}:{number}: not `TOOL CHECK FILE: REASON`")
    return entries, faults


def judge(tool, found, entries, whole):
    mine = [e for e in entries if e[0] == tool]
    used = set()
    for file, line, check, what in sorted(set(found)):
        fits = [e for e in mine if e[1] == check and fnmatch.fnmatch(file, e[2])]
        used.update(fits)
        if not fits:
            yield f"{file}:{line}: {what} [{tool} {check}]"
    if whole:
        yield from (f"known.txt: nothing is found any more for: {' '.join(e)}" for e in mine if e not in used)


def main():
    words = sys.argv[1:]
    first = words.index("--")
    second = words.index("--", first + 1)
    tools, sources, flags = words[:first], words[first + 1:second], words[second + 1:]
    entries, faults = known()
    passed, failed, skipped = 0, bool(faults), 0
    print("\n".join(faults), end="\n" if faults else "")
    for tool in tools:
        if not shutil.which(tool):
            skipped += 1
            print(f"skipped {tool}: not installed; deploy/deps.sh analyze")
            continue
        found = list(judge(tool, TOOLS[tool](sources, flags), entries, "PART" not in os.environ))
        print("\n".join(found), end="\n" if found else "")
        print(f"{'FAILED' if found else 'ok':6} {tool}, {len(sources)} files", flush=True)
        passed, failed = passed + (not found), failed + bool(found)
    print(f"{passed} passed, {int(failed)} failed" + (f", {skipped} skipped" if skipped else ""))
    return bool(failed)


sys.exit(main())
