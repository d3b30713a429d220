#!/usr/bin/env python3
"""Prose statistics: how often comments and documents use the words that the style guide limits.

usage: prose.py [--folders] [--lines WORDS FOLDER]

Prints occurrences per 1,000 words, with --folders for each folder; with --lines each line of FOLDER that has one of
these words (what, who, told, return, banned).
"""
import argparse
import collections
import os
import re
import sys

from tree import Tree, line_of

COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(/\*.*?\*/|//[^\n]*)', re.S)
CODE = re.compile(r"^(```|~~~)[\s\S]*?^\1|`[^`\n]+`", re.M)
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
GROUPS = {
    "what": "what whatever",
    "who": "who whoever whose whom",
    "told": "tell tells told telling say says said saying ask asks asked asking hear hears heard hearing",
    "return": "return returns returned returning",
    "banned": "anew beside nobody somebody whoever",
}
GROUP_OF = {word: group for group, words in GROUPS.items() for word in words.split() if group != "banned"}
# Per 1,000 words: at most, or for `return` at least.
COMMENT_LIMITS = {"what": 2, "who": .5, "told": .5, "return": 4, "banned": 0}
DOCUMENT_LIMITS = {"what": .2, "who": .2, "told": .2, "banned": 0}
SOURCES = ("*.c", "*.cc", "*.h")
RECORDS = "docs/dev/decisions/"


def comments(text):
    """Yield (offset, comment) of C source."""
    for match in COMMENT.finditer(text):
        if match.group(1):
            yield match.start(1), match.group(1)


def prose_of(name, text):
    """Yield (offset, text) of a file's prose: its comments, or a document without its code."""
    if name.endswith((".c", ".cc", ".h")):
        yield from comments(text)
    else:
        yield 0, CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def count(texts):
    found, words = collections.Counter(), 0
    for text in texts:
        for word in WORD.findall(text):
            words += 1
            word = word.lower()
            found[GROUP_OF.get(word)] += 1
            found["banned"] += word in GROUPS["banned"].split()
    return words, {group: 1000 * found[group] / max(words, 1) for group in GROUPS}


def source_files(tree):
    return tree.files(*SOURCES, folders=("lib", "daemon", "python", "tests"))


def document_files(tree):
    return [n for n in tree.files("*.md", folders=("docs",)) if not n.startswith(RECORDS)] + ["README.md"]


def rates(tree, names):
    return count(text for name in names for _, text in prose_of(name, tree.text(name)))


def print_row(label, words, rate):
    print(f"{label:32} {words:8}" + "".join(f"{rate[group]:8.2f}" for group in GROUPS))


def print_lines(tree, groups, folder):
    wanted = {word for group in groups for word in GROUPS[group].split()}
    for name in source_files(tree) + document_files(tree):
        if not name.startswith(folder):
            continue
        for start, text in prose_of(name, tree.text(name)):
            for match in WORD.finditer(text):
                if match.group(0).lower() in wanted:
                    print(f"{name}:{line_of(tree.text(name), start + match.start())}: {match.group(0)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folders", action="store_true")
    parser.add_argument("--lines", nargs=2, metavar=("WORDS", "FOLDER"))
    options = parser.parse_args()
    tree = Tree(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    if options.lines:
        return print_lines(tree, options.lines[0].split(","), options.lines[1])
    print(f"{'per 1,000 words':32} {'words':>8}" + "".join(f"{group:>8}" for group in GROUPS))
    names = source_files(tree)
    print_row("C comments", *rates(tree, names))
    print_row("README and docs", *rates(tree, document_files(tree)))
    if options.folders:
        for folder in sorted({os.path.dirname(name) for name in names}):
            print_row(folder, *rates(tree, [n for n in names if os.path.dirname(n) == folder]))
        for name in document_files(tree):
            print_row(name, *rates(tree, [name]))


if __name__ == "__main__":
    sys.exit(main())
