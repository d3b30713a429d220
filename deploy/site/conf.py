"""Configuration of the documentation site (Sphinx with MyST and Furo); `make docs-site` uses it."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import terms  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs")

project = "evenkeel"
author = copyright = "the evenkeel authors"
version = release = os.environ.get("VERSION", "")
extensions = ["myst_parser"]
html_theme = "furo"
html_use_index = False
html_title = f"evenkeel {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scorer.js")
root_doc = "index"
exclude_patterns = ["examples"]
html_extra_path = [os.path.join(SOURCES, "openapi.json")]
myst_heading_anchors = 4
# Blocks of commands have markers of tests/docs/run.py after their language, which no highlighter knows.
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure"]

LINK = re.compile(r"(!?)\[([^\]\[]*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w+) ([^\n`]*)$", re.M)


def is_foreign(folder, target):
    """Return whether a link leads to a folder, or to a file outside of the site. A broken link does not."""
    file = target.partition("#")[0]
    path = os.path.normpath(os.path.join(SOURCES, folder, file))
    return bool(file) and (os.path.isdir(path) or os.path.exists(path) and not path.startswith(SOURCES + os.sep))


def without_foreign_links(text, folder):
    """Replace links to files outside of the site, and to folders, by their text."""
    def replace(match):
        image, label, target = match.groups()
        return label if not image and "://" not in target and is_foreign(folder, target) else match.group(0)
    return LINK.sub(replace, text)


def toctree(caption, pages):
    return f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n\n" + "\n".join(dict.fromkeys(pages)) + "\n```\n"


def linked_pages(text):
    return [target.removesuffix(".md") for _, _, target in LINK.findall(text) if target.endswith(".md")]


def table_of_contents(text):
    """Return hidden tables of contents of the index: one per section, and one per goal in the table of guides."""
    found = []
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        title, _, body = part.partition("\n")
        goals = re.findall(r"^\| ([^|\[]+) \| (.*) \|$", body, re.M) if title.startswith("Guides") else []
        for caption, pages in [goal for goal in goals if linked_pages(goal[1])] or [(title.partition(":")[0], body)]:
            found.append(toctree(caption, linked_pages(pages)))
    return "".join(found)


# Developer pages that the index does not name are below one that it names, so that the sidebar folds them.
BELOW = {"dev/architecture": ["evidence", "findings", "detection*", "forged-lists", "kafka-client", "learned-baseline", "limits", "nfs", "formats/*"],
         "dev/decisions/README": ["*"], "dev/results": ["result-runs", "training"], "dev/release": ["other-systems", "sandbox"]}


def without_markers(match):
    """Return the first line of a block: its language, and its file as the caption."""
    language, markers = match.groups()
    file = markers.split()[0]
    return f"```{{code-block}} {language}\n:caption: {file}\n" if re.fullmatch(r"[\w-]+\.\w+", file) else f"```{language}"


def read(app, name, source):
    text = FENCE.sub(without_markers, without_foreign_links(source[0], os.path.dirname(name)))
    if name == root_doc:
        text += table_of_contents(text)
    if name in BELOW:
        text += toctree("Details", BELOW[name])
    source[0] = text


def text_of(name):
    with open(os.path.join(SOURCES, name + ".md"), encoding="utf-8") as f:
        return f.read()


def guides():
    """Return the tutorials and guides that the index names."""
    parts = re.split(r"^## ", text_of(root_doc), flags=re.M)
    return {page for part in parts if part.startswith(("Tutorials", "Guides")) for page in linked_pages(part)}


def link_terms(app, doctree):
    known = terms.glossary_terms(text_of(terms.GLOSSARY))
    if app.env.docname == terms.GLOSSARY:
        terms.note_terms(app, doctree, known)
    elif app.env.docname in guides():
        terms.link_terms(doctree, known)


CELL = re.compile(r"<td>.*?</td>", re.S)
LITERAL = re.compile(r'(?<=<span class="pre">)[^<]+')
BREAK = re.compile(r"(?<=[._/=(,|])(?=\w)")


def with_breaks(body):
    """Let the names in tables break after punctuation; a copy of them has no other characters."""
    return CELL.sub(lambda cell: LITERAL.sub(lambda name: BREAK.sub("<wbr>", name.group(0)), cell.group(0)), body)


def add_breaks(app, name, template, context, doctree):
    if "body" in context:
        context["body"] = with_breaks(context["body"])


def setup(app):
    app.connect("source-read", read)
    app.connect("doctree-read", link_terms)
    app.connect("html-page-context", add_breaks)
