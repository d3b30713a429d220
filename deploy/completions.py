#!/usr/bin/env python3
"""Shell completions from the help of the program itself: completions.py PROGRAM FOLDER"""
import os
import sys

sys.dont_write_bytecode = True
from help_text import Help, ask, commands  # noqa: E402

BASH = """# bash completion for evenkeel
_evenkeel()
{
    local word=${COMP_WORDS[COMP_CWORD]} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        words="%(commands)s --help --version"
    else
        case ${COMP_WORDS[1]} in
%(cases)s
        esac
        [[ $word == -* ]] || return 0
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _evenkeel evenkeel
"""

ZSH = """#compdef evenkeel
# zsh completion for evenkeel
local -a commands options
commands=(
%(described)s
)
if (( CURRENT == 2 )); then
    _describe command commands
    return
fi
case $words[2] in
%(cases)s
esac
if [[ $PREFIX == -* ]]; then
    compadd -- $options
else
    _files
fi
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def main():
    program, folder = sys.argv[1:]
    known = commands(program)
    options = {name: " ".join(dict.fromkeys(Help(ask(program, name)).options())) for name, _ in known}
    bash = BASH % {"commands": " ".join(n for n, _ in known),
                   "cases": "\n".join(f'        {n}) words="{options[n]}" ;;' for n, _ in known)}
    zsh = ZSH % {
        "described": "\n".join("    " + quoted(f"{n}:{s}") for n, s in known),
        "cases": "\n".join(f"    {n}) options=({' '.join(map(quoted, options[n].split()))}) ;;" for n, _ in known)}
    os.makedirs(folder, exist_ok=True)
    for name, text in (("evenkeel", bash), ("_evenkeel", zsh)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


main()
