#!/bin/sh
# B: the build folder.
set -eu
: "${B:=build}"
python=$(B=$B sh tests/exchange/python.sh)
exec "$python" -B tests/exchange/run.py "$B"
