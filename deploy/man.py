#!/usr/bin/env python3
"""Man pages from the help of the program itself: man.py PROGRAM VERSION FOLDER"""
import os
import sys

sys.dont_write_bytecode = True
from help_text import Help, ask, commands  # noqa: E402

STATUS = [("0", "all is well"), ("1", "something failed at run time"), ("2", "the command was called wrongly"),
          ("3", "there was a finding (replay with --exit-code)"), ("78", "the configuration cannot be used")]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def page(name, version, summary, help_text, also):
    out = [f'.TH {name.upper().replace(" ", "-")} 1 "" "evenkeel {version}" "evenkeel"',
           ".SH NAME", f"{roff(name.replace(' ', '-'))} \\- {roff(summary)}", ".SH SYNOPSIS"]
    for usage in help_text.usage:
        out += [".PP", "\\fB" + roff(usage) + "\\fR"]
    out.append(".SH DESCRIPTION")
    in_options = False
    for kind, *rest in help_text.blocks:
        if kind == "option":
            if not in_options:
                out.append(".SH OPTIONS")
            in_options = True
            out += [".TP", "\\fB" + roff(rest[0]) + "\\fR", roff(rest[1])]
        elif kind == "text":
            out += [".PP", roff(rest[0])]
        else:
            out += [".PP", ".nf"] + [roff(line) for line in rest[0]] + [".fi"]
    out.append(".SH EXIT STATUS")
    for status, meaning in STATUS:
        out += [".TP", status, roff(meaning)]
    out += [".SH SEE ALSO", ", ".join(f"\\fB{roff(a)}\\fR(1)" for a in also)]
    return "\n".join(out) + "\n"


def main():
    program, version, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    known = commands(program)
    pages = {"evenkeel": page("evenkeel", version, "keep rankings on an even keel when the scale of a feature shifts",
                              Help(ask(program)), ["evenkeel-" + n for n, _ in known])}
    for name, summary in known:
        pages["evenkeel-" + name] = page("evenkeel " + name, version, summary, Help(ask(program, name)), ["evenkeel"])
    for name, text in pages.items():
        with open(os.path.join(folder, name + ".1"), "w", encoding="utf-8") as f:
            f.write(text)


main()
