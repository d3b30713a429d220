"""symbols.py -lLIBRARY... -- COMMAND...: link with a C library alone, and check what is missing then.

The libraries of the other system are not here, so the command fails with undefined symbols. Each of them must be one that
the library of the same name exports on this system, or one of argp-standalone.
"""
import os
import re
import subprocess
import sys

ARGP = {"argp_parse", "argp_error", "argp_err_exit_status", "argp_failure", "argp_state_help", "argp_help", "argp_usage"}


def library(word):
    name = subprocess.run(["cc", f"-print-file-name=lib{word[2:]}.so"], capture_output=True, text=True, check=True).stdout.strip()
    return name if os.path.isabs(name) else None


def exported(path):
    """Return the names, those of C++ in both forms, without arguments."""
    names = set()
    for form in ("--no-demangle", "--demangle"):
        lines = subprocess.run(["nm", "-D", "--defined-only", form, path], capture_output=True, text=True, check=True).stdout
        names |= {re.split(r"[@(]", line.split(" ", 2)[2])[0] for line in lines.splitlines()}
    return names


def undefined(text):
    """Return the symbols in messages of the linker; those of macOS have an underscore in front."""
    names = set(re.findall(r"error: undefined symbol: ([^\s(]+)", text))
    return {name[1:] for name in names} if "_argp_parse" in names else names


def main(words):
    at = words.index("--")
    known = set(ARGP)
    for path in filter(None, map(library, {word for word in words[:at] if word.startswith("-l")} - {"-lm", "-lpthread"})):
        known |= exported(path)
    done = subprocess.run(words[at + 1:], capture_output=True, text=True)
    names = undefined(done.stderr)
    foreign = sorted(names - known)
    if foreign or not names:
        sys.exit("undefined: " + " ".join(foreign) if foreign else "the linker failed:\n" + done.stderr[:2000])
    print(f"    {len(names)} symbols of libraries are missing, as expected; the C library has all others")


main(sys.argv[1:])
