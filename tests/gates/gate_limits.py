"""Every limit has a line in tests/limits.txt: each number of the configuration, each constant EK_*_MAX or EK_*_MOST
of a header or file, each *_BYTES_MAX or *_BYTES_MOST of one file, with its tests or the reason for none.

A C test is given by its name; a Python test by its name, with the limit's name or number in its body; any other by a
non-comment line with these words.
"""
import re

TABLE = "tests/limits.txt"
OPTIONS = "daemon/config/config_keys.c"
FOLDERS = ("lib", "daemon")
_CONSTANT = re.compile(r"\b(EK_[A-Z0-9_]+_(?:MAX|MOST))\s*=\s*([^,}]*)|#\s*define\s+(EK_[A-Z0-9_]+_(?:MAX|MOST))\s+(.*)")
_LOCAL = re.compile(r"\b((?!EK_)[A-Z][A-Z0-9_]*_BYTES_(?:MAX|MOST))\s*=\s*([^,};]*)")
_END = re.compile("_(?:MAX|MOST)")
_NUMBER = re.compile(r'(?:\.path\s*=\s*|NUMBER\(\s*)"([\w.]+)",\s*(?:\.type\s*=\s*EK_KEY_)?(?:INT|SIZE|DURATION)\b')
_LATER = re.compile(r'LATER\("(limits\.\w+)"')
_VALUE = re.compile(r"\s*(\d+)(?:\s*<<\s*(\d+))?\s*(?:/\*.*)?$")


def number(expression):
    """Return the value of `3` and `64 << 10` as text; None for other expressions."""
    match = _VALUE.match(expression)
    return str(int(match.group(1)) << int(match.group(2) or 0)) if match else None


def limits(tree):
    """Return the location and, for a literal, the number of each limit."""
    found = {}
    for name in (name for name in tree.files("*.h", "*.c", folders=FOLDERS) if _END.search(tree.code(name))):
        for match in _CONSTANT.finditer(tree.code(name)):
            found.setdefault(match.group(1) or match.group(3), (name, number(match.group(2) or match.group(4) or "")))
    for name in (name for name in tree.files("*.c", folders=FOLDERS) if "_BYTES_M" in tree.code(name)):
        for match in _LOCAL.finditer(tree.code(name)):
            found[f"{name} {match.group(1)}"] = name, number(match.group(2))
    for pattern in (_NUMBER, _LATER):
        for match in pattern.finditer(tree.text(OPTIONS)):
            found[match.group(1)] = OPTIONS, None
    return found


def of_python(text, test, words):
    """Return whether a test of this name has a line with one of the words, comments excluded."""
    head = re.search(rf"^( *)def ({re.escape(test)})\(", text, re.M)
    if not head or not test.startswith("test_"):
        return False
    lines = text[head.end():].split("\n")[1:]
    after = next((i for i, line in enumerate(lines) if line.strip() and len(line) - len(line.lstrip()) <= len(head.group(1))), None)
    body = "\n".join(line.split("#")[0] for line in lines[:after])
    return any(re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", body) for word in words)


def is_test(tree, names, limit, value, test):
    """Check `tests/FILE words`, as above."""
    name, _, words = test.partition(" ")
    if name not in names or not words:
        return False
    if name.endswith(".c"):
        return f"START_TEST({words})" in tree.text(name)
    if name.endswith(".py"):
        return of_python(tree.text(name), words, [re.split(r"[. ]", limit)[-1]] + ([value] if value else []))
    return any(words in line and (not line.lstrip().startswith("#") or "/bad/" in name) for line in tree.text(name).splitlines())


def faults(tree):
    wanted, seen, names = limits(tree), set(), set(tree.files("*", folders=("tests",)))
    untested = 0
    for line_number, line in enumerate(tree.text(TABLE).splitlines(), 1):
        limit, _, what = (part.strip() for part in line.partition(":"))
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{TABLE}:{line_number}: '{limit}'"
        if limit in seen:
            yield f"{place} stands there twice"
        seen.add(limit)
        if limit not in wanted:
            yield f"{place} is no limit any more"
        kind, _, rest = what.partition(" ")
        untested += kind == "none"
        if kind == "none" and not rest.strip():
            yield f"{place} has neither a test nor a reason"
        value = wanted.get(limit, (None, None))[1]
        for test in what.split("; ") if kind != "none" else ():
            if not is_test(tree, names, limit, value, test):
                yield f"{place}: there is no test '{test}'"
    for limit in sorted(set(wanted) - seen):
        yield f"{wanted[limit][0]}: '{limit}' is not in {TABLE}"
    tree.note = f"{len(seen)} limits, {untested} without a test of their own"


SEEDS = [
    ("a limit that nobody wrote down", "lib/seeded.h", "enum { EK_SEEDED_MAX = 3 };\n", "'EK_SEEDED_MAX' is not in"),
    ("bytes of one file that nobody wrote down", "daemon/seeded.c", "enum { BODY_BYTES_MAX = 64 << 10 };\n",
     "'daemon/seeded.c BODY_BYTES_MAX' is not in"),
    ("a number of the configuration that nobody wrote down", OPTIONS,
     'static const struct ek_key_row SEEDED = {.path = "http.seeded",\n    .type = EK_KEY_INT};\n', "'http.seeded' is not in"),
    ("a number of the configuration as a row of a macro", OPTIONS,
     'static const struct ek_key_row SEEDED = NUMBER("http.seeded_row", INT, IN_CONFIG(workers), "1", 1, 2, "seeded");\n',
     "'http.seeded_row' is not in"),
    ("a test of a limit that is not there", TABLE, "EK_GONE_MAX: tests/unit/lib/base/test_base.c no_such_test\n",
     "'EK_GONE_MAX' is no limit any more"),
    ("a limit without test and reason", TABLE, "EK_BARE_MAX: none\n", "has neither a test nor a reason"),
    ("a limit whose test is but a mention", TABLE, "EK_SEEN_MAX: tests/unit/lib/base/test_base.c include\n",
     "there is no test 'tests/unit/lib/base/test_base.c include'"),
    ("a limit whose test is but a line of Python", TABLE, "limits.seen: tests/kafka/test_memory.py in_flight_bytes\n",
     "there is no test 'tests/kafka/test_memory.py in_flight_bytes'"),
    ("a limit that its test of Python does not name", TABLE,
     "limits.unnamed: tests/kafka/test_http.py test_there_is_room_for_so_many\n",
     "there is no test 'tests/kafka/test_http.py test_there_is_room_for_so_many'"),
    ("a limit whose test is a comment of a script", TABLE, "EK_SAID_MAX: tests/cli/limits.sh as many as a command takes\n",
     "there is no test 'tests/cli/limits.sh as many as a command takes'"),
    ("a limit whose test is gone", TABLE, "EK_LOST_MAX: tests/unit/lib/base/test_base.c no_such_test\n",
     "there is no test 'tests/unit/lib/base/test_base.c no_such_test'"),
]
