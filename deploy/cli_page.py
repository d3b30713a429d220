#!/usr/bin/env python3
"""Write docs/cli.md, the reference of all commands, from the help of the programs: cli_page.py PROGRAM."""
import sys

sys.dont_write_bytecode = True
from help_text import Help, ask, commands  # noqa: E402

HEAD = """# Commands

This reference is generated from the help of the programs with `make reference`; do not edit it.

`evenkeel COMMAND --help` prints the same for one command, and `--usage` a short form.
`evenkeel` executes `evenkeel-tools` for {tools}.
[Exit codes](exit-codes.md) apply to all commands.

| command | effect |
|---|---|
"""
# Options of every command.
COMMON = ("-?, --help", "--usage", "-V, --version")


def cell(text):
    return text.replace("|", "\\|")


def prose(text):
    """Escape characters with a meaning in Markdown."""
    for letter in "<>*_":
        text = text.replace(letter, "\\" + letter)
    return text


def section(program, name):
    found = Help(ask(program, name))
    lines = [f"## {name}", "", "```text", *(u.strip() for u in found.usage), "```", ""]
    in_table = False
    for kind, *rest in found.blocks:
        if kind == "option" and rest[0] in COMMON:
            continue
        if kind == "option" and not in_table:
            lines += ["| option | effect |", "|---|---|"]
        elif kind != "option" and in_table:
            lines.append("")
        in_table = kind == "option"
        if kind == "option":
            lines.append(f"| `{cell(rest[0])}` | {cell(prose(rest[1]))} |")
        elif kind == "text":
            lines += [prose(rest[0]), ""]
        else:
            lines += ["```text", *rest[0], "```", ""]
    return lines if not in_table else lines + [""]


def main():
    program = sys.argv[1]
    known = commands(program)
    tools = [f"`{name}`" for name, _ in commands(program + "-tools")]
    lines = (HEAD.format(tools=", ".join(tools[:-1]) + " and " + tools[-1])).splitlines()
    lines += [f"| [`{name}`](#{name}) | {cell(prose(summary))} |" for name, summary in known] + [""]
    for name, _ in known:
        lines += section(program, name)
    print("\n".join(lines).rstrip())


main()
