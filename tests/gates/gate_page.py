"""Each action of a plan has its texts on the page, under its own name."""
import re

ENUM, PROBLEMS, ACT = "lib/schema/enum_names.c", "daemon/http/page/problems.js", "daemon/http/page/act.js"
# Actions of rules that no plan has, or that change no list.
NO_EFFECT = {"none", "alert", "auto"}


def block(text, pattern):
    found = re.findall(pattern, text, re.S)
    return found[-1] if found else ""


def actions_of(tree):
    return set(re.findall(r'"(\w+)"', block(tree.text(ENUM), r"\bACTIONS\[\w*\] = \{(.*?)\};")))


def keys(text, name):
    return set(re.findall(r"(?:^|[{,\s])(\w+): [\"`]", block(text, rf"\bconst {name} = \{{(.*?)\}};")))


def faults(tree):
    actions = actions_of(tree)
    effective = actions - NO_EFFECT
    text = tree.text(PROBLEMS)
    found = {"ROUTES": set(re.findall(r'"(\w+)"', block(text, r"\bconst ROUTES = \[(.*?)\];"))),
             "INSTEAD": keys(text, "INSTEAD"), "DONE": keys(text, "DONE")}
    for name, names in found.items():
        for action in sorted(effective ^ names):
            yield f"{PROBLEMS}:1: action '{action}' is only in {'the plan' if action in effective else name} (see {name})"
    for action, label in re.findall(r'\["(\w+)", "(\w+):', block(tree.text(ACT), r"\bconst ACTIONS = \[(.*?)\];")):
        if action not in actions or action != label:
            yield f"{ACT}:1: action '{action}' is labeled '{label}'"
    tree.note = f"{len(actions)} actions"


SEEDS = [
    ("an action without texts", ENUM, 'static const char *const ACTIONS[1] = {"seeded"};\n', "action 'seeded' is only in the plan"),
    ("a text of another action", PROBLEMS, 'const DONE = { rescale: "Rescaled" };\n', "action 'rescale' is only in DONE"),
    ("another label", ACT, 'const ACTIONS = [["repair", "rescale: undo"]];\n', "action 'repair' is labeled 'rescale'"),
]
