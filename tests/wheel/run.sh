#!/bin/sh
# tests/wheel/run.sh BUILD ENVIRONMENTS: install the wheel of BUILD/wheel into two environments, and run the tests in both:
# NumPy alone, and the packages of requirements-frames.txt. Tests whose packages are missing are reported as skipped.
set -eu
build=$(cd "$1" && pwd) environments=$2 here=tests/wheel
python=${WHEEL_PYTHON:-/usr/bin/python3}
[ -n "${WHEEL_PYTHON:-}" ] || [ -x "$python" ] || python=$(command -v python3)

environment() { # name, requirements: its interpreter
	folder=$environments/$1
	if ! cmp -s "$2" "$folder/installed.txt"; then
		rm -rf "$folder"
		"$python" -m venv "$folder" >&2
		if "$folder/bin/pip" install -q --no-compile --disable-pip-version-check --retries 1 -r "$2" >&2; then
			cp "$2" "$folder/installed.txt"
		else
			echo "$1: the Python index gave nothing" >&2
		fi
	fi
	"$folder/bin/pip" install -q --no-compile --disable-pip-version-check --no-index --no-deps --force-reinstall "$build"/wheel/*.whl >&2
	echo "$folder/bin/python"
}

bare=$(environment bare $here/requirements.txt)
WHEEL=$(echo "$build"/wheel/*.whl) "$bare" -B tests/exchange/run.py "$build" $here
full=$(environment frames $here/requirements-frames.txt)
WHEEL=$(echo "$build"/wheel/*.whl) "$full" -B tests/exchange/run.py "$build" $here/frames
