#!/usr/bin/env python3
"""Shell completions from the help of the program itself: completions.py PROGRAM SCHEMA FOLDER

Commands and options come from the help, actions and modes from the schema of the rules. What else an option takes is
said below; a word there that the program does not have ends this with an error.
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from help_text import Help, ask, commands  # noqa: E402

# Of which kind a file is, by the option that names it; others take any file.
FILES = {"--config": "*.yaml", "--manifest": "*.yaml", "--features": "*.yaml", "--rules": "*.yaml", "--compare": "*.yaml",
         "--profile": "*.ekp", "--model": "*.safetensors", "--upstream-model": "*.safetensors"}
# And by the command that takes it without an option.
ARGUMENTS = {"inspect": "*.@(ekp|safetensors|ekc|eks|msgpack|json|gz|zst)", "check": "*.@(yaml|ekp|safetensors)",
             "export": "*.safetensors"}
# Words that a command takes without an option.
WORDS = {"generate": "hotel"}
VALUES = {
    ("train", "--loss"): "listmle listnet approxndcg", ("train", "--optimizer"): "adamw adagrad",
    ("train", "--routing"): "random none static:", ("train", "--log-input"): "always routed none",
    ("train", "--transform"): "log1p raw zscore cdf mixture", ("train", "--teacher"): "upstream", ("eval", "--teacher"): "upstream", ("eval", "--gain"): "exp linear",
    ("eval", "--empty-lists"): "skip 0 1", ("eval", "--normalize-spread"): "auto off", ("eval", "--route"): "none all",
    ("eval", "--repair-by"): "all arm", ("generate", "--format"): "letor messages",
    ("generate", "--encoding"): "array bin map json json-map", ("convert", "--encoding"): "array bin map json json-map",
    ("generate", "--layout"): "list item", ("convert", "--layout"): "list item", ("replay", "--layout"): "list item",
    ("capture", "--from"): "beginning end",
}

BASH = """# bash completion for evenkeel
# Files of one kind, and folders on the way to them.
_evenkeel_files()
{
    local word=$1 kind=$2 had
    shopt -q extglob; had=$?
    shopt -s extglob
    mapfile -t COMPREPLY < <(compgen -f -X "!$kind" -- "$word"; compgen -d -- "$word")
    [ $had = 0 ] || shopt -u extglob
    compopt -o filenames 2>/dev/null
}
_evenkeel()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "%(commands)s help --help --version" -- "$word")
        return
    fi
    # --option=value comes as three words.
    if [ "$word" = = ]; then
        word=
    elif [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case ${COMP_WORDS[1]}:$before in
%(values)s
    esac
    case ${COMP_WORDS[1]}:$before in
%(files)s
    esac
    if [ -z "$words" ]; then
        case ${COMP_WORDS[1]} in
%(cases)s
        esac
        if [[ $word != -* ]]; then
            case ${COMP_WORDS[1]} in
%(arguments)s
            esac
            return
        fi
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _evenkeel evenkeel
"""

ZSH = """#compdef evenkeel
# zsh completion for evenkeel
local -a commands options
local option=$words[CURRENT-1]
commands=(
%(described)s
)
if (( CURRENT == 2 )); then
    _describe command commands
    return
fi
# --option=value is one word here.
if [[ $PREFIX == --*=* ]]; then
    option=${PREFIX%%%%=*}
    compset -P '*='
fi
case $words[2]:$option in
%(values)s
esac
case $words[2]:$option in
%(files)s
esac
case $words[2] in
%(cases)s
esac
if [[ $PREFIX == -* ]]; then
    compadd -- $options
    return
fi
case $words[2] in
%(arguments)s
*) _files ;;
esac
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def words_of_rules(path):
    """What a pin may do, by the schema of the rules."""
    with open(path, encoding="utf-8") as f:
        schema = json.load(f)
    action = schema["properties"]["pins"]["anyOf"][0]["items"]["properties"]["action"]
    return " ".join(word for word in action["anyOf"][0]["enum"] if word != "repair")


def check_words(options, values):
    for command, option in values:
        if option not in options[command]:
            raise SystemExit(f"completions: evenkeel {command} has no {option}")
    every = {o for of in options.values() for o in of}
    for option in FILES:
        if option not in every:
            raise SystemExit(f"completions: no command has {option}")
    for command in (*ARGUMENTS, *WORDS):
        if command not in options:
            raise SystemExit(f"completions: no command {command}")


def main():
    program, schema, folder = sys.argv[1:]
    known = commands(program)
    options = {name: list(dict.fromkeys(Help(ask(program, name)).options())) for name, _ in known}
    values = {**VALUES, ("pin", "--action"): words_of_rules(schema)}
    check_words(options, values)
    words = [*WORDS.items(), ("help", " ".join(options))]
    bash = BASH % {
        "commands": " ".join(n for n, _ in known),
        "values": "\n".join(f'    {c}:{o}) words="{v}" ;;' for (c, o), v in values.items()),
        "files": "\n".join(f"    *:{o}) _evenkeel_files \"$word\" '{kind}'; return ;;" for o, kind in FILES.items()),
        "arguments": "\n".join([f"            {c}) _evenkeel_files \"$word\" '{k}' ;;" for c, k in ARGUMENTS.items()] +
                               [f'            {c}) mapfile -t COMPREPLY < <(compgen -W "{w}" -- "$word") ;;' for c, w in words]),
        "cases": "\n".join(f'        {n}) words="{" ".join(options[n])}" ;;' for n, _ in known)}
    zsh = ZSH % {
        "described": "\n".join("    " + quoted(f"{n}:{s}") for n, s in known),
        "values": "\n".join(f"{c}:{o}) compadd -- {v}; return ;;" for (c, o), v in values.items()),
        "files": "\n".join(f"*:{o}) _files -g {quoted(k)}; return ;;" for o, k in FILES.items()),
        "arguments": "\n".join([f"{c}) _files -g {quoted(k.replace('@(', '('))} ;;" for c, k in ARGUMENTS.items()] +
                               [f"{c}) compadd -- {w} ;;" for c, w in words]),
        "cases": "\n".join(f"{n}) options=({' '.join(map(quoted, options[n]))}) ;;" for n, _ in known)}
    os.makedirs(folder, exist_ok=True)
    for name, text in (("evenkeel", bash), ("_evenkeel", zsh)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


main()
