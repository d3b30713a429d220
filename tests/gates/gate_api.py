"""The description of the HTTP API (docs/openapi.json) has the paths and calls of the server."""
import json
import re

PAGES, CALLS, DESCRIPTION = "daemon/http/pages.c", "daemon/http/control_api.c", "docs/openapi.json"


def block(text, pattern):
    found = re.findall(pattern, text, re.S)
    return found[-1] if found else ""


def served(tree):
    """Return {(method, path)} of the tables of the server."""
    pages, calls = tree.text(PAGES), tree.text(CALLS)
    gets = re.findall(r'\{"(/[^"]*)",', block(pages, r"struct page PAGES\[\] = \{(.*?)\n\};"))
    gets += [prefix + "{feature}" for prefix in re.findall(r'const char FEATURE\[\] = "([^"]*)";', pages)]
    found = {("get", path) for path in gets}
    for name, rest in re.findall(r'\{"(\w+)", EK_DECIDED_([^}]*)\}', block(calls, r"\bCALLS\[\] = \{(.*?)\};")):
        found.add(("post", "/api/v1/" + name))
        if not rest.rstrip().endswith("NULL"):
            found.add(("get", "/api/v1/" + name))
    return found


def references(node):
    if isinstance(node, dict):
        for key, value in node.items():
            yield from [value] if key == "$ref" else references(value)
    elif isinstance(node, list):
        for one in node:
            yield from references(one)


def faults(tree):
    try:
        api = json.loads(tree.text(DESCRIPTION))
    except ValueError as why:
        yield f"{DESCRIPTION}: {why}"
        return
    described = {(method, path) for path, calls in api["paths"].items() for method in calls}
    for method, path in sorted(served(tree) ^ described):
        yield f"{method} {path} is only in {'the server' if (method, path) not in described else DESCRIPTION}"
    known = {"#/components/schemas/" + name for name in api["components"]["schemas"]}
    for target in sorted(set(references(api)) - known):
        yield f"{DESCRIPTION}: no schema {target}"
    tree.note = f"{len(described)} calls"


SEEDS = [
    ("a page that is not described", PAGES, '\nstatic const struct page PAGES[] = {\n    {"/seeded", 0, 0, 0},\n};\n', "get /seeded is only in the server"),
    ("a call that is not described", CALLS, '\n} CALLS[] = {\n    {"seeded", EK_DECIDED_PIN, 0, 0, 0, NULL}};\n', "post /api/v1/seeded is only in the server"),
    ("a description that is no JSON", DESCRIPTION, "}\n", "Extra data"),
]
