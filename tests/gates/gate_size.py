"""No file over 1,000 lines, no function over 80."""
import ast
import re

from tree import line_of

FILE_LINES, FUNCTION_LINES = 1000, 80
# The repository's brace style: a body opens and closes in the first column.
_BODY = re.compile(r"^(?P<head>[A-Za-z_][^;={}]*\))[^;={}]*\n\{\n(?P<body>.*?)^\}", re.M | re.S)


def c_functions(tree, name):
    code = tree.code(name)
    for match in _BODY.finditer(code):
        title = re.search(r"\b(?!__attribute__)(\w+)\s*\(", match.group("head"))
        start, end = line_of(code, match.start()), line_of(code, match.end())
        yield end - start + 1, name, start, title.group(1) if title else "?"


def python_functions(tree, name):
    for node in ast.walk(ast.parse(tree.text(name), name)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.end_lineno - node.lineno + 1, name, node.lineno, node.name


def faults(tree):
    functions = []
    files = []
    for name in tree.each("*.c", "*.cc", "*.h", "*.py", "*.sh", "*.mk", "*.js", "*.css", "Makefile"):
        files.append((tree.text(name).count("\n"), name))
        if name.endswith((".c", ".h")):
            functions += c_functions(tree, name)
        elif name.endswith(".py"):
            functions += python_functions(tree, name)
    yield from (f"{name}:1: {lines} lines, at most {FILE_LINES}" for lines, name in files if lines > FILE_LINES)
    yield from (f"{name}:{line}: function '{title}' has {lines} lines, at most {FUNCTION_LINES}"
                for lines, name, line, title in functions if lines > FUNCTION_LINES)
    top = ", ".join(f"{title} {lines}" for lines, _, _, title in sorted(functions, reverse=True)[:5])
    big = ", ".join(f"{name} {lines}" for lines, name in sorted(files, reverse=True)[:5])
    tree.note = f"largest functions: {top}; largest files: {big}"


SEEDS = [
    ("a file that is too long", "lib/base/hash.c", "\n" * 1000, "lines, at most 1000"),
    ("a function that is too long", "lib/base/hash.c",
     "int ek_seeded(void);\nint ek_seeded(void)\n{\n" + "    ;\n" * 90 + "    return 0;\n}\n", "'ek_seeded' has"),
]
