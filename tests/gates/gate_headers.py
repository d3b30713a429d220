"""Every header compiles alone; the public one as C++ too. NAME_body.h is a template: it needs macros."""
import os
import shlex
import subprocess
import tempfile

from tree import at_once

PUBLIC = "lib/evenkeel.h"


def first_error(result):
    lines = [l for l in result.stderr.splitlines() if "error" in l] or result.stderr.splitlines()
    return lines[0] if lines else "failed"


def compiles(tree, command, name):
    # Included twice: a header without a guard fails then.
    source = f'#include "{name}"\n#include "{name}"\n'
    return subprocess.run(command + ["-fsyntax-only", "-"], input=source, cwd=tree.root,
                          capture_output=True, text=True, check=False)


def faults(tree):
    c = [*shlex.split(tree.cc), *tree.cflags, "-Wno-unused-function", "-Wno-unused-const-variable", "-x", "c"]
    names = [n for n in tree.each("*.h", folders=("lib", "daemon", "tests")) if not n.endswith("_body.h")]
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
    ("a header that needs another", "lib/base/buf.h", "struct ek_seeded {\n    FILE *f;\n};\n", "lib/base/buf.h: does not compile"),
    ("a header without a guard", "lib/base/seeded.h", "struct ek_seeded {\n    int x;\n};\n", "lib/base/seeded.h: does not"),
    ("a C++ word in the public header", "lib/evenkeel.h", "int ek_seeded(int new);\n", "as c++"),
]
