#!/bin/sh
# Prints a Python that has what the exchange of models needs, as far as it can be had: what Debian
# packages (PyTorch, numpy, PyYAML) and what is only in the Python index, in an environment of our own
# under B. What cannot be had is told on stderr and missed by the tests, which skip visibly.
set -eu
: "${B:=build}"
top=$(cd "$(dirname "$0")/../.." && pwd)
wanted=$top/tests/exchange/requirements.txt
mkdir -p "$B/exchange"
folder=$(cd "$B/exchange" && pwd)
# Debian's packages are for Debian's interpreter, which need not be the first in the path.
system=/usr/bin/python3
[ -x "$system" ] || system=$(command -v python3)

"$top/deploy/deps.sh" exchange >&2 || echo "exchange: going on without those" >&2
if ! cmp -s "$wanted" "$folder/installed.txt"; then
	rm -rf "$folder/venv" "$folder/installed.txt"
	if ! "$system" -m venv --system-site-packages "$folder/venv" >&2; then
		echo "exchange: no environment for Python packages" >&2
		echo "$system"
		exit 0
	fi
	if "$folder/venv/bin/pip" install -q --disable-pip-version-check --retries 1 -r "$wanted" >&2; then
		cp "$wanted" "$folder/installed.txt"
	else
		echo "exchange: the Python index gave nothing" >&2
	fi
fi
echo "$folder/venv/bin/python"
