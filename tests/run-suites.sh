#!/bin/sh
# Runs suites of a test binary, some at once, for most of their time goes by in waiting for brokers.
#
#   AT_ONCE=4 tests/run-suites.sh build/tests/unit-tests [suite...]
#
# All of them if none is named. Ends with 0 if all passed.
set -u
binary=$1
shift
# shellcheck disable=SC2046 # names of suites
[ $# -gt 0 ] || set -- $("$binary" --list | sort -r) # those that wait longest are late in the alphabet
[ $# -gt 0 ] || exit 1
# What a suite says stays together.
# shellcheck disable=SC2016 # for the inner shell
printf '%s\n' "$@" | xargs -P "${AT_ONCE:-4}" -I '{}' sh -c '
	said=$(CK_RUN_SUITE=$2 "$1" 2>&1)
	status=$?
	printf "%s\n" "$said"
	exit $status' suite "$binary" '{}'
