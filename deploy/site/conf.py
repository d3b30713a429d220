"""Configuration of the documentation site (Sphinx with MyST and Furo); `make docs-site` uses it."""
import os
import re

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs")

project = "evenkeel"
author = copyright = "the evenkeel authors"
version = release = os.environ.get("VERSION", "")
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"evenkeel {version}"
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
    path = os.path.normpath(os.path.join(SOURCES, folder, target.partition("#")[0]))
    return os.path.isdir(path) or os.path.exists(path) and not path.startswith(SOURCES + os.sep)


def without_foreign_links(text, folder):
    """Replace links to files outside of the site, and to folders, by their text."""
    def replace(match):
        image, label, target = match.groups()
        return label if not image and "://" not in target and is_foreign(folder, target) else match.group(0)
    return LINK.sub(replace, text)


def table_of_contents(text):
    """Return a hidden table of contents for each section of the index, from its links to pages."""
    found = []
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        title, _, body = part.partition("\n")
        pages = [target.removesuffix(".md") for _, _, target in LINK.findall(body) if target.endswith(".md")]
        caption = title.partition(":")[0]
        found.append(f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(dict.fromkeys(pages)) + "\n```\n")
    return "".join(found)


def rest_of_developers():
    """Return a hidden table of contents of the developer pages that the index does not have."""
    return "\n```{toctree}\n:hidden:\n:glob:\n:caption: Details for developers\n\ndev/*\ndev/formats/*\ndev/decisions/*\n```\n"


def without_markers(match):
    """Return the first line of a block: its language, and its file as the caption."""
    language, markers = match.groups()
    file = markers.split()[0]
    return f"```{{code-block}} {language}\n:caption: {file}\n" if re.fullmatch(r"[\w-]+\.\w+", file) else f"```{language}"


def read(app, name, source):
    text = FENCE.sub(without_markers, without_foreign_links(source[0], os.path.dirname(name)))
    if name == root_doc:
        text += table_of_contents(text) + rest_of_developers()
    source[0] = text


def setup(app):
    app.connect("source-read", read)
