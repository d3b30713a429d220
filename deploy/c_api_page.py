#!/usr/bin/env python3
"""Write docs/c-api.md, the reference of the library, from the comments of its header: c_api_page.py lib/evenkeel.h"""
import re
import sys

HEAD = """# C API

This reference is generated from `lib/evenkeel.h` with `make reference`; do not edit it.
[Embed the guard](embedding.md) has an example.
"""
_COMMENTED = re.compile(r"/\*\*(.*?)\*/\n(\w[^;{]*\{.*?\n\};|.*?;)\n", re.S)
_NAME = re.compile(r"\(\*(\w+)\)\(|(\w+)\(|(?:enum|struct) (\w+) \{")


def lines_of(comment):
    return [re.sub(r"^\s*\* ?", "", line).rstrip() for line in comment.strip().splitlines()]


def tags_of(lines):
    """Return (text lines, [[tag, words]]) of a comment."""
    text, tags = [], []
    for line in lines:
        match = re.match(r"@(\w+) (.*)", line)
        if match:
            tags.append([match.group(1), match.group(2)])
        elif tags:
            tags[-1][1] += " " + line.strip()
        else:
            text.append(line)
    return text, tags


def cell(words):
    return words.strip().replace("|", "\\|")


def rows(title, pairs):
    if not pairs:
        return []
    return [f"| {title} | |", "|---|---|", *(f"| `{name}` | {cell(words)} |" for name, words in pairs), ""]


def section(comment, declaration):
    names = next(group for group in _NAME.search(declaration).groups() if group)
    text, tags = tags_of(lines_of(comment))
    pairs = {kind: [words.partition(" ")[::2] for tag, words in tags if tag == kind] for kind in ("param", "retval")}
    out = [f"## {names}", "", "```c", *declaration.strip().splitlines(), "```", "", *text]
    out += [""] if text and text[-1] else []
    out += rows("parameter", pairs["param"])
    out += [line for tag, words in tags if tag == "return" for line in (f"Returns {words[0].lower() if words[:2] == 'Th' else words[0]}{words[1:]}", "")]
    return out + rows("error", pairs["retval"])


def introduction(comment):
    """Return the comment at the start of the header, with its indented examples as blocks."""
    out, in_block = [], False
    for line in lines_of(comment):
        if line.startswith("    ") != in_block and line:
            out.append("```text" if not in_block else "```")
            if in_block:
                out.append("")
            in_block = not in_block
        out.append(line[4:] if in_block else line)
    text = "\n".join(out)
    return re.sub(r"\n\n```\n", "\n```\n", text)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        text = f.read()
    first = re.match(r"/\*\*(.*?)\*/", text, re.S)
    lines = [HEAD, introduction(first.group(1)), ""]
    for match in _COMMENTED.finditer(text, first.end()):
        lines += section(*match.groups())
    print(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip())


main()
