#!/usr/bin/env python3
"""image.py BASE: execute deploy/docker/Dockerfile without Docker, in copies of the root directory BASE, a bare
Debian.

Supports only the instructions used there. At the end it runs the program as the image would: as its user, including
the demo. Needs root; downloads packages.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IGNORED = ("LABEL", "EXPOSE", "STOPSIGNAL")


def instructions(path):
    """Return (word, rest), with continuation lines joined."""
    with open(path, encoding="utf-8") as f:
        lines = [line for line in f.read().splitlines() if line.strip() and not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        word, rest = line.split(None, 1)
        yield word, rest.strip()


class Stage:
    def __init__(self, base, root):
        subprocess.run(["cp", "-a", base, root], check=True)
        shutil.copy("/etc/resolv.conf", os.path.join(root, "etc"))
        self.root, self.workdir, self.user = root, "/", None
        self.start = []

    def place(self, path):
        return os.path.join(self.root, os.path.join(self.workdir, path).lstrip("/"))

    def run(self, command, user=None):
        subprocess.run(["chroot", *(["--userspec=" + user] if user else []), self.root, "/bin/sh", "-ec",
                        f"cd {shlex.quote(self.workdir)}; {command}"], check=True,
                       env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/",
                            "DEBIAN_FRONTEND": "noninteractive", "CC": "cc", "CXX": "c++"})


def context(folder):
    """Return the repository files that .dockerignore allows."""
    files = subprocess.run(["git", "-C", TOP, "ls-files", "-co", "--exclude-standard", "-z"], check=True,
                           capture_output=True).stdout
    packed = subprocess.run(["tar", "-C", TOP, "--null", "--ignore-failed-read", "-T", "-", "-c"], input=files, check=True,
                            capture_output=True).stdout
    subprocess.run(["tar", "-C", folder, "-x"], input=packed, check=True)


def copy(stage, source, target):
    at = stage.place(target)
    if os.path.isdir(source):
        shutil.copytree(source, at, dirs_exist_ok=True, symlinks=True)
    else:
        os.makedirs(os.path.dirname(at), exist_ok=True)
        shutil.copy(source, at)


def build(base, scratch):
    stages, stage = {}, None
    there = os.path.join(scratch, "context")
    os.mkdir(there)
    context(there)
    for word, rest in instructions(os.path.join(TOP, "deploy/docker/Dockerfile")):
        print(f"-- {word} {rest[:90]}", flush=True)
        words = rest.split()
        if word == "FROM":
            name = words[2] if len(words) > 2 else "last"
            stage = stages[name] = Stage(base, os.path.join(scratch, name))
        elif word == "WORKDIR":
            stage.workdir = rest
            os.makedirs(stage.place("."), exist_ok=True)
        elif word == "COPY" and words[0].startswith("--from="):
            copy(stage, stages[words[0][7:]].root + words[1], words[2])
        elif word == "COPY":
            copy(stage, os.path.join(there, words[0]), words[1])
        elif word == "RUN":
            stage.run(rest)
        elif word == "USER":
            stage.user = rest
        elif word in ("ENTRYPOINT", "CMD"):
            stage.start += json.loads(rest)
        elif word != "ARG" and word not in IGNORED:
            raise SystemExit(f"image.py does not know {word}")
    return stage


def main():
    scratch = tempfile.mkdtemp()
    try:
        stage = build(sys.argv[1], scratch)
        program = stage.start[0]
        stage.run(f"{program} --version && {program} demo > /dev/null", stage.user)
        # Without a configuration it names the missing file, and must not be restarted.
        stage.run(f"status=0; {shlex.join(stage.start)} 2> /dev/null || status=$?; [ $status = 78 ]", stage.user)
        stage.run(f"[ $(id -u) != 0 ] && ! touch {program} 2> /dev/null", stage.user)
    finally:
        shutil.rmtree(scratch)


main()
