#!/bin/sh
# Run all other scripts of this folder against the real program, two at a time: `EK=build/evenkeel tests/cli/run.sh
# [NAME...]`. A script passes if it exits with 0 and prints nothing; exit status 77 means skipped,
# with a reason.
set -u
here=$(dirname "$0")
EK=$(realpath "${EK:-build/evenkeel}")
export EK
passed=0 failed=0 skipped=0
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
trap 'exit 1' INT TERM

if [ $# = 0 ]; then
	for script in "$here"/*.sh; do
		set -- "$@" "$(basename "$script" .sh)"
	done
fi

tell() { # name: prints its result
	output=$(cat "$said/$1.out")
	status=$(cat "$said/$1.status")
	if [ "$status" = 77 ]; then
		skipped=$((skipped + 1))
		echo "skipped $1: $output"
	elif [ "$status" = 0 ] && [ -z "$output" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $1 (status $status)"
		[ -z "$output" ] || echo "$output" | sed 's/^/  /'
	fi
}

# shellcheck disable=SC2016 # for the inner shell
printf '%s\n' "$@" | grep -vx run | xargs -P 2 -I '{}' sh -c '
	sh "$1/$3.sh" >"$2/$3.out" 2>&1
	echo $? >"$2/$3.status"' script "$here" "$said" '{}'
for name in "$@"; do
	[ "$name" = run ] || tell "$name"
done
note=
[ $skipped = 0 ] || note=", $skipped skipped"
echo "$passed passed, $failed failed$note"
[ $failed = 0 ]
