"""Self-test of the gates: plants one fault at a time in a copy of the tree."""
import itertools
import os
import shutil
import subprocess
import tempfile
import time

from tree import Tree

MAKE = os.environ.get("MAKE", "make").split()[0]


def not_copied(tree):
    """Skip nested builds, jars and logs; make needs only the rest of the build."""
    build = os.path.normpath(tree.path(tree.build))

    def ignore(folder, names):
        if os.path.normpath(folder) == build:
            return [n for n in names if os.path.isdir(os.path.join(folder, n)) and n not in ("lib", "daemon", "tests")]
        return [n for n in names if n in (".git", "__pycache__")]

    return ignore


def copy_of(tree, folder):
    """Copy the tree and its build with time stamps, so that make builds only the seeded files."""
    root = os.path.join(folder, "tree")
    shutil.copytree(tree.root, root, ignore=not_copied(tree), symlinks=True)
    return Tree(root, tree.build, tree.cc, tree.cxx, tree.cflags)


class Planted:
    """Context manager that appends a fault to a file (or creates it) and removes it afterwards. It restores time
    stamps, so that no rebuild is necessary."""

    def __init__(self, tree, additions, built):
        self.tree, self.additions, self.built, self.before = tree, additions, built, []

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
            if not self.built:
                os.utime(path, ns=(old[1].st_atime_ns, old[1].st_mtime_ns))


def build(tree):
    subprocess.run([MAKE, "-s", "-k", f"B={tree.build}", f"{tree.build}/libevenkeel.so", f"{tree.build}/evenkeel"], cwd=tree.root,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def found_by(gate, tree, planted, what=None):
    if what in getattr(gate, "TO_BUILD", ()):
        build(tree)
    fresh = tree.again(planted)
    found = list(gate.faults(fresh))
    return found, getattr(fresh, "note", "").startswith("skipped")


def report(good, name, what, found):
    print(f"{'ok' if good else 'FAILED':6} {name}: {what}", flush=True)
    if not good:
        for fault in found[:10] or ["(no fault found)"]:
            print(f"  {fault}")
    return good


def test_gate(name, gate, tree):
    """Check the seeded files, before and after; check-gates covers the whole tree."""
    also = getattr(gate, "ALSO", {})
    seeds = [(what, [(path, text), *filter(None, [also.get(what)])], expected) for what, path, text, expected in gate.SEEDS]
    found, skipped = found_by(gate, tree, {path for _, additions, _ in seeds for path, _ in additions})
    yield report(not found, name, "the clean tree passes", found)
    if skipped:
        return
    for what, additions, expected in seeds:
        with Planted(tree, additions, what in getattr(gate, "TO_BUILD", ())):
            found, _ = found_by(gate, tree, {path for path, _ in additions}, what)
        yield report(any(expected in fault for fault in found), name, what + " is caught", found)


# Output and exit status of a part -> expected result of tests/run-parts.sh.
PARTS = [
    ("both kinds of counts are added", "echo '100%: Checks: 9, Failures: 0, Errors: 0'; echo '2 passed, 0 failed'", 0,
     "11 passed, 0 failed"),
    ("errors of Check are failures", "echo '50%: Checks: 4, Failures: 1, Errors: 1'", 1, "2 passed, 2 failed"),
    ("skipped ones are no failures", "echo '2 passed, 0 failed, 3 skipped'", 0, "2 passed, 0 failed"),
    ("a part without a count fails", "echo 'all is well'", 1, "0 passed, 1 failed"),
    ("a part that ends badly fails", "echo '2 passed, 0 failed'; exit 3", 1, "2 passed, 1 failed"),
    ("what failed is said again", "echo 'FAILED it'; echo well; echo a.c:1:F:b; echo '0 passed, 2 failed'", 1,
     "FAILED it\na.c:1:F:b\n0 passed, 2 failed"),
]


def with_make(folder, does, lanes):
    """Return the environment of tests/run-parts.sh with a replacement of make."""
    make = os.path.join(folder, "make")
    with open(make, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\n{does}\n")
    os.chmod(make, 0o755)
    return {**os.environ, "MAKE": make, "LANES": lanes, "LOGS": os.path.join(folder, "logs")}


def soon(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def test_stop(tree, folder):
    """Stopping the script stops its lanes: the children of the part that runs end, and the next part does not begin."""
    mark = os.path.join(folder, "ended")
    does = f"trap 'echo >{mark}; exit 1' TERM; echo begun; for i in $(seq 200); do sleep 0.1; done"
    logs, after = (os.path.join(folder, "logs", name) for name in ("any.log", "after.log"))
    with open(os.devnull, "w", encoding="utf-8") as nowhere, subprocess.Popen(
            ["sh", tree.path("tests/run-parts.sh"), "any", "after"], stdout=nowhere, env=with_make(folder, does, "any,after")) as script:
        begun = soon(lambda: os.path.exists(logs) and "begun" in open(logs, encoding="utf-8").read())
        script.terminate()
    yield report(begun and soon(lambda: os.path.exists(mark)), "run-parts", "its lanes end with it", [])
    yield report(os.path.getsize(after) == 0, "run-parts", "a lane that was stopped begins no other part", [])


def test_parts(tree, folder):
    """Test the script that sums up the parts of `make check`."""
    script = tree.path("tests/run-parts.sh")
    for (what, prints, status, last), lanes in itertools.product(PARTS, ("", "any", "other,any")):
        result = subprocess.run(["sh", script, "any"], capture_output=True, text=True, check=False,
                                env=with_make(folder, prints, lanes))
        lines = result.stdout.splitlines()
        yield report(result.returncode == status and lines[-len(last.splitlines()):] == last.splitlines(), "run-parts",
                     what + (f", lane {lanes}" if lanes else ""), lines)


def test_environment(tree, folder):
    """Parallel calls for one environment create it once, and each gets it."""
    interpreter, made, wanted = (os.path.join(folder, name) for name in ("interpreter", "made", "requirements.txt"))
    with open(interpreter, "w", encoding="utf-8") as f:
        f.write(f'#!/bin/sh\necho >>{made}\nsleep 0.2\nmkdir -p "$4/bin" && ln -s /bin/true "$4/bin/pip"\n')
    os.chmod(interpreter, 0o755)
    with open(wanted, "w", encoding="utf-8") as f:
        f.write("any\n")
    calls = [subprocess.Popen(["sh", tree.path("tests/python_env.sh"), os.path.join(folder, "env"), wanted], text=True,
                              stdout=subprocess.PIPE, env={**os.environ, "SYSTEM_PYTHON": interpreter}) for _ in range(2)]
    printed = [call.communicate()[0].strip() for call in calls]
    yield report(printed == [os.path.join(folder, "env", "venv", "bin", "python")] * 2 and os.path.getsize(made) == 1,
                 "python_env", "parallel calls create one environment", printed)


def run(tree, gates):
    results = []
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_of(tree, folder)
        for name, gate in gates.items():
            results += test_gate(name, gate, copy)
        results += test_parts(tree, folder)
        results += test_stop(tree, folder)
        results += test_environment(tree, folder)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1
