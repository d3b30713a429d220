#!/usr/bin/env python3
"""Runs the blocks of the documents in order, in one scratch folder per document.

  ```sh                runs with bash; must exit with 0
  ```sh status=78      must exit with 78
  ```sh needs=a,b      is skipped visibly if `python3` lacks one of these modules
  ```sh broker=a,b     needs a Kafka broker with these topics, which replaces localhost:9092; skipped
                       visibly without one. A server on 127.0.0.1:9464 (or 9465) must become ready,
                       then receives SIGTERM and must exit with 0; its topics are kept until the
                       end of the document
  ```sh broker=a fill=f  first sends the lines of file f to topic a
  ```text output       equals the output of the preceding block of commands; numbers may differ by a
                       tenth, because processors add in different orders
  ```text excerpt      has lines of that output or of standard error, in order; `...` is ignored
  ```text output near=0.001  numbers may differ by that, numbers above 1 by that fraction
  ```sh installed      runs with an installed library for pkg-config and the loader
  ```sh instance=x.yaml  runs in parallel with `evenkeel run -c x.yaml`, without a broker, on a free
                       port
  ```yaml rules.yaml   is written to that file and must pass `evenkeel check`
  ```c client.c        any other language with a file name: is written

A block that only calls make is not run, because it would run this test; its targets must be in `make
help`. Other blocks are ignored. Links between documents must have a target.
"""
import argparse
import contextlib
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
from broker import Broker, free_port  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEAR = 0.1
_COMPARED = ("output", "excerpt")
_FENCE = re.compile(r"^```([^\n`]+)\n(.*?)^```$", re.M | re.S)
BLOCK_SECONDS = 600


class Outcome(Exception):
    """Reason of a failed block."""


class Told:
    """Output of a block, as far as known."""

    def __init__(self, out="", err=""):
        self.out, self.all = out.splitlines(), (out + err).splitlines()


def blocks(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for match in _FENCE.finditer(text):
        language, *words = match.group(1).split()
        yield text.count("\n", 0, match.start()) + 1, language, words, match.group(2)


def documents():
    names = [n for n in ("README.md", "CONTRIBUTING.md") if os.path.exists(os.path.join(TOP, n))]
    for base, _, files in sorted(os.walk(os.path.join(TOP, "docs"))):
        names += sorted(os.path.relpath(os.path.join(base, f), TOP) for f in files if f.endswith(".md"))
    return names


def run_shell(script, folder, env, expected=0):
    result = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=env, check=False,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            timeout=BLOCK_SECONDS)
    told, chatter = (stream.decode(errors="replace") for stream in (result.stdout, result.stderr))
    if result.returncode != expected:
        raise Outcome(f"status {result.returncode}, wanted {expected}:\n" + (told + chatter)[-3000:])
    return Told(told, chatter)


def same_word(shown, came, near):
    try:
        a, b = (float(word.strip("(),;:")) for word in (shown, came))
    except ValueError:
        return shown == came
    return abs(a - b) <= (NEAR * abs(a) if near is None else near * max(1, abs(a)))


def same_line(shown, came, near):
    words, others = shown.split(), came.split()
    return len(words) == len(others) and all(same_word(*pair, near) for pair in zip(words, others))


def compare_output(shown, came, near):
    """Compare a block with its commands' output, line by line."""
    for line, other in itertools.zip_longest(shown, came, fillvalue=""):
        if not same_line(line, other, near):
            raise Outcome(f"the output has another line:\n{other}\ninstead of\n{line}")


def find_excerpt(shown, came, near):
    left = iter(came)
    for line in shown:
        if line != "..." and not any(same_line(line, other, near) for other in left):
            raise Outcome(f"the output does not have, in its place, the line\n{line}\nbut is\n" + "\n".join(came[-40:]))


def compare(words, text, told):
    near = value_of(words, "near", None)
    near = near and float(near)
    if words[0] == "output":
        compare_output(text.splitlines(), told.out, near)
    else:
        find_excerpt(text.splitlines(), told.all, near)


