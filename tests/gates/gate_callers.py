"""Every function with external linkage is called from another file of the product or the benchmarks, or from its own
file and a test.

Exempt are the library interface, headers NAME_test.h, and the lines of tests/gates/uncalled.txt: `NAME: reason`.
"""
import collections
import re

LIST = "tests/gates/uncalled.txt"
DEFINING = ("lib", "daemon")
CALLING = ("lib", "daemon", "deploy", "tests/bench")
_NAME = re.compile(r"\bek_\w+")
_PASTED = re.compile(r"\b(ek_\w+)##")  # prefix of names that a macro completes
_HEAD = r"^(?!static\b|return\b|else\b)[A-Za-z_][\w \t*]*?\b(ek_\w+)\([^;{}]*?\)"
_DEFINITION = re.compile(_HEAD + r"\s*\{", re.M)
_DECLARATION = re.compile(_HEAD + r"[^;{}]*;", re.M)


def listed(tree):
    """Return {name: line number} of the functions with a reason, and the faults of the list."""
    names, faults = {}, []
    for number, line in enumerate(tree.text(LIST).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, reason = (part.strip() for part in line.partition(":"))
        if not reason:
            faults.append(f"{LIST}:{number}: '{name}' has no reason")
        names[name] = number
    return names, faults


def defined(tree):
    """Return {name: file} of all functions with external linkage."""
    return {name: path for path in tree.files("*.c", "*.cc", folders=DEFINING)
            for name in _DEFINITION.findall(tree.code(path))}


def exempt(tree):
    headers = ["lib/evenkeel.h"] + tree.files("*_test.h", folders=DEFINING)
    return {name for path in headers for name in _DECLARATION.findall(tree.code(path))}


def callers(tree):
    """Return {name: {file: number of mentions}}, without declarations."""
    found = collections.defaultdict(collections.Counter)
    for path in tree.files("*.c", "*.cc", "*.h", folders=CALLING):
        code = tree.code(path)
        for name in _NAME.findall(_DECLARATION.sub("", code)):
            found[name][path] += 1
    return found


def faults(tree):
    reasons, found = listed(tree)
    yield from found
    where, known, calls = defined(tree), exempt(tree), callers(tree)
    pasted = tuple({start for path in tree.files("*.c", folders=CALLING) for start in _PASTED.findall(tree.code(path))})
    uncalled = {name for name, path in where.items()
                if name not in known and not name.startswith(pasted) and not set(calls[name]) - {path}}
    tested = set(_NAME.findall(" ".join(tree.code(path) for path in tree.files("*.c", "*.h", "*.cc", folders=("tests",)))))
    uncalled = {name for name in uncalled if name not in tested or calls[name][where[name]] < 2}
    for name in sorted(uncalled - set(reasons)):
        inside = calls[name][where[name]] > 1
        yield (f"{where[name]}: no other file calls '{name}': " +
               ("make it static" if inside else f"delete it, or list it with a reason in {LIST}"))
    for name in sorted(set(reasons) - uncalled):
        yield f"{LIST}:{reasons[name]}: '{name}' is called, or gone: delete the line"
    tree.note = f"{len(where)} functions, {len(reasons)} without a caller"


FUNCTION = "int {0}(void);\nint {0}(void)\n{{\n    return {1};\n}}\n"
SEEDS = [
    ("a function without a caller", "lib/base/hash.c", FUNCTION.format("ek_seeded", 1), "calls 'ek_seeded': delete it"),
    ("a function that only its own file calls", "daemon/base/log.c",
     FUNCTION.format("ek_seeded", 1) + FUNCTION.format("ek_seeded_too", "ek_seeded()"), "calls 'ek_seeded': make it static"),
    ("a function that only tests call", "lib/base/seeded.c", FUNCTION.format("ek_tested", 1), "calls 'ek_tested'"),
    ("a reason for a function that is called", LIST, "ek_hash: planted\n", "'ek_hash' is called, or gone"),
    ("a reason for a function that is gone", LIST, "ek_gone: planted\n", "'ek_gone' is called, or gone"),
    ("a function without a reason", LIST, "ek_bare:\n", "'ek_bare' has no reason"),
]
ALSO = {"a function that only tests call": ("tests/unit/lib/base/seeded.c", "int call(void)\n{\n    return ek_tested();\n}\n")}
