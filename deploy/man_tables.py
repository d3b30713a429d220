#!/usr/bin/env python3
"""Man pages of section 5 from the generated documents of keys: man_tables.py VERSION FOLDER NAME=DOCUMENT:SUMMARY..."""
import re
import sys

sys.dont_write_bytecode = True
from roff import head, roff, write  # noqa: E402


def inline(text):
    """Links become their words, code bold, `*` of strong text goes."""
    text = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"\1", text)
    out = []
    for i, part in enumerate(text.split("`")):
        out.append(f"\\fB{roff(part, False)}\\fR" if i % 2 and part else roff(part, False))
    line = "".join(out)
    return "\\&" + line if line.startswith((".", "'")) else line


def row(line):
    """key, values, default, what it is; `\\|` is no border."""
    cells = [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
    if len(cells) < 4:
        return [".TP", inline(cells[0]), inline("; ".join(cells[1:]))]
    key, values, default, text = cells[0], cells[1], cells[2], cells[3]
    out = [".TP", inline(key), inline(f"{text}{'' if text.endswith('.') else '.'}"), ".br", "Values: " + inline(values)]
    if default == "required":
        return out + [".br", "Required"]
    return out if default in ("none", "") else out + [".br", "Default: " + inline(default)]


def body(lines):
    out, i, in_code = [], 0, False
    while i < len(lines):
        line = lines[i]
        if line.startswith("```"):
            in_code = not in_code
            out += [".PP", ".nf"] if in_code else [".fi"]
        elif in_code:
            out.append(roff(line))
        elif line.startswith("#"):
            out.append(".SH " + line.lstrip("# ").upper().replace("-", "\\-"))
        elif line.startswith("|"):
            out += row(line) if i < 2 or not is_head(lines, i) else []
        elif line.startswith("- "):
            out += [".IP \\(bu 2", inline(line[2:])]
        elif line.strip():
            before = lines[i - 1] if i else ""
            out += ([".PP"] if not before.strip() or before.startswith(("|", "```", "#")) else []) + [inline(line.strip())]
        i += 1
    return out


def is_head(lines, i):
    """The titles of a table, and the dashes below."""
    return bool(re.match(r"\|[-| ]+$", lines[i])) or i + 1 < len(lines) and bool(re.match(r"\|[-| ]+$", lines[i + 1]))


def main():
    version, folder, *pages = sys.argv[1:]
    for each in pages:
        name, rest = each.split("=", 1)
        document, summary = rest.split(":", 1)
        with open(document, encoding="utf-8") as f:
            lines = f.read().splitlines()
        out = head(name, 5, version, summary) + [".SH DESCRIPTION"] + body(lines[1:])
        out += [".SH SEE ALSO", "\\fBevenkeel\\fR(1), \\fBevenkeel\\-run\\fR(1), \\fBevenkeel\\-check\\fR(1)"]
        write(folder, name + ".5", out)


main()
