"""Every START_TEST is in its file's ek_suite list, and every test file has its suite."""
import os
import re

from tree import line_of

_TEST = re.compile(r"\bSTART_TEST\s*\(\s*(\w+)\s*\)")
_LIST = re.compile(r"\bek_suite\s*\(([^;]*)\)\s*;")


def faults(tree):
    for name in tree.each("*.c", folders=("tests",)):
        code = tree.code(name)
        listed = set(re.findall(r"\w+", " ".join(_LIST.findall(code))))
        for match in _TEST.finditer(code):
            if match.group(1) not in listed:
                yield f"{name}:{line_of(code, match.start())}: test '{match.group(1)}' is in no ek_suite list"
        stem = os.path.basename(name)
        if re.match(r"tests/(unit/.*|prop)/test_\w+\.c$", name):
            suite = "suite_" + stem[len("test_"):-len(".c")]
            if not re.search(rf"\bSuite \*{suite}\(void\)", code):
                yield f"{name}:1: no function '{suite}'"


SEEDS = [
    ("a test in no list", "tests/unit/lib/base/test_base.c", "START_TEST(forgotten)\n{\n}\nEND_TEST\n", "'forgotten' is in no"),
    ("a test file without its suite", "tests/unit/lib/base/test_seeded.c", "int ek_nothing;\n", "no function 'suite_seeded'"),
]
