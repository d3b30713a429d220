"""Every limit has a line in tests/limits.txt: each key under `limits:` and each constant EK_*_MAX or
EK_*_MOST of a header, with the test that covers it, which exists, or with the reason why there is none."""
import re

TABLE = "tests/limits.txt"
_CONSTANT = re.compile(r"\b(EK_[A-Z0-9_]+_(?:MAX|MOST))\s*=|#\s*define\s+(EK_[A-Z0-9_]+_(?:MAX|MOST))\b")
_KEY = re.compile(r'\.key\s*=\s*"(limits\.\w+)"|LATER\("(limits\.\w+)"')


def limits(tree):
    found = {}
    for name in tree.files("*.h", folders=("lib", "text", "daemon")):
        for match in _CONSTANT.finditer(tree.code(name)):
            found.setdefault(match.group(1) or match.group(2), name)
    for match in _KEY.finditer(tree.text("daemon/options_table.c")):
        found[match.group(1) or match.group(2)] = "daemon/options_table.c"
    return found


def exists(tree, names, test):
    """`tests/FILE word`: one of these files, with a test of that name; where it is not in C, the text stands in it."""
    name, _, word = test.partition(" ")
    if name not in names or not word:
        return False
    return f"START_TEST({word})" in tree.text(name) if name.endswith(".c") else word in tree.text(name)


def faults(tree):
    wanted, seen, names = limits(tree), set(), set(tree.files("*", folders=("tests",)))
    for number, line in enumerate(tree.text(TABLE).splitlines(), 1):
        limit, colon, what = (part.strip() for part in line.partition(":"))
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{TABLE}:{number}: '{limit}'"
        if limit in seen:
            yield f"{place} stands there twice"
        seen.add(limit)
        if limit not in wanted:
            yield f"{place} is no limit any more"
        kind, _, rest = what.partition(" ")
        if kind == "none" and not rest.strip():
            yield f"{place} has neither a test nor a reason"
        elif kind != "none" and not exists(tree, names, what):
            yield f"{place}: there is no test '{what}'"
    for limit in sorted(set(wanted) - seen):
        yield f"{wanted[limit]}: '{limit}' is not in {TABLE}"
    untested = sum(": none" in line for line in tree.text(TABLE).splitlines() if not line.startswith("#"))
    tree.note = f"{len(seen)} limits, {untested} without a test of their own"


SEEDS = [
    ("a limit that nobody wrote down", "lib/seeded.h", "enum { EK_SEEDED_MAX = 3 };\n", "'EK_SEEDED_MAX' is not in"),
    ("a test of a limit that is not there", TABLE, "EK_GONE_MAX: tests/unit/test_base.c no_such_test\n",
     "'EK_GONE_MAX' is no limit any more"),
    ("a limit without test and reason", TABLE, "EK_BARE_MAX: none\n", "has neither a test nor a reason"),
    ("a limit whose test is but a mention", TABLE, "EK_SEEN_MAX: tests/unit/test_base.c include\n",
     "there is no test 'tests/unit/test_base.c include'"),
    ("a limit whose test is gone", TABLE, "EK_LOST_MAX: tests/unit/test_base.c no_such_test\n",
     "there is no test 'tests/unit/test_base.c no_such_test'"),
]
