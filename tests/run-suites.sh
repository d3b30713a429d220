#!/bin/sh
# Run suites of a test binary, several at once, because they mostly wait for brokers.
#
#   AT_ONCE=4 tests/run-suites.sh build/tests/unit-tests [suite...]
#
# Without names, all suites. Exits with 0 if all passed.
set -u
binary=$1
shift
# shellcheck disable=SC2046 # names of suites
[ $# -gt 0 ] || set -- $("$binary" --list | sort -r) # the slowest ones are late in the alphabet
[ $# -gt 0 ] || exit 1
# The output of a suite is printed at once.
# shellcheck disable=SC2016 # for the inner shell
printf '%s\n' "$@" | xargs -P "${AT_ONCE:-4}" -I '{}' sh -c '
	said=$(CK_RUN_SUITE=$2 "$1" 2>&1)
	status=$?
	printf "%s\n" "$said"
	exit $status' suite "$binary" '{}'
