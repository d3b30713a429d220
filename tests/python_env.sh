#!/bin/sh
# tests/python_env.sh FOLDER REQUIREMENTS [ARGUMENTS OF PIP INSTALL...]: print a Python with packages of the
# Python index, in a virtual environment in FOLDER, in addition to those of Debian. Modules are compiled when they are
# first imported, because pip would compile thousands that no test uses. It is created again
# when REQUIREMENTS changes. Missing packages are reported on stderr, and the tests that need them
# are skipped visibly. SYSTEM_PYTHON is another interpreter than that of Debian. Parallel calls for one folder wait
# for the first.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd) wanted=$2 name=$(basename "$1")
shift 2
# Debian's packages need Debian's interpreter, which may not be the first in the path.
system=${SYSTEM_PYTHON:-/usr/bin/python3}
[ -x "$system" ] || system=$(command -v python3)

if command -v flock >/dev/null; then
	exec 9>"$folder/lock"
	flock 9
fi
if ! cmp -s "$wanted" "$folder/installed.txt"; then
	rm -rf "$folder/venv" "$folder/installed.txt"
	if ! "$system" -m venv --system-site-packages "$folder/venv" >&2; then
		echo "$name: no environment for Python packages" >&2
		echo "$system"
		exit 0
	fi
	if "$folder/venv/bin/pip" install -q --no-compile --disable-pip-version-check --retries 1 "$@" -r "$wanted" >&2; then
		cp "$wanted" "$folder/installed.txt"
	else
		echo "$name: the Python index gave nothing" >&2
	fi
fi
echo "$folder/venv/bin/python"
