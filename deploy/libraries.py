#!/usr/bin/env python3
"""Shared libraries of programs, from ELF headers, also for another architecture: libraries.py [--of-system] ROOT
TRIPLET PROGRAM... prints a path per line. ROOT has the libraries, "/" or a folder.

By default, these are the libraries that travel with the programs; with --of-system those that every system with
glibc has.
"""
import os
import re
import subprocess
import sys

OF_SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s)|ld-linux[\w-]*)\.so\.\d+$")


def needed(path):
    text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[([^\]]+)\]", text)


def located(root, triplet, name):
    for folder in ("lib", "usr/lib"):
        path = os.path.join(root, folder, triplet, name)
        if os.path.exists(path):
            return path
    sys.exit(f"libraries: no '{name}' in '{root}' for {triplet}")


def closure(root, triplet, programs):
    """Return {name: path} of all libraries."""
    found, names = {}, [name for program in programs for name in needed(program)]
    while names:
        name = names.pop()
        if name not in found:
            found[name] = located(root, triplet, name)
            names += needed(found[name])
    return found


def main():
    of_system = sys.argv[1] == "--of-system"
    root, triplet, *programs = sys.argv[1 + of_system:]
    for name, path in sorted(closure(root, triplet, programs).items()):
        if bool(OF_SYSTEM.match(name)) == of_system:
            print(path)


main()
