"""Includes follow the layers, each library has one wrapper, and lib/ uses no threads or clocks."""
import os
import re

from tree import line_of, matches_any

TABLE = "tests/gates/layers.txt"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def read_table(text):
    table = {"folder": {}, "only": [], "never include": [], "never call": []}
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        left, right = (part.split() for part in line.split(":"))
        if left[0] == "folder":
            table["folder"][left[1]] = right
        elif left[0] == "only":
            table["only"].append((left[1], right))
        else:
            table[" ".join(left[:2])].append((left[2], right))
    return table


def home_of(included, here, tree):
    """Return the folder of an included project file, or None for a system header."""
    for base in (here, "lib", "."):
        path = os.path.normpath(os.path.join(base, included))
        if os.path.isfile(tree.path(path)):
            return os.path.dirname(path)
    return None


def includes(tree, name):
    text = tree.text(name)
    for match in _INCLUDE.finditer(text):
        yield line_of(text, match.start()), match.group(2)


def layer_faults(tree, table, name):
    here = os.path.dirname(name)
    allowed = table["folder"].get(here)
    for line, included in includes(tree, name):
        home = home_of(included, here, tree)
        if home is not None and allowed is not None and home != here and home not in allowed:
            yield f"{name}:{line}: '{here}' may not include '{included}' of '{home}'"
        if home is None:
            yield from outside_faults(table, name, line, included)
    if allowed is None:
        yield f"{name}:1: folder '{here}' is not in {TABLE}"


def outside_faults(table, name, line, included):
    for pattern, owners in table["only"]:
        if matches_any(included, [pattern]) and not matches_any(name, owners):
            yield f"{name}:{line}: only {' '.join(owners)} may include <{included}>"
    for folder, patterns in table["never include"]:
        if name.startswith(folder + "/") and matches_any(included, patterns):
            yield f"{name}:{line}: {folder}/ never includes <{included}>"


def call_faults(tree, table, name):
    code = tree.code(name)
    for folder, calls in table["never call"]:
        if not name.startswith(folder + "/"):
            continue
        for match in re.finditer(r"(?<![\w.>])(" + "|".join(calls) + r")\s*\(", code):
            yield f"{name}:{line_of(code, match.start())}: {folder}/ never calls {match.group(1)}()"


def faults(tree):
    table = read_table(tree.text(TABLE))
    for name in tree.each("*.c", "*.cc", "*.h", folders=("lib", "daemon")):
        yield from layer_faults(tree, table, name)
        yield from call_faults(tree, table, name)


SEEDS = [
    ("an include upwards", "lib/base/buf.c", '#include "lists/list.h"\n', "may not include 'lists/list.h'"),
    ("an include of a sibling", "lib/score/metrics.h", '#include "plan/seeded.h"\n', "of 'lib/plan'"),
    ("a second wrapper", "daemon/base/command.c", "#include <yaml.h>\n", "may include <yaml.h>"),
    ("JSON outside of its wrapper", "lib/lists/codec.c", "#include <simdjson.h>\n", "may include <simdjson.h>"),
    ("threads in the library", "lib/base/hash.c", "#include <pthread.h>\n", "never includes <pthread.h>"),
    ("a clock in the library", "lib/base/hash.c", "long ek_x(void);\nlong ek_x(void)\n{\n    return time(0);\n}\n",
     "never calls time()"),
    ("a folder nobody knows", "lib/other/seeded.c", "\n", "is not in"),
]
ALSO = {"an include of a sibling": ("lib/plan/seeded.h", "\n")}
