#!/bin/sh
# Run the parts of `make check` one after the other and add up their results.
#
#   MAKE=make LOGS=build/check BESIDE="kafka" tests/run-parts.sh gates unit ...
#
# The parts of BESIDE, which mostly wait, start at once and run in parallel; their output is printed in order.
# A part prints Check's `100%: Checks: 9, Failures: 0, Errors: 0` or `9 passed, 0 failed`
# (`, 1 skipped` may follow), once or more. A part that prints no count, or that ends badly without
# naming a failure, counts as one failure. Failures are repeated below the table.
# The last line is the sum: `N passed, N failed`.
set -u
: "${MAKE:=make}" "${LOGS:=build/check}" "${BESIDE:=}"
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

run() { # part [wrapper]: prints its output, and writes "status seconds"
	started=$(date +%s)
	${2:-} $MAKE --no-print-directory "check-$1" 2>&1
	echo "$? $(($(date +%s) - started))" >"$LOGS/$1.end"
}

stoppable() { # command: ends with the shell that waits for it
	"$@" &
	trap "kill $!; wait $!" TERM
	wait $!
}

is_beside() { # part
	case " $BESIDE " in *" $1 "*) true ;; *) false ;; esac
}

# Stop all parts when this script is stopped.
begun=
trap 'for each in $begun; do kill "${each#*:}" 2>/dev/null; done; exit 1' INT TERM
for part in "$@"; do
	is_beside "$part" || continue
	: >"$LOGS/$part.log" # not the log of a previous run
	run "$part" stoppable >>"$LOGS/$part.log" &
	begun="$begun $part:$!"
done

for part in "$@"; do
	echo "== check-$part"
	log=$LOGS/$part.log
	if is_beside "$part"; then
		pid=${begun##* "$part":}
		tail -n +1 -f --pid="${pid%% *}" "$log" &
		wait $!
	else
		run "$part" | tee "$log"
	fi
	read -r status seconds <"$LOGS/$part.end"
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
	grep -E '^(FAIL|ERROR):|FAILED|:[FE]:' "$log" | head -n 20
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
