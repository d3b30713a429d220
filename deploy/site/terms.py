"""Links the first use of each term of the glossary on a page, as the role `term` would.

The pages stay plain Markdown, which other readers show as well.
"""
import re

GLOSSARY = "glossary"
# Words that are mostly used in their common sense.
COMMON = {"other", "class", "accept"}
# Text inside of these is not changed: headings, code and links.
SKIPPED = ("title", "literal", "literal_block", "reference", "pending_xref", "table", "raw", "caption")


def glossary_terms(text):
    """Return the terms of the glossary's Markdown, its headings of the second level, without common words."""
    return [term for term in re.findall(r"^## (.+)$", text, re.M) if term not in COMMON]


class FirstUses:
    """Finds the first use of each term in the texts of a page, given in their order."""

    def __init__(self, terms):
        self.names = {term.lower(): term for term in terms}
        longest_first = sorted(terms, key=len, reverse=True)
        pattern = "|".join(re.escape(term).replace(r"\ ", r"\s+") for term in longest_first)
        self.pattern = re.compile(rf"(?<![\w-])({pattern})s?(?![\w-])", re.I)

    def split(self, text):
        """Return the parts of a text as (part, term or None)."""
        parts, at = [], 0
        for match in self.pattern.finditer(text):
            term = self.names.pop(re.sub(r"\s+", " ", match.group(1)).lower(), None)
            if term:
                parts += [(text[at:match.start()], None), (match.group(0), term)]
                at = match.end()
        return [part for part in parts + [(text[at:], None)] if part[0]]


def is_skipped(node):
    while node is not None:
        if node.tagname in SKIPPED:
            return True
        node = node.parent
    return False


def note_terms(app, doctree, terms):
    """Make the headings of the glossary the targets of the role `term`."""
    from docutils import nodes
    domain = app.env.domains["std"]
    for section in doctree.findall(nodes.section):
        term = section.next_node(nodes.title).astext()
        if term in terms:
            domain._note_term(term, section["ids"][0], location=section)


def link_terms(doctree, terms):
    from docutils import nodes
    from sphinx import addnodes
    uses = FirstUses(terms)
    texts = [node for paragraph in doctree.findall(nodes.paragraph) for node in paragraph.findall(nodes.Text)]
    for node in texts:
        parts = [] if is_skipped(node.parent) else uses.split(node.astext())
        if len(parts) == 1 and not parts[0][1] or not parts:
            continue
        linked = []
        for part, term in parts:
            text = nodes.Text(part)
            if term:
                text = addnodes.pending_xref("", nodes.inline("", part, classes=["xref", "std", "std-term"]), refdomain="std",
                                             reftype="term", reftarget=term, refexplicit=True, refwarn=True)
            linked.append(text)
        node.parent.replace(node, linked)
