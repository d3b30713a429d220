#!/usr/bin/env python3
"""Man pages from the help of the programs themselves: man.py PROGRAM VERSION FOLDER. PROGRAM-tools is the second one."""
import sys

sys.dont_write_bytecode = True
from help_text import Help, ask, commands  # noqa: E402
from roff import head, roff, write  # noqa: E402

STATUS = [("0", "all is well"), ("1", "something failed at run time"), ("2", "the command was called wrongly"),
          ("3", "there was a finding (replay with --exit-code)"), ("78", "the configuration cannot be used"),
          ("128 and the number of a signal", "it was stopped by that, where that is not how it ends: 130 by Ctrl-C; 141 when nobody reads any more what it writes")]

ENVIRONMENT = [("NO_COLOR", "when it is set and not empty, nothing is coloured; nor is anything but a terminal"),
               ("TERM", "dumb: lines only, nothing is drawn over"),
               ("COLUMNS, LINES", "the size of what is drawn where no terminal tells its own"),
               ("LC_ALL, LC_CTYPE, LANG", "with UTF-8 in the first of them that is set, histograms are drawn with blocks")]


def listed(title, entries):
    out = [".SH " + title]
    for name, meaning in entries:
        out += [".TP", roff(name), roff(meaning)]
    return out


def page(name, version, summary, help_text, also):
    out = head(name, 1, version, summary) + [".SH SYNOPSIS"]
    for usage in help_text.usage:
        out += [".PP", "\\fB" + roff(usage) + "\\fR"]
    out.append(".SH DESCRIPTION")
    section = "DESCRIPTION"
    behind = {"option": "OPTIONS", "text": "NOTES", "verbatim": "EXAMPLES"}  # as help has them, one after the other
    for kind, *rest in help_text.blocks:
        if (kind == "option" or section != "DESCRIPTION") and section != behind[kind]:
            section = behind[kind]
            out.append(".SH " + section)
        if kind == "option":
            out += [".TP", "\\fB" + roff(rest[0]) + "\\fR", roff(rest[1])]
        elif kind == "text":
            out += [".PP", roff(rest[0])]
        else:
            out += [".PP", ".nf"] + [roff(line) for line in rest[0]] + [".fi"]
    out += listed("EXIT STATUS", STATUS) + (listed("ENVIRONMENT", ENVIRONMENT) if name == "evenkeel" else [])
    out += [".SH SEE ALSO", ", ".join(f"\\fB{roff(a)}\\fR({section})" for a, section in also)]
    return out


def main():
    program, version, folder = sys.argv[1:]
    known = commands(program)
    pages = {"evenkeel": page("evenkeel", version, "detect scale changes in ranking features and contain them",
                              Help(ask(program)), [("evenkeel-" + n, 1) for n, _ in known] +
                              [("evenkeel.yaml", 5), ("evenkeel-rules", 5)])}
    tools = program + "-tools"
    pages["evenkeel-tools"] = page("evenkeel-tools", version, "prepare data for evenkeel and choose features", Help(ask(tools)),
                                   [("evenkeel", 1)] + [("evenkeel-" + n, 1) for n, _ in commands(tools)])
    for name, summary in known:
        pages["evenkeel-" + name] = page("evenkeel " + name, version, summary, Help(ask(program, name)),
                                       [("evenkeel", 1)])
    for name, lines in pages.items():
        write(folder, name + ".1", lines)


main()
