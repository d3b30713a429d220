"""The source matches clang-format in the version of Debian 12; other versions format differently."""
import re
import shutil
import subprocess

from tree import at_once, parts

MAJOR = "14"


def complaints(tree, names):
    return subprocess.run(["clang-format", "--dry-run", "-Werror", *names], cwd=tree.root,
                          capture_output=True, text=True, check=False).stderr


def faults(tree):
    if not shutil.which("clang-format"):
        tree.note = "skipped: no clang-format"
        return
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=False).stdout
    if not re.search(rf"version {MAJOR}\.", version):
        tree.note = f"skipped: clang-format is not version {MAJOR}"
        return
    names = tree.each("*.c", "*.cc", "*.h", folders=("lib", "daemon", "python", "tests"))
    seen = {}
    for said in at_once(lambda some: complaints(tree, some), parts(names)):
        seen.update(dict.fromkeys(re.findall(r"^(\S+?:\d+):\d+: error", said, re.M)))
    yield from (f"{place}: not as clang-format would have it" for place in sorted(seen))


SEEDS = [("crooked layout", "lib/base/hash.c", "static   int crooked;\n", "not as clang-format")]
