"""Documents are short: words per page, words written by hand in total, lines of the README. Each user page is on the
index and shows its kind, and accuracy has no ranking result that the generated tables lack. Generated pages and tables
do not count."""
import re

README_LINES = 150
PAGE_WORDS = 2500
USER_WORDS = 41000
INDEX = "docs/index.md"
DEVELOPER = "docs/dev/"
KINDS = ("This tutorial", "This guide", "This reference", "This page explains")
KIND_LINES = 6
GENERATED_MARK = "This reference is generated"
ACCURACY, RESULTS = "docs/accuracy.md", "docs/dev/results.md"
_RESULT = re.compile(r"\.\d{4}±\.\d{4}")
_TABLE = re.compile(r"<!-- table \S+ -->.*?<!-- end -->", re.S)
_HIDDEN = re.compile(r"<!--.*?-->", re.S)
_WORD = re.compile(r"\S*\w\S*")
_LINK = re.compile(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)")


def is_generated(text):
    return GENERATED_MARK in text[:400]


def words_of(text):
    """Return the number of words written by hand: blocks of commands count, comments and generated tables do not."""
    return len(_WORD.findall(_HIDDEN.sub("", _TABLE.sub("", text))))


def pages(tree):
    """Return {name: text} of the README and all documents."""
    return {name: tree.text(name) for name in ["README.md"] + tree.files("*.md", folders=("docs",))}


def size_faults(found):
    for name, text in found.items():
        words = 0 if is_generated(text) else words_of(text)
        if words > PAGE_WORDS:
            yield f"{name}: {words} words, at most {PAGE_WORDS}"
    lines = found["README.md"].count("\n")
    if lines > README_LINES:
        yield f"README.md: {lines} lines, at most {README_LINES}"


def user_pages(found):
    return {name: text for name, text in found.items() if not name.startswith(DEVELOPER)}


def total(found):
    return sum(words_of(text) for text in found.values() if not is_generated(text))


def structure_faults(found):
    linked = {"docs/" + target for target in _LINK.findall(found.get(INDEX, ""))}
    for name, text in user_pages(found).items():
        if name in ("README.md", INDEX):
            continue
        if name not in linked:
            yield f"{name}: is not in {INDEX}"
        if not any(line.startswith(KINDS) for line in text.splitlines()[:KIND_LINES]):
            yield f"{name}: its first lines do not show its kind ({', '.join(KINDS)})"


def result_faults(found):
    known = set(_RESULT.findall(found[RESULTS]))
    for value in _RESULT.findall(found[ACCURACY]):
        if value not in known:
            yield f"{ACCURACY}: {value} is not in {RESULTS}"


def faults(tree):
    found = pages(tree)
    yield from result_faults(found)
    yield from size_faults(found)
    yield from structure_faults(found)
    users = user_pages(found)
    words = total(users)
    if words > USER_WORDS:
        yield f"docs: {words} words written by hand in pages for users, at most {USER_WORDS}"
    tree.note = (f"{words} words by hand in {len(users)} pages for users, {total(found) - words} in {len(found) - len(users)} for "
                 f"developers, README {found['README.md'].count(chr(10))} lines")


SEEDS = [
    ("a page that is too long", "docs/install.md", "word " * PAGE_WORDS + "\n", "docs/install.md: "),
    ("too many words in all", "docs/seeded.md", "This guide is long.\n" + "word\n" * USER_WORDS, "written by hand in pages for users"),
    ("a README that is too long", "README.md", "\n" * README_LINES, "README.md: "),
    ("a page that the index does not have", "docs/seeded.md", "This guide is short.\n", f"docs/seeded.md: is not in {INDEX}"),
    ("a result from nowhere", ACCURACY, "It is .9999±.0001.\n", f"{ACCURACY}: .9999±.0001 is not in"),
    ("a page without a kind", "docs/seeded.md", "It is short.\n", "docs/seeded.md: its first lines do not show its kind"),
]
