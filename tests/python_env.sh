#!/bin/sh
# tests/python_env.sh FOLDER REQUIREMENTS [WORDS OF PIP INSTALL...]: prints a Python with what is only in the
# Python index, in an environment of our own in FOLDER, beside what Debian packages. It is made anew
# when REQUIREMENTS has changed. What cannot be had is told on stderr and missed by the tests, which
# skip visibly.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd) wanted=$2 name=$(basename "$1")
shift 2
# Debian's packages are for Debian's interpreter, which need not be the first in the path.
system=/usr/bin/python3
[ -x "$system" ] || system=$(command -v python3)

if ! cmp -s "$wanted" "$folder/installed.txt"; then
	rm -rf "$folder/venv" "$folder/installed.txt"
	if ! "$system" -m venv --system-site-packages "$folder/venv" >&2; then
		echo "$name: no environment for Python packages" >&2
		echo "$system"
		exit 0
	fi
	if "$folder/venv/bin/pip" install -q --disable-pip-version-check --retries 1 "$@" -r "$wanted" >&2; then
		cp "$wanted" "$folder/installed.txt"
	else
		echo "$name: the Python index gave nothing" >&2
	fi
fi
echo "$folder/venv/bin/python"
