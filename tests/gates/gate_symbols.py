"""The shared library exports what its map lists and its header declares, no more; names have prefixes."""
import os
import re
import subprocess

MAP, HEADER = "deploy/evenkeel.map", "lib/evenkeel.h"
# Tests have a getaddrinfo and an allocator of their own, which libraries find before those of the C library.
PREFIXES = {"lib": r"ek_", "text": r"ek_", "daemon": r"ek_|main$", "tests": r"ek_|suite_|bench_|main$|__wrap_|LLVMFuzzer|(getaddrinfo|malloc|calloc|realloc|aligned_alloc)$"}


def nm(tree, path, *flags):
    result = subprocess.run(["nm", "--defined-only", "--extern-only", *flags, path], cwd=tree.root,
                            capture_output=True, text=True, check=True)
    words = (line.split() for line in result.stdout.splitlines())
    return {w[2].split("@")[0] for w in words if len(w) >= 3 and w[1] != "A"}


def interface_faults(tree):
    library = os.path.join(tree.build, "libevenkeel.so")
    if not os.path.exists(tree.path(library)):
        yield f"{library}: not built"
        return
    exported = nm(tree, library, "--dynamic")
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
        for source in tree.files("*.c", folders=(folder,)):
            compiled = os.path.join(tree.build, source[:-2] + ".o")
            if not os.path.exists(tree.path(compiled)):
                continue
            for name in sorted(nm(tree, compiled)):
                if not re.match(prefixes, name):
                    yield f"{source}: external name '{name}' lacks a prefix"


FUNCTION = "int {0}(void);\nint {0}(void)\n{{\n    return 1;\n}}\n"
SEEDS = [
    ("a name without prefix", "lib/base/hash.c", FUNCTION.format("seeded"), "external name 'seeded'"),
    ("an export nobody declared", "deploy/evenkeel.map", "EVENKEEL_SEEDED {\n  global: ek_hash;\n};\n", "'ek_hash'"),
    ("a declaration nobody exports", "lib/evenkeel.h", "int ek_seeded(void);\n", "declares 'ek_seeded'"),
]
NEEDS_BUILD = True
