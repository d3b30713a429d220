"""No machine paths and no words of unfinished work."""
import re

from tree import line_of

# Assembled from parts, so that this file does not match.
LEFT_OVER = ["TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK", "not built" + " yet"]
PLACES = ["/ho" + "me/", "/ro" + "ot/", "/Us" + "ers/", "/wo" + "rk/", "/tmp/" + "bash"]
MARKERS = ["<" * 7 + " ", ">" * 7 + " "]
_FOUND = re.compile(r"\b(?:" + "|".join(map(re.escape, LEFT_OVER)) + r")\b|(?<![\w.}$)/-])(?:" +
                    "|".join(map(re.escape, PLACES)) + r")|^(?:" + "|".join(MARKERS) + ")", re.M)


def faults(tree):
    for name in tree.each("*"):
        if "\0" in tree.text(name) or name.startswith((".git", "compile_commands")):
            continue
        text = tree.text(name)
        for match in _FOUND.finditer(text):
            yield f"{name}:{line_of(text, match.start())}: '{match.group(0)}' does not belong here"


SEEDS = [
    ("a leftover word", "lib/base/hash.c", "/* " + LEFT_OVER[0] + ": later */\n", LEFT_OVER[0]),
    ("a machine path", "CONTRIBUTING.md", "See " + PLACES[0] + "me/notes.\n", PLACES[0]),
    ("a conflict marker", "Makefile", MARKERS[0] + "HEAD\n", "does not belong here"),
]
