"""The shared library exports exactly the symbols in its map and header. Names have prefixes, also in the static
library, which contains third-party code. Library and daemon link only the allowed libraries."""
import os
import re
import subprocess

MAP, HEADER = "deploy/evenkeel.map", "lib/evenkeel.h"
# Tests define getaddrinfo and an allocator, which take precedence over the C library's.
PREFIXES = {"lib": r"ek_", "daemon": r"ek_|main$", "tests": r"ek_|suite_|bench_|main$|__wrap_|LLVMFuzzer|(getaddrinfo|malloc|calloc|realloc|aligned_alloc)$"}
# Forbidden symbols and libraries by folder.
FOREIGN = {
    "libevenkeel.so": (("lib/offline/scale", "lib/offline/select", "lib/offline/train", "lib/offline/world", "lib/text"), ()),
    "evenkeel": (("lib/offline/scale", "lib/offline/select", "lib/text", "daemon/tools"),
                 ("libstemmer", "libstreamvbyte", "libutf8proc", "libzip")),
}
_NM = re.compile(r"^(.+?):[0-9a-f]* +(\w) ([^@\n]+)", re.M)


def nm(tree, paths, *flags):
    """Return (file, name) of each external symbol that these files define."""
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


def archive_faults(tree):
    """Allows C++ template names, which the linker merges."""
    archive = os.path.join(tree.build, "libevenkeel.a")
    if os.path.exists(tree.path(archive)):
        for name in sorted({name for _, name in nm(tree, [archive])}):
            if not re.match(r"ek_|_Z|DW\.ref\.", name):
                yield f"{archive}: external name '{name}' lacks a prefix"


def foreign_faults(tree, name, folders, libraries):
    binary = os.path.join(tree.build, name)
    if not os.path.exists(tree.path(binary)):
        yield f"{binary}: not built"
        return
    listed = subprocess.run(["nm", binary], cwd=tree.root, capture_output=True, text=True, check=True).stdout
    linked = {line.split()[-1] for line in listed.splitlines()}
    objects = [os.path.join(tree.build, source[:-2] + ".o") for source in tree.files("*.c", folders=folders)]
    for path, symbol in nm(tree, [path for path in objects if os.path.exists(tree.path(path))]):
        if symbol in linked and symbol != "main":
            yield f"{binary}: is linked with '{symbol}' of {path}"
    needs = subprocess.run(["readelf", "-d", binary], cwd=tree.root, capture_output=True, text=True, check=True).stdout
    for library in libraries:
        if f"[{library}.so" in needs:
            yield f"{binary}: is linked with {library}"


def faults(tree):
    yield from interface_faults(tree)
    yield from archive_faults(tree)
    for name, (folders, libraries) in FOREIGN.items():
        yield from foreign_faults(tree, name, folders, libraries)
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
    ("a library of the tools in the daemon", "Makefile",
     "DAEMON_LIBS += -Wl,--no-as-needed -lstemmer\n$(B)/daemon/main.o: FORCE\n", "is linked with libstemmer"),
    ("training in the shared library", "Makefile",
     "$(B)/libevenkeel.so: UNUSED :=\n$(B)/libevenkeel.so: LIB_OBJ += $(OFFLINE_OBJ)\n$(B)/libevenkeel.so: FORCE\n",
     "libevenkeel.so: is linked with 'ek_train"),
    ("a vendored library with its names", "Makefile",
     "$(B)/libevenkeel.a: $(B)/lib/vendor/yyjson/yyjson.o\n$(B)/lib/vendor/%.o: EXTRA := -w -O0\n", "libevenkeel.a: external name 'unsafe_yyjson_"),
    ("a declaration nobody exports", "lib/evenkeel.h", "int ek_seeded(void);\n", "declares 'ek_seeded'"),
]
TO_BUILD = {what for what, path, _, _ in SEEDS if path != "lib/evenkeel.h"}  # their effect is visible in the build output
