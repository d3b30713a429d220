#!/bin/sh
# Runs the parts of `make check` one after the other and adds up what they report.
#
#   MAKE=make LOGS=build/check tests/run-parts.sh gates unit ...
#
# A part prints Check's `100%: Checks: 9, Failures: 0, Errors: 0` or `9 passed, 0 failed`
# (`, 1 skipped` may follow), once or more. A part that prints no count, or that ends badly without
# naming a failure, counts as a failure itself. What failed is said again below the table. The last line is the sum: `N passed, N failed`.
set -u
: "${MAKE:=make}" "${LOGS:=build/check}"
mkdir -p "$LOGS"
passed=0 failed=0 skipped=0 table= broken=

count() { # log -> "passed failed skipped counts"
	sed -nE \
		-e 's/^[0-9]+%: Checks: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+)$/check \1 \2 \3/p' \
		-e 's/^([0-9]+) passed, ([0-9]+) failed$/plain \1 \2 0/p' \
		-e 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/plain \1 \2 \3/p' "$1" |
		awk '$1 == "check" { p += $2 - $3 - $4; f += $3 + $4 }
		     $1 == "plain" { p += $2; f += $3; s += $4 }
		     END { printf "%d %d %d %d\n", p, f, s, NR }'
}

for part in "$@"; do
	echo "== check-$part"
	log=$LOGS/$part.log
	started=$(date +%s)
	{
		$MAKE --no-print-directory "check-$part" 2>&1
		echo $? >"$LOGS/status"
	} | tee "$log"
	status=$(cat "$LOGS/status")
	seconds=$(($(date +%s) - started))
	# shellcheck disable=SC2046 # four numbers
	set -- $(count "$log")
	p=$1 f=$2 s=$3 note=
	if [ "$4" = 0 ]; then
		f=1 note="no count"
	elif [ "$status" != 0 ] && [ "$f" = 0 ]; then
		f=1 note="ended with status $status"
	fi
	[ "$f" = 0 ] || broken="$broken $log"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	table="$table$(printf '%-10s %6d %6d %7d %7d  %s' "$part" "$p" "$f" "$s" "$seconds" "$note")
"
done

printf '\n%-10s %6s %6s %7s %7s\n%s' part passed failed skipped seconds "$table"
for log in $broken; do
	printf '\nfailures in %s:\n' "$log"
	grep -E '^FAIL|FAILED|:[FE]:' "$log" | head -n 20
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
