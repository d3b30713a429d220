"""Reads what `evenkeel --help` and `evenkeel COMMAND --help` print. One reader for man pages and completions."""
import re
import subprocess

_COMMAND = re.compile(r"^  ([a-z][a-z-]*)\s{2,}(\S.*)$")
# As argp lays options out: short ones two spaces in, long ones alone six. An example is neither. A long name has only
# one space before its text.
_OPTION = re.compile(r"^(?: {2}(?=-[^-])| {6}(?=--))(-\S+(?:(?<=,) -\S+)*)(?:\s+(\S.*))?$")


def ask(program, *words):
    result = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False)
    if result.returncode or not result.stdout.strip():
        raise SystemExit(f"{' '.join([program, *words])} --help: no help (status {result.returncode})")
    return result.stdout


def commands(program):
    """(name, summary) of every sub-command, in the order of the help."""
    text = ask(program).split("Commands:", 1)[1]
    return [m.groups() for m in map(_COMMAND.match, text.splitlines()) if m]


class Help:
    """usage: lines; blocks: ("text", paragraph), ("verbatim", lines) or ("option", names, text) in order."""

    def __init__(self, text):
        self.usage, self.blocks = [], []
        lines = text.rstrip().splitlines()
        lines = self._take_usage(lines)
        while lines:
            lines = self._take_block(lines)

    def options(self):
        """Long and short option words, without their arguments."""
        return [w for b in self.blocks if b[0] == "option" for w in re.findall(r"(?<![\w-])--?[a-zA-Z?][\w-]*", b[1])]

    def _take_usage(self, lines):
        for i, line in enumerate(lines):
            if line.startswith(("Usage:", "  or:")):
                self.usage.append(re.sub(r"^(Usage|\s+or):\s*", "", line))
            elif self.usage and line.startswith("         "):
                self.usage[-1] += " " + line.strip()
            elif self.usage:
                return lines[i:]
            else:
                self.blocks.append(("text", line)) if line else None
        return []

    def _take_block(self, lines):
        first = lines[0]
        if not first.strip():
            return lines[1:]
        option = _OPTION.match(first)
        if option:
            more = 1
            while more < len(lines) and re.match(r"\s{10,}\S", lines[more]):
                more += 1
            words = [option.group(2) or ""] + [line.strip() for line in lines[1:more]]
            self.blocks.append(("option", option.group(1).rstrip(), " ".join(w for w in words if w)))
            return lines[more:]
        verbatim = first.startswith("  ")
        more = 1
        while more < len(lines) and lines[more].strip() and lines[more].startswith("  ") == verbatim \
                and not _OPTION.match(lines[more]):
            more += 1
        if verbatim:
            self.blocks.append(("verbatim", lines[:more]))
        else:
            self.blocks.append(("text", " ".join(line.strip() for line in lines[:more])))
        return lines[more:]
