#!/usr/bin/env python3
"""zsh.py COMPLETIONS FOLDER TYPED WANTED: completion of a line by zsh on a terminal."""
import os
import pty
import re
import select
import sys
import tempfile

SECONDS = 30
READY, SHOWN = b"<ready>", b"<shown>"
START = """
fpath=({completions} $fpath)
autoload -Uz compinit && compinit -u -D
zstyle ':completion:*' menu no
unsetopt beep
show() {{ print -r -- "<$BUFFER>"; print -r -- "<sho""wn>" }}
zle -N show
bindkey '^X' show
cd {folder}
PS1='<rea''dy>'
"""


def read_until(fd, what):
    told = b""
    while what not in told:
        ready, _, _ = select.select([fd], [], [], SECONDS)
        assert ready, f"no {what!r} in {told!r}"
        told += os.read(fd, 4096)
    return told


def main():
    completions, folder, typed, wanted = sys.argv[1:]
    completions = os.path.realpath(completions)
    with tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, ".zshrc"), "w", encoding="utf-8") as f:
            f.write(START.format(completions=completions, folder=folder))
        pid, fd = pty.fork()
        if pid == 0:
            os.execvpe("zsh", ["zsh", "-i"], {"PATH": os.environ["PATH"], "HOME": home, "ZDOTDIR": home, "TERM": "dumb",
                                              "LC_ALL": "C.UTF-8"})
        read_until(fd, READY)
        os.write(fd, typed.encode() + b"\t\x18")
        told = read_until(fd, SHOWN)
        os.write(fd, b"\x03\x04")
        lines = re.findall(rb"<(evenkeel [^>]*)>", told)
        os.close(fd)
        os.waitpid(pid, 0)
    assert lines, told
    assert lines[-1].decode().rstrip() == wanted, lines[-1]


main()
