#!/bin/sh
# The benchmarks beside programs that are not linked in: peers/run.sh BUILD RESULTS NAME...
# NAME is onnx or train. What is missing is said, and that one is left out.
set -eu
build=$1 results=$2
shift 2
here=$(dirname "$0")
python=$(B=$build sh "$here/../../exchange/python.sh")

has() { # modules
	"$python" -c 'import sys, importlib.util as i; sys.exit(any(not i.find_spec(n) for n in sys.argv[1:]))' "$@"
}

for name in "$@"; do
	case $name in
	onnx) modules="onnxruntime numpy yaml" ;;
	train) modules="torch numpy yaml zstandard" ;;
	esac
	# shellcheck disable=SC2086 # a list of words
	if ! has $modules; then
		echo "$name: skipped, Python lacks some of $modules"
	elif [ "$name" = train ] && [ ! -d "${EK_DATA:-}/hotel" -o ! -e "${EK_REFERENCE:-}/routable_sir.py" ]; then
		echo "train: skipped, EK_DATA and EK_REFERENCE do not name the hotel set and the reference"
	else
		"$python" -B "$here/$name.py" "$build" "$results"
	fi
done
