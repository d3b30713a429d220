#!/bin/sh
# Prints a Python that has what the exchange of models needs, as far as it can be had: what Debian
# packages (PyTorch, numpy, PyYAML) and what is only in the Python index, in an environment of our own
# under B. What cannot be had is told on stderr and missed by the tests, which skip visibly.
set -eu
: "${B:=build}"
top=$(cd "$(dirname "$0")/../.." && pwd)
"$top/deploy/deps.sh" exchange >&2 || echo "exchange: going on without those" >&2
exec sh "$top/tests/python_env.sh" "$B/exchange" "$top/tests/exchange/requirements.txt"
