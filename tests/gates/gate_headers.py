"""Every header compiles alone; the public one as C++ too. NAME_body.h is a template: it needs macros.

The build compiles a header alone if a source includes it first; the others are compiled here."""
import os
import re
import shlex
import subprocess
import tempfile

from tree import at_once

PUBLIC = "lib/evenkeel.h"
FOLDERS = ("lib", "daemon", "tests")

_SPACE = r"(?:\s|/\*.*?\*/|//[^\n]*)*"
_FIRST = re.compile(_SPACE + r'#include\s+"([^"]+)"', re.S)
_GUARD = re.compile(_SPACE + r"#ifndef (\w+)\s+#define \1\b", re.S)


def first_error(result):
    lines = [l for l in result.stderr.splitlines() if "error" in l] or result.stderr.splitlines()
    return lines[0] if lines else "failed"


def included_first(tree):
    """Return the headers that a source of the same folder includes before any other."""
    firsts = ((os.path.dirname(name), _FIRST.match(tree.text(name))) for name in tree.files("*.c", folders=FOLDERS))
    return {os.path.join(folder, os.path.basename(first.group(1))) for folder, first in firsts if first}


def compiles(tree, command, name):
    # Included twice: a header without a guard fails then.
    source = f'#include "{name}"\n#include "{name}"\n'
    return subprocess.run(command + ["-fsyntax-only", "-"], input=source, cwd=tree.root,
                          capture_output=True, text=True, check=False)


def faults(tree):
    c = [*shlex.split(tree.cc), *tree.cflags, "-Wno-unused-function", "-Wno-unused-const-variable", "-x", "c"]
    names = {n for n in tree.each("*.h", folders=FOLDERS) if not n.endswith("_body.h")}
    built = names & included_first(tree)
    for name in sorted(built):
        if not _GUARD.match(tree.text(name)):
            yield f"{name}: has no guard"
    names = sorted(names - built)
    tree.note = f"{len(built)} compiled by the build, {len(names)} here"
    for name, result in zip(names, at_once(lambda name: compiles(tree, c, name), names)):
        if result.returncode:
            yield f"{name}: does not compile alone: {first_error(result)}"
    # Outside the tree, so that only the header itself is available.
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(tree.path(PUBLIC)), os.path.join(folder, "evenkeel.h"))
        for command, words in ((tree.cxx, ["-x", "c++", "-std=c++11"]), (tree.cc, ["-x", "c", "-std=c99"])):
            result = compiles(tree, [*shlex.split(command), *words, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", folder],
                              "evenkeel.h")
            if result.returncode:
                yield f"{PUBLIC}: does not compile as {words[1]} {words[2]}: {first_error(result)}"


SEEDS = [
    ("a header that needs another", "lib/num/bet_bins.h", "struct ek_seeded {\n    FILE *f;\n};\n", "lib/num/bet_bins.h: does not compile"),
    ("a header without a guard that its source includes", "lib/base/seeded.h", "struct ek_seeded {\n    int x;\n};\n", "lib/base/seeded.h: has no guard"),
    ("a header without a guard", "lib/base/seeded.h", "struct ek_seeded {\n    int x;\n};\n", "lib/base/seeded.h: does not"),
    ("a C++ word in the public header", "lib/evenkeel.h", "int ek_seeded(int new);\n", "as c++"),
]
ALSO = {"a header without a guard that its source includes": ("lib/base/seeded.c", '#include "base/seeded.h"\n')}
