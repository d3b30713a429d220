#!/usr/bin/env python3
"""in_image.py ROOT [COMMAND...]: run the program of an unpacked image as its user, with /proc only.

Without COMMAND, checks its version, that it does not run as root, and that a missing configuration prevents a restart.
Exits with 77 if that is not possible.
"""
import os
import subprocess
import sys

IN_ROOT = 'mount -t proc proc "$0/proc" || exit 77; exec chroot --userspec=10001:10001 "$0" "$@"'


def run(root, *words):
    return subprocess.run(["unshare", "--mount", "sh", "-c", IN_ROOT, root, *words], check=False, capture_output=True, text=True,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})


def main():
    root, *words = sys.argv[1:]
    if os.geteuid() != 0:
        print("not root")
        return 77
    os.makedirs(os.path.join(root, "proc"), exist_ok=True)
    if words:
        done = run(root, *words)
        print(done.stdout + done.stderr)
        return done.returncode
    done = run(root, "/usr/bin/evenkeel", "--version")
    if done.returncode in (1, 77) and "mount" in done.stderr or "unshare" in done.stderr:
        print("no mount here")
        return 77
    assert done.returncode == 0 and done.stdout.startswith("evenkeel "), done.stderr
    done = run(root, "/usr/bin/evenkeel", "run", "-c", "/etc/evenkeel/evenkeel.yaml")
    assert done.returncode == 78, done.stderr
    done = run(root, "/usr/bin/evenkeel", "generate", "hotel", "--lists", "20", "-o", "/etc/evenkeel/lists.txt")
    assert done.returncode != 0 and "ermission denied" in done.stderr, done.stderr
    return 0


sys.exit(main())
