#!/usr/bin/env python3
"""Runs what the documents show, in order, in one scratch folder per document.

  ```sh                runs with bash; must end with 0
  ```sh status=78      must end with 78
  ```sh broker         needs a Kafka broker (EK_BROKERS=host:port stands in for localhost:9092);
                       skipped visibly without one; what serves for ever is sent SIGTERM
  ```yaml rules.yaml   is written to that file and must pass `evenkeel check`
  ```c client.c        any other language with a file name: is written

Of a block that only calls make the targets must be in `make help`; it is not run, for it would test
itself. Other blocks are for the eye. Links between documents must lead somewhere.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_FENCE = re.compile(r"^```([^\n`]+)\n(.*?)^```$", re.M | re.S)
BLOCK_SECONDS, SERVE_SECONDS = 600, 20


class Outcome(Exception):
    """Why a block failed."""


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
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            timeout=BLOCK_SECONDS)
    if result.returncode != expected:
        raise Outcome(f"status {result.returncode}, wanted {expected}:\n" +
                      result.stdout.decode(errors="replace")[-3000:])


def serve_shell(script, folder, env):
    """For blocks that may run for ever: lets them run a while, then asks them to end."""
    with subprocess.Popen(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=env, start_new_session=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        deadline = time.monotonic() + SERVE_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        served = process.poll() is None
        if served:
            os.killpg(process.pid, signal.SIGTERM)
        output = process.communicate(timeout=60)[0].decode(errors="replace")
        if process.returncode not in ((0, -signal.SIGTERM, 143) if served else (0,)):
            raise Outcome(f"status {process.returncode}:\n{output[-3000:]}")


def ask_make(script):
    told = subprocess.run(["make", "help"], cwd=TOP, capture_output=True, text=True, check=True).stdout
    known = {line.split()[0] for line in told.splitlines()}
    for target in (word for line in script.splitlines() for word in line.split()[1:] if "=" not in word):
        if target not in known:
            raise Outcome(f"make help does not list '{target}'")


def run_block(language, words, text, folder, env):
    """Returns False when skipped; raises Outcome when wrong."""
    if language == "sh":
        if all(re.match(r"(make\b|git clone\b|cd \w+$|#|$)", line) for line in text.splitlines()):
            ask_make("\n".join(l for l in text.splitlines() if l.startswith("make")))
        elif "broker" in words:
            brokers = env.get("EK_BROKERS")
            if not brokers:
                return False
            serve_shell(text.replace("localhost:9092", brokers), folder, env)
        else:
            status = [int(w.split("=")[1]) for w in words if w.startswith("status=")]
            run_shell(text, folder, env, *status)
        return True
    name = words[0]
    if env.get("EK_BROKERS"):
        text = text.replace("localhost:9092", env["EK_BROKERS"])
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(text)
    if language == "yaml":
        run_shell(f"evenkeel check {name}", folder, env)
    return True


def broken_links(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as f:
        text = re.sub(r"```.*?^```$", "", f.read(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path = target.split("#")[0]
        if path and "://" not in target and not os.path.exists(os.path.join(TOP, os.path.dirname(name), path)):
            yield target


def check_links(name, counts):
    broken = list(broken_links(name))
    counts[1 if broken else 0] += 1
    if broken:
        print(f"FAILED {name}: leads nowhere: {', '.join(broken)}", flush=True)


def run_document(name, env):
    """Passed, failed, skipped. After a failure the rest of the document is not tried."""
    counts = [0, 0, 0]
    check_links(name, counts)
    with tempfile.TemporaryDirectory() as folder:
        env = {**env, "HOME": folder}
        for line, language, words, text in blocks(os.path.join(TOP, name)):
            if language != "sh" and not (words and "." in words[0]):
                continue
            started = time.monotonic()
            try:
                done = run_block(language, words, text, folder, env)
            except (Outcome, subprocess.TimeoutExpired) as fault:
                print(f"FAILED {name}:{line}: {fault}", flush=True)
                counts[1] += 1
                break
            counts[0 if done else 2] += 1
            print(f"{'ok' if done else 'skip':6} {name}:{line} {time.monotonic() - started:.1f} s", flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("documents", nargs="*")
    args = parser.parse_args()
    env = {**os.environ, "PATH": os.path.join(TOP, args.build) + os.pathsep + os.environ["PATH"], "TOP": TOP}
    for name in [n for n in env if n.startswith(("MAKE", "MFLAGS"))]:
        del env[name]
    totals = [sum(column) for column in zip(*(run_document(n, env) for n in args.documents or documents()))]
    print("{} passed, {} failed, {} skipped".format(*totals))
    return 1 if totals[1] else 0


sys.exit(main())
