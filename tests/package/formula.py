"""The Homebrew formula against the source archive and deploy/deps.sh: formula.py FORMULA ARCHIVE VERSION"""
import hashlib
import os
import re
import subprocess
import sys
import tarfile

from deploy_files import path, same


def values(text, word):
    return re.findall(rf'^  {word} "([^"]+)"', text, re.M)


def check_archive(formula, archive, version):
    same("class", re.search(r"^class (\w+) < Formula$", formula, re.M).group(1), "Evenkeel")
    same("version", values(formula, "version"), [version])
    same("url", [os.path.basename(url) for url in values(formula, "url")], [os.path.basename(archive)])
    with open(archive, "rb") as f:
        same("sha256", values(formula, "sha256"), [hashlib.sha256(f.read()).hexdigest()])
    same("places to fill in", re.findall(r"@[A-Z0-9]+@", formula), [])


def check_dependencies(formula):
    packages = re.findall(r'^  (?:depends_on|uses_from_macos) "[^"]+"(?: => :build)? # (\S+)$', formula, re.M)
    wanted = subprocess.run([path("deps.sh"), "--libraries"], capture_output=True, text=True, check=True).stdout.split(",")
    same("libraries", sorted(packages), sorted(wanted))


def check_contents(archive, version):
    top = f"evenkeel-{version}-source"
    with tarfile.open(archive) as tar:
        members = {member.name: member for member in tar.getmembers()}
        makefile = tar.extractfile(f"{top}/Makefile").read().decode()
    same("folders", {name.split("/")[0] for name in members}, {top})
    same("version of the Makefile", re.search(r"^VERSION := (\S+)$", makefile, re.M).group(1), version)
    assert members[f"{top}/deploy/deps.sh"].mode & 0o100, "deploy/deps.sh is not executable"
    for name in ("README.md", "lib/evenkeel.h", "daemon/main.c", "rules/units.yaml", "tests/check.h", "docs/index.md"):
        assert f"{top}/{name}" in members, f"no {name}"
    assert not [name for name in members if name.startswith((f"{top}/build/", f"{top}/.git/"))], "contains build or .git"


def main(formula_file, archive, version):
    with open(formula_file, encoding="utf-8") as f:
        formula = f.read()
    check_archive(formula, archive, version)
    check_dependencies(formula)
    check_contents(archive, version)


main(*sys.argv[1:])
