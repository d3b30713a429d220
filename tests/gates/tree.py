"""Common code of the gates: the files of a tree, and C source without comments and strings."""
import concurrent.futures
import fnmatch
import os
import re

FOLDERS = ("lib", "daemon", "python", "java", "tests", "deploy", "docs", "rules", ".ci")
SKIPPED_FOLDERS = {"build", "__pycache__", "libs", "corpus", "golden", "vendor"}

_NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


class Tree:
    """Source tree at `root`, with its compiler and build folder. `only` is the set of names that differ from the tree
    `base`, which is known to pass, or None."""

    def __init__(self, root, build="build", cc="cc", cxx="c++", cflags=(), only=None, base=None):
        self.root, self.build = root, build
        self.cc, self.cxx, self.cflags = cc, cxx, list(cflags)
        self.only, self.base = only, base
        self._text, self._code = {}, {}

    def again(self, only):
        """Return the same tree, whose files in `only` are read again."""
        return Tree(self.root, self.build, self.cc, self.cxx, self.cflags, only, self)

    def path(self, name):
        return os.path.join(self.root, name)

    def files(self, *patterns, folders=FOLDERS):
        """Return sorted names relative to the root; for all folders, including those at the top."""
        names = []
        for folder in folders:
            for base, inner, found in os.walk(self.path(folder)):
                inner[:] = [d for d in inner if d not in SKIPPED_FOLDERS]
                folder_name = os.path.relpath(base, self.root)
                names += [f"{folder_name}/{f}" for f in found]
        if folders is FOLDERS:
            names += [f for f in os.listdir(self.root) if os.path.isfile(self.path(f))]
        wanted = re.compile("|".join(map(fnmatch.translate, patterns)))
        return sorted(filter(wanted.match, names))

    def each(self, *patterns, folders=FOLDERS):
        """Return those of files() that a per-file gate must check."""
        return [n for n in self.files(*patterns, folders=folders) if self.only is None or n in self.only]

    def text(self, name):
        if self.base and name not in self.only:
            return self.base.text(name)
        if name not in self._text:
            with open(self.path(name), encoding="utf-8", errors="replace") as f:
                self._text[name] = f.read()
        return self._text[name]

    def code(self, name):
        """Return C source with comments and string contents blanked; positions and lines are unchanged."""
        if self.base and name not in self.only:
            return self.base.code(name)
        if name not in self._code:
            self._code[name] = _NOISE.sub(_blank, self.text(name))
        return self._code[name]


def _blank(match):
    text = match.group(0)
    inside = re.sub(r"[^\n]", " ", text)
    return text[0] + inside[1:-1] + text[-1] if text[0] in "\"'" else inside


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def matches_any(name, patterns):
    return any(fnmatch.fnmatch(name, p) for p in patterns)


def parts(names):
    """Split names into one part of similar length per processor."""
    count = os.cpu_count() or 1
    return [part for part in (names[i::count] for i in range(count)) if part]


def at_once(does, what):
    """Return does(name) for each name in order; runs several at once, as they wait for a program."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(does, what))
