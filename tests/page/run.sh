#!/bin/sh
# B: the build folder. axe-core is a script from a Python package, of which nothing else is used.
set -eu
: "${B:=build}"
deploy/deps.sh page || echo "page: going on without those" >&2
python=$(sh tests/python_env.sh "$B/page" tests/page/requirements.txt --no-deps)
AXE=$(find "$B/page" -name axe.min.js | head -n 1)
export AXE
exec "$python" -B tests/page/run.py "$@"