def is_ready(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


@contextlib.contextmanager
def addresses(folder, broker, port):
    """Replace addresses in all YAML files while active."""
    before = {}
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.endswith(".yaml"):
            with open(path, encoding="utf-8") as f:
                before[path] = f.read()
            write(path, re.sub(r"127\.0\.0\.1:946[45]\b", f"127.0.0.1:{port}", before[path].replace("localhost:9092", broker)))
    yield
    for path, text in before.items():
        write(path, text)


def serve_shell(script, folder, env, broker):
    """Run a block: one that ends must exit with 0; one that serves must become ready and stop on request."""
    port, ready = free_port(), False
    with addresses(folder, broker.address, port), tempfile.TemporaryFile() as output:
        process = subprocess.Popen(["bash", "-euo", "pipefail", "-c", script.replace("localhost:9092", broker.address)],
                                   cwd=folder, env=env, start_new_session=True, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + BLOCK_SECONDS
        while process.poll() is None and not ready and time.monotonic() < deadline:
            time.sleep(0.2)
            ready = is_ready(port)
        ended = process.poll() is not None
        if not ended:
            os.killpg(process.pid, signal.SIGTERM)
        status = process.wait(timeout=BLOCK_SECONDS)
        output.seek(0)
        told = output.read().decode(errors="replace")[-3000:]
    if status or not (ready or ended):
        raise Outcome(f"status {status}, {'ready' if ready else 'never ready'}:\n{told}")


def answers(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ping", timeout=5):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def instance(config, folder, env):
    """Run an instance. Yield the replacement of its address."""
    port = free_port()
    with addresses(folder, "127.0.0.1:1", port), tempfile.TemporaryFile() as output:
        process = subprocess.Popen(["evenkeel", "run", "-c", config], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT)
        try:
            deadline = time.monotonic() + BLOCK_SECONDS
            while not answers(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    output.seek(0)
                    raise Outcome(f"evenkeel run -c {config}:\n" + output.read().decode(errors="replace")[-3000:])
                time.sleep(0.1)
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=BLOCK_SECONDS)


def ask_make(script):
    told = subprocess.run(["make", "help"], cwd=TOP, capture_output=True, text=True, check=True).stdout
    known = {line.split()[0] for line in told.splitlines()}
    for target in (word for line in script.splitlines() for word in line.split()[1:]
                   if "=" not in word and not word.startswith("-")):
        if target not in known:
            raise Outcome(f"make help does not list '{target}'")


def has_modules(words, env):
    names = [name for w in words if w.startswith("needs=") for name in w.split("=")[1].split(",")]
    asked = "import sys, importlib.util as i; sys.exit(any(not i.find_spec(n) for n in sys.argv[1:]))"
    return not names or not subprocess.run(["python3", "-c", asked, *names], env=env, check=False).returncode


def topics_of(words):
    return [w.split("=")[1].split(",") for w in words if w.startswith("broker=")]


def value_of(words, name, usual):
    return next((w.split("=")[1] for w in words if w.startswith(name + "=")), usual)


def with_library(env, folder):
    """Return the environment with a copy of the library installed in the document's home."""
    home = os.path.join(folder, ".local")
    if not os.path.isdir(home):
        tools = [f"{name}={env[name]}" for name in ("CC", "CXX") if name in env]
        subprocess.run(["make", "-C", TOP, "install", f"PREFIX={home}", *tools], env=env, check=True, stdout=subprocess.DEVNULL)
    return {**env, "PKG_CONFIG_PATH": f"{home}/lib/pkgconfig", "LD_LIBRARY_PATH": f"{home}/lib"}


def run_sh(words, text, folder, env, broker):
    """Return the output, as far as known; None if skipped."""
    topics = topics_of(words)
    if all(re.match(r"(make\b|git clone\b|cd \w+$|#|$)", line) for line in text.splitlines()):
        ask_make("\n".join(line for line in text.splitlines() if line.startswith("make")))
    elif not has_modules(words, env) or topics and not broker.available():
        return None
    elif topics:
        broker.start()
        broker.make_topics(topics[0])
        if fill := value_of(words, "fill", None):
            broker.fill(topics[0][0], os.path.join(folder, fill))
        serve_shell(text, folder, env, broker)
    elif config := value_of(words, "instance", None):
        with instance(config, folder, env) as address:
            return run_shell(text.replace("127.0.0.1:9464", address), folder, env, int(value_of(words, "status", 0)))
    else:
        env = with_library(env, folder) if "installed" in words else env
        return run_shell(text, folder, env, int(value_of(words, "status", 0)))
    return Told()


def write_file(language, name, text, folder, env):
    write(os.path.join(folder, name), text)
    if language == "yaml":
        run_shell(f"evenkeel check {name}", folder, env)


def prose(path):
    """Return a document without its blocks."""
    with open(path, encoding="utf-8") as f:
        return re.sub(r"```.*?^```$", "", f.read(), flags=re.M | re.S)


def headings(path):
    """Return the link anchors of a document."""
    titles = re.findall(r"^#+ +(.*?) *$", prose(path), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


def broken_links(name):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(os.path.join(TOP, name))):
        path, _, place = target.partition("#")
        if "://" in target:
            continue
        whole = os.path.join(TOP, os.path.dirname(name), path) if path else os.path.join(TOP, name)
        if not os.path.exists(whole) or (place and whole.endswith(".md") and place not in headings(whole)):
            yield target


def check_links(name, counts):
    broken = list(broken_links(name))
    counts[1 if broken else 0] += 1
    if broken:
        print(f"FAILED {name}: leads nowhere: {', '.join(broken)}", flush=True)


def run_block(block, before, folder, env, broker):
    """Return the output, as far as known; None if skipped. before: output of the previous block."""
    _, language, words, text = block
    if language == "sh":
        return run_sh(words, text, folder, env, broker)
    if words[0] not in _COMPARED:
        write_file(language, words[0], text, folder, env)
        return Told()
    if before is not None:
        compare(words, text, before)
    return before


def run_document(name, env, broker):
    """Return passed, failed, skipped. Stops at the first failure."""
    counts, told = [0, 0, 0], None
    check_links(name, counts)
    with tempfile.TemporaryDirectory() as folder:
        env = {**env, "HOME": folder}
        for block in blocks(os.path.join(TOP, name)):
            line, language, words, _ = block
            if language != "sh" and not (words and ("." in words[0] or words[0] in _COMPARED)):
                continue
            started = time.monotonic()
            try:
                told = run_block(block, told, folder, env, broker)
            except (Outcome, subprocess.SubprocessError) as fault:
                print(f"FAILED {name}:{line}: {fault}", flush=True)
                counts[1] += 1
                break
            counts[2 if told is None else 0] += 1
            print(f"{'skip' if told is None else 'ok':6} {name}:{line} {time.monotonic() - started:.1f} s", flush=True)
    broker.remove_topics()
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("documents", nargs="*")
    args = parser.parse_args()
    env = {**os.environ, "PATH": os.path.join(TOP, args.build) + os.pathsep + os.environ["PATH"], "TOP": TOP}
    for name in [n for n in env if n.startswith(("MAKE", "MFLAGS"))]:
        del env[name]
    broker = Broker()
    try:
        counts = [run_document(name, env, broker) for name in args.documents or documents()]
    finally:
        broker.stop()
    totals = [sum(column) for column in zip(*counts)]
    print("{} passed, {} failed, {} skipped".format(*totals))
    return 1 if totals[1] else 0


sys.exit(main())
