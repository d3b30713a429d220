"""Each exception from static analysis has a reason and a fixed place: whole checks in .clang-tidy, single findings in
tests/analyze/known.txt, none in the source."""
import re

from tree import line_of

CHECKS, KNOWN = ".clang-tidy", "tests/analyze/known.txt"
_IN_SOURCE = re.compile(r"NOLINT|cppcheck-suppress|clang-analyzer-ignore")
_PRAGMA = re.compile(r"^[ \t]*#pragma (?:GCC|clang) diagnostic (?:push\n#pragma \w+ diagnostic )?ignored", re.M)
_REASON = r"\S+(?: \S+){2,}"  # at least three words


def of_checks(text):
    told = dict(re.findall(r"^#   ([\w.-]+(?:, [\w.-]+)*) +(.*)$", text, re.M))
    reasons = {name: why for names, why in told.items() for name in names.split(", ")}
    for name in re.findall(r"^  -([\w.-]+),?$", text, re.M):
        if name != "*" and not re.fullmatch(_REASON, reasons.get(name, "")):
            yield f"{CHECKS}: {name} is off, and no comment says why"
    for name in reasons:
        if f"\n  -{name}" not in text:
            yield f"{CHECKS}: {name} is excused, and is not off"


def of_known(text):
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#") and not re.fullmatch(r"\S+ \S+ [^\s:]+: " + _REASON, line):
            yield f"{KNOWN}:{number}: no reason of three words or more"


def of_source(tree, name):
    text = tree.text(name)
    for match in _IN_SOURCE.finditer(text):
        yield f"{name}:{line_of(text, match.start())}: {match.group()}: a line in {KNOWN} says why"
    for match in _PRAGMA.finditer(text):
        if not re.search(r"\*/\s*(?:extern \"C\" \{\s*)?$", text[:match.start()]):
            yield f"{name}:{line_of(text, match.start())}: a warning is off, and no comment before it says why"


def faults(tree):
    yield from of_checks(tree.text(CHECKS))
    yield from of_known(tree.text(KNOWN))
    for name in tree.each("*.c", "*.cc", "*.h"):
        yield from of_source(tree, name)


SEEDS = [
    ("a check that is off without a reason", CHECKS, "  -misc-static-assert,\n", "misc-static-assert is off"),
    ("a finding that is known without a reason", KNOWN, "gcc analyzer-malloc-leak daemon/main.c: none\n", "no reason of three words"),
    ("a finding that is silenced in the source", "lib/base/seeded.c", "int x; /* NOLINT */\n", "NOLINT: a line in"),
    ("a warning that is off without a reason", "lib/base/seeded.c", '#pragma GCC diagnostic ignored "-Wshadow"\n', "no comment before it"),
]
