"""What an analyser said of a file is kept until the file, what it includes, the flags or the analyser change.

So a run that was stopped goes on where it stopped, and one after a small change takes what changed alone. One JSON file per tool and
source stands in `folder`: {"key": ..., "found": [[file, line, check, what], ...]}.
"""
import hashlib
import json
import os
import re
import subprocess


def _said_by(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def _sources_of(source, flags):
    """The source and all of ours that it includes; those of the system come with the tool's version."""
    rule = _said_by("gcc", *flags, "-MM", "-MG", source)
    return rule.replace("\\\n", " ").partition(":")[2].split() or [source]


def _digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


class Kept:
    def __init__(self, folder, tool, settings):
        """settings: files and words beside the source that decide what the tool says."""
        self.folder = os.path.join(folder, tool)
        self.about = [_said_by(tool, "--version"), *settings]
        self.taken = 0  # of those looked up, how many were there

    def _key(self, source, flags):
        said = [*self.about, *(f for f in flags if not f.startswith("-ffile-prefix-map="))]  # where it stands is no matter
        said += [f"{f} {_digest(f)}" for f in _sources_of(source, flags) if os.path.exists(f)]
        return hashlib.sha256("\n".join(said).encode()).hexdigest()

    def look(self, look, source, flags):
        """What look(source, flags) says, or said of the very same the last time."""
        path = os.path.join(self.folder, re.sub(r"[^\w.-]", "_", source) + ".json")
        key = self._key(source, flags)
        try:
            with open(path, encoding="utf-8") as f:
                kept = json.load(f)
            if kept["key"] == key:
                self.taken += 1
                return [tuple(one) for one in kept["found"]]
        except (OSError, ValueError, KeyError):
            pass  # never looked at, or the last run was stopped while it wrote
        found = look(source, flags)
        os.makedirs(self.folder, exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8") as f:
            json.dump({"key": key, "found": found}, f)
        os.replace(path + ".new", path)
        return found
