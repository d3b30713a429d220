#!/bin/sh
# Runs every other script of this folder against the real program: `EK=build/evenkeel tests/cli/run.sh
# [NAME...]`. A script passes when it ends with 0 and prints nothing; it ends with 77 to be skipped,
# and says why.
set -u
here=$(dirname "$0")
EK=$(realpath "${EK:-build/evenkeel}")
export EK
passed=0 failed=0 skipped=0

run() {
	output=$(sh "$1" 2>&1)
	status=$?
	if [ $status = 77 ]; then
		skipped=$((skipped + 1))
		echo "skipped $(basename "$1" .sh): $output"
	elif [ $status = 0 ] && [ -z "$output" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $(basename "$1" .sh) (status $status)"
		[ -z "$output" ] || echo "$output" | sed 's/^/  /'
	fi
}

if [ $# -gt 0 ]; then
	for name in "$@"; do
		run "$here/$name.sh"
	done
else
	for script in "$here"/*.sh; do
		[ "$(basename "$script")" = run.sh ] || run "$script"
	done
fi
note=
[ $skipped = 0 ] || note=", $skipped skipped"
echo "$passed passed, $failed failed$note"
[ $failed = 0 ]
