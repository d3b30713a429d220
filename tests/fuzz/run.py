#!/usr/bin/env python3
"""Run fuzz targets in turn and print the results as a table (docs/dev/fuzzing.md).

usage: run.py --build FOLDER [--time SECONDS] [--afl] [--watch] TARGET...

New inputs are collected in build/fuzz-corpus/TARGET (AFL++: build/afl-corpus/TARGET), findings next to them as
TARGET-KIND-HASH. Exits with 1 on a finding.
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

SEEDS = Path("tests/fuzz/corpus")
DICTIONARIES = Path("tests/fuzz/dict")
# Small quarantine: an input frees little, and fresh pages cost time.
OPTIONS = {
    "ASAN_OPTIONS": "abort_on_error=1:quarantine_size_mb=32",
    "UBSAN_OPTIONS": "abort_on_error=1:print_stacktrace=1",
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    "AFL_NO_UI": "1",
}
AFL_OPTIONS = {"ASAN_OPTIONS": "abort_on_error=1:symbolize=0:detect_leaks=0"}  # required by AFL++
COLUMNS = "{:<10} {:>12} {:>8} {:>7} {:>9} {:>7} {:>9}"


def arguments():
    p = argparse.ArgumentParser(description="Run fuzz targets in turn.")
    p.add_argument("--build", required=True, type=Path)
    p.add_argument("--time", type=int, default=60, help="seconds for each target")
    p.add_argument("--afl", action="store_true", help="by AFL++")
    p.add_argument("--watch", action="store_true", help="show what the engine says")
    p.add_argument("targets", nargs="+")
    return p.parse_args()


def dictionary(target):
    return DICTIONARIES / f"{target}.dict"


def findings(folder, target):
    return {p.name for p in folder.glob(f"{target}-*") if p.is_file()}


def number(pattern, text):
    found = re.findall(pattern, text)
    return found[-1] if found else "-"


def by_libfuzzer(args, target):
    corpus = Path("build/fuzz-corpus") / target
    corpus.mkdir(parents=True, exist_ok=True)
    command = [args.build / "libfuzzer" / target, f"-max_total_time={args.time}", "-timeout=10",
               "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={corpus}-"]
    if dictionary(target).exists():
        command.append(f"-dict={dictionary(target)}")
    before = findings(corpus.parent, target)
    log = corpus.parent / f"{target}.log"
    with open(log, "w", encoding="utf-8", errors="replace") as out:
        run = subprocess.Popen([str(word) for word in command + [corpus, SEEDS / target]],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace")
        for line in run.stdout:
            out.write(line)
            if args.watch:
                print(line, end="", flush=True)
        ended = run.wait()
    text = log.read_text(encoding="utf-8", errors="replace")
    new = findings(corpus.parent, target) - before
    return {"done": number(r"number_of_executed_units: (\d+)", text),
            "rate": number(r"average_exec_per_sec: +(\d+)", text),
            "edges": number(r"cov: (\d+)", text), "features": number(r"ft: (\d+)", text),
            "corpus": len(list(corpus.iterdir())), "new": sorted(new), "log": log,
            "bad": bool(new) or ended != 0}


def by_afl(args, target):
    out = Path("build/afl-corpus") / target
    out.mkdir(parents=True, exist_ok=True)
    command = ["afl-fuzz", "-i", "-" if (out / "default").exists() else SEEDS / target, "-o", out,
               "-V", args.time, "-m", "none", "-t", "5000"]
    if dictionary(target).exists():
        command += ["-x", dictionary(target)]
    crashes = out / "default" / "crashes"
    before = set(crashes.glob("id*"))
    log = out.parent / f"{target}.log"
    with open(log, "wb") as file:
        ended = subprocess.run([str(word) for word in command + ["--", args.build / "afl" / target]],
                               stdout=file, stderr=subprocess.STDOUT, check=False).returncode
    stats = out / "default" / "fuzzer_stats"
    text = stats.read_text() if stats.exists() else ""
    new = set(crashes.glob("id*")) - before
    return {"done": number(r"execs_done +: (\d+)", text), "rate": number(r"execs_per_sec +: (\d+)", text),
            "edges": number(r"edges_found +: (\d+)", text), "features": "-",
            "corpus": number(r"corpus_count +: (\d+)", text), "new": sorted(str(p) for p in new),
            "log": log, "bad": bool(new) or ended != 0}


def main():
    args = arguments()
    os.environ.update(OPTIONS | (AFL_OPTIONS if args.afl else {}))
    run = by_afl if args.afl else by_libfuzzer
    bad = done = 0
    print(COLUMNS.format("target", "executions", "per s", "edges", "features", "corpus", "findings"))
    for target in args.targets:
        r = run(args, target)
        print(COLUMNS.format(target, r["done"], r["rate"], r["edges"], r["features"], r["corpus"],
                             len(r["new"]) or ("?" if r["bad"] else 0)), flush=True)
        for name in r["new"]:
            print(f"  finding: {name}")
        if r["bad"]:
            print(f"  see {r['log']}")
        bad += r["bad"]
        done += int(r["done"]) if r["done"] != "-" else 0
    print(COLUMNS.format("all", done, "", "", "", "", f"{bad} bad" if bad else 0))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
