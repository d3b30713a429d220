#!/usr/bin/env python3
"""Comparison with published sketches over the same file of values: peers/sketches.py BUILD RESULTS [--rows N]
[--rounds N]

Each is a separate program that reads the file, adds it to one sketch per feature and segment in repeated passes, and
prints its best pass. They take turns in several rounds. Each must count all values and agree on the median of a
feature. Sketches without their toolchain or registry are reported and skipped.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from record import Bench, words

HERE = os.path.dirname(os.path.abspath(__file__))
MEDIANS_DIFFER = 0.05  # maximum; the coarsest has buckets of 2%, KLL a rank error of 1.3%
JAVA = {"sketches-java, Java": "sketches-java", "DataSketches KLL, Java": "datasketches-kll"}
RUST = {"histogram, Rust": "histogram", "hdrhistogram, Rust": "hdrhistogram", "sketches-ddsketch, Rust": "sketches-ddsketch"}


def run(words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, **more)


def missing(what, why):
    print(f"peers: {what} skipped, {why}", flush=True)
    return {}


def rust(build):
    if not shutil.which("cargo"):
        return missing("Rust", "no cargo")
    target = os.path.join(build, "rust")
    made = run(["cargo", "build", "--release", "--locked", "--manifest-path", os.path.join(HERE, "rust", "Cargo.toml")],
               env={**os.environ, "CARGO_TARGET_DIR": os.path.abspath(target)})
    if made.returncode:
        return missing("Rust", "cargo could not build: " + made.stderr.strip().splitlines()[-1])
    program = os.path.join(target, "release", "time-sketches")
    return {name: (lambda file, segments, seconds, word=word: [program, file, segments, seconds, word])
            for name, word in RUST.items()}


def java_classes(build):
    """Return the class path of peers/java; None with a message if it cannot be built."""
    for program in ("java", "javac", "mvn"):
        if not shutil.which(program):
            return missing("Java", f"no {program}") or None
    target = os.path.abspath(os.path.join(build, "java"))
    shutil.copytree(os.path.join(HERE, "java"), target, dirs_exist_ok=True)
    made = run(["mvn", "-q", "-B", "-f", os.path.join(target, "pom.xml"), "compile", "dependency:copy-dependencies",
                f"-DoutputDirectory={target}/libs"])
    if made.returncode:
        return missing("Java", "Maven could not build: " + (made.stdout.strip().splitlines() or ["?"])[0]) or None
    return f"{target}/target/classes:{target}/libs/*"


def java(build):
    path = java_classes(build)
    return {name: (lambda file, segments, seconds, word=word:
                   ["java", "-Xmx2g", "-cp", path, "TimeSketches", file, segments, seconds, word])
            for name, word in JAVA.items()} if path else {}


def python_of(build):
    """Return a Python with requirements.txt in its own environment; None with a message otherwise."""
    folder, wanted = os.path.join(build, "bench-python"), os.path.join(HERE, "requirements.txt")
    python, stamp = os.path.join(folder, "bin", "python"), os.path.join(folder, "requirements.txt")
    with open(wanted, encoding="ascii") as stream:
        text = stream.read()
    if os.path.exists(stamp) and open(stamp, encoding="ascii").read() == text:
        return python
    made = run([sys.executable, "-m", "venv", folder])
    made = made if made.returncode else run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", wanted])
    if made.returncode:
        return missing("Python", "its packages could not be had") or None
    shutil.copy(wanted, stamp)
    return python


def python(build):
    found = python_of(build)
    return {"DataSketches KLL, Python with numpy":
            lambda file, segments, seconds: [found, "-B", os.path.join(HERE, "time_kll.py"), file, segments, seconds]} \
        if found else {}


def once(name, command, values):
    """Run one turn. Return (ns per value, median); a sketch that lost values ends the benchmark."""
    told = run(command)
    if told.returncode:
        raise SystemExit(f"peers: {name} failed: {told.stderr[-500:]}")
    cost, passes, held, median = map(float, told.stdout.split())
    if held != passes * values:
        raise SystemExit(f"peers: {name} holds {held:.0f} values of {passes * values:.0f}")
    return cost, median


def case(bench, args, file, segments, peers, ours):
    found = {name: [] for name in (None, *peers)}
    for _ in range(args.rounds):
        for name, command in ((None, ours), *peers.items()):
            found[name].append(once(name, command(file, str(segments), str(args.seconds)), args.rows * 136))
    middle = found[None][0][1]
    for name, turns in found.items():
        if abs(turns[0][1] / middle - 1) > MEDIANS_DIFFER:
            raise SystemExit(f"peers: the median is {turns[0][1]} by {name}, {middle} by ours")
    costs = {name: [cost for cost, _ in turns] for name, turns in found.items()}
    mine = costs.pop(None)
    plural = "s" if segments > 1 else ""
    bench.rounds(f"136 features, {segments} segment{plural}, row-major, each a program of its own", "ns/value", mine, costs)


def main():
    args = words(__doc__, rows=40000, rounds=3, seconds=1)
    program = os.path.join(args.build, "tests", "bench", "peers", "time_sketch")
    peers = {**rust(args.build), **java(args.build), **python(args.build)}
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "values")
        subprocess.run([program, "make", file, str(args.rows)], check=True)
        for segments in (1, 8):
            case(Bench("peers", args.results), args, file, segments, peers, lambda *words: [program, *words])


if __name__ == "__main__":
    main()
