#!/bin/sh
# B: the folder of the build.
set -eu
: "${B:=build}"
python=$(B=$B sh tests/exchange/python.sh)
exec "$python" -B tests/exchange/run.py "$B"
