#!/bin/sh
# Print a Python with the packages for the exchange of models, as far as available: those of Debian
# (PyTorch, numpy, PyYAML), and those of the Python index in a virtual environment
# under B. Missing packages are reported on stderr, and the tests that need them are skipped.
set -eu
: "${B:=build}"
top=$(cd "$(dirname "$0")/../.." && pwd)
"$top/deploy/deps.sh" exchange >&2 || echo "exchange: going on without those" >&2
exec sh "$top/tests/python_env.sh" "$B/exchange" "$top/tests/exchange/requirements.txt"
