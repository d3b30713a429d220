"""The shared library exports what its map lists and its header declares, no more; names have prefixes."""
import os
import re
import subprocess

MAP, HEADER = "deploy/evenkeel.map", "lib/evenkeel.h"
# Tests have a getaddrinfo and an allocator of their own, which libraries find before those of the C library.
PREFIXES = {"lib": r"ek_", "daemon": r"ek_|main$", "tests": r"ek_|suite_|bench_|main$|__wrap_|LLVMFuzzer|(getaddrinfo|malloc|calloc|realloc|aligned_alloc)$"}
_NM = re.compile(r"^(.+?):[0-9a-f]* +(\w) ([^@\n]+)", re.M)


def nm(tree, paths, *flags):
    """(file, name) of each external name that these define."""
    result = subprocess.run(["nm", "-A", "--defined-only", "--extern-only", *flags, *paths], cwd=tree.root,
                            capture_output=True, text=True, check=True)
    return sorted({(path, name) for path, kind, name in _NM.findall(result.stdout) if kind != "A"})


def interface_faults(tree):
    library = os.path.join(tree.build, "libevenkeel.so")
    if not os.path.exists(tree.path(library)):
        yield f"{library}: not built"
        return
    exported = {name for _, name in nm(tree, [library], "--dynamic")}
    listed = set(re.findall(r"\bek_\w+", tree.text(MAP).split("local:")[0]))
    declared = set(re.findall(r"\b(ek_\w+)\s*\(", tree.code(HEADER)))
    for name in sorted(exported - listed):
        yield f"{library}: exports '{name}', which {MAP} does not list"
    for name in sorted(listed - exported):
        yield f"{MAP}: lists '{name}', which the library does not have"
    for name in sorted(listed - declared):
        yield f"{MAP}: lists '{name}', which {HEADER} does not declare"
    for name in sorted(declared - listed):
        yield f"{HEADER}: declares '{name}', which {MAP} does not list"


def faults(tree):
    yield from interface_faults(tree)
    for folder, prefixes in PREFIXES.items():
        compiled = {os.path.join(tree.build, source[:-2] + ".o"): source for source in tree.each("*.c", folders=(folder,))}
        there = [path for path in compiled if os.path.exists(tree.path(path))]
        for path, name in nm(tree, there) if there else ():
            if not re.match(prefixes, name):
                yield f"{compiled[path]}: external name '{name}' lacks a prefix"


FUNCTION = "int {0}(void);\nint {0}(void)\n{{\n    return 1;\n}}\n"
SEEDS = [
    ("a name without prefix", "lib/base/hash.c", FUNCTION.format("seeded"), "external name 'seeded'"),
    ("an export nobody declared", "deploy/evenkeel.map", "EVENKEEL_SEEDED {\n  global: ek_hash;\n};\n", "'ek_hash'"),
    ("a declaration nobody exports", "lib/evenkeel.h", "int ek_seeded(void);\n", "declares 'ek_seeded'"),
]
TO_BUILD = {"a name without prefix", "an export nobody declared"}  # what they do is seen in what is built
