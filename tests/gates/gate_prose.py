"""Comments and documents stay within the word rates of the style guide, and use no banned word; nor do messages."""
import re

import prose
from tree import line_of


def banned_faults(tree, names):
    banned = prose.GROUPS["banned"].split()
    for name in names:
        for start, text in prose.prose_of(name, tree.text(name)):
            for match in prose.WORD.finditer(text):
                if match.group(0).lower() in banned:
                    yield f"{name}:{line_of(tree.text(name), start + match.start())}: banned word '{match.group(0)}'"


# Comments come first, so that a quote in a comment starts no string.
STRING = re.compile(r'/\*.*?\*/|//[^\n]*|\'(?:\\.|[^\'\\\n])*\'|"((?:\\.|[^"\\\n])*)"', re.S)


def message_faults(tree):
    banned = prose.GROUPS["banned"].split()
    for name in tree.each("*.c", "*.cc", "*.h", folders=("lib", "daemon", "python")):
        for match in STRING.finditer("" if name.startswith("lib/vendor/") else tree.text(name)):
            for word in prose.WORD.findall(match.group(1) or ""):
                if word.lower() in banned:
                    yield f"{name}:{line_of(tree.text(name), match.start())}: banned word '{word}' in a message"


def rate_faults(label, rates, limits):
    for group, limit in limits.items():
        least = group == "return"
        if group != "banned" and (rates[group] < limit if least else rates[group] > limit):
            yield f"{label}: {rates[group]:.2f} times '{group}' in 1,000 words, at {'least' if least else 'most'} {limit}"


def faults(tree):
    sources, documents = prose.source_files(tree), prose.document_files(tree)
    yield from banned_faults(tree, sources + documents)
    yield from message_faults(tree)
    words, rates = prose.rates(tree, sources)
    yield from rate_faults("comments", rates, prose.COMMENT_LIMITS)
    tree.note = f"{words} words of comments"
    words, rates = prose.rates(tree, documents)
    yield from rate_faults("documents", rates, prose.DOCUMENT_LIMITS)
    tree.note += f", {words} of documents"


SEEDS = [
    ("a banned word", "lib/base/hash.c", "/* Hash an" + "ew. */\n", "banned word"),
    ("a banned word in a document", "docs/install.md", "The program starts an" + "ew.\n", "banned word"),
    ("a banned word in a message", "lib/base/hash.c", 'const char *ek_seeded = "start an' + 'ew";\n', "in a message"),
    ("clauses as nouns", "lib/base/hash.c", "/* " + "what comes " * 500 + "*/\n", "times 'what'"),
    ("no return values", "lib/base/hash.c", "/* " + "word " * 900_000 + "*/\n", "times 'return' in 1,000 words, at least"),
    ("verbs of speech in documents", "docs/install.md", "The program " + "tells and says " * 50 + "\n", "documents:"),
]
