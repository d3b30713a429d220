"""Cache of analyzer findings per file, valid until the file, its includes, the flags or the analyzer change.

An interrupted run resumes, and a run after a small change analyzes only the changed files. `folder` has one JSON file
per tool and source: {"key": ..., "found": [[file, line, check, what], ...]}.
"""
import hashlib
import json
import os
import re
import subprocess


def _said_by(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def _sources_of(source, flags):
    """Return the source and its included project files; the tool's version covers system headers."""
    rule = _said_by("gcc", *flags, "-MM", "-MG", source)
    return rule.replace("\\\n", " ").partition(":")[2].split() or [source]


def _digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


class Kept:
    def __init__(self, folder, tool, settings):
        """settings: other files and arguments that affect the tool's findings."""
        self.folder = os.path.join(folder, tool)
        self.about = [_said_by(tool, "--version"), *settings]
        self.taken = 0  # cache hits

    def _key(self, source, flags):
        said = [*self.about, *(f for f in flags if not f.startswith("-ffile-prefix-map="))]  # its location is irrelevant
        said += [f"{f} {_digest(f)}" for f in _sources_of(source, flags) if os.path.exists(f)]
        return hashlib.sha256("\n".join(said).encode()).hexdigest()

    def look(self, look, source, flags):
        """Return look(source, flags), or its cached result."""
        path = os.path.join(self.folder, re.sub(r"[^\w.-]", "_", source) + ".json")
        key = self._key(source, flags)
        try:
            with open(path, encoding="utf-8") as f:
                kept = json.load(f)
            if kept["key"] == key:
                self.taken += 1
                return [tuple(one) for one in kept["found"]]
        except (OSError, ValueError, KeyError):
            pass  # never analyzed, or an interrupted write
        found = look(source, flags)
        os.makedirs(self.folder, exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8") as f:
            json.dump({"key": key, "found": found}, f)
        os.replace(path + ".new", path)
        return found
