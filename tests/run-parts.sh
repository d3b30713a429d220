#!/bin/sh
# Run the parts of `make check` one after the other and add up their results.
#
#   MAKE=make LOGS=build/check LANES="kafka page,wheel" tests/run-parts.sh gates unit ...
#
# Each word of LANES is a lane: parts that run in the background, one after the other, from the start. All lanes and
# the parts outside of them run in parallel; the output is printed in the order of the arguments.
# A part prints Check's `100%: Checks: 9, Failures: 0, Errors: 0` or `9 passed, 0 failed`
# (`, 1 skipped` may follow), once or more. A part that prints no count, or that ends badly without
# naming a failure, counts as one failure. Failures are repeated below the table.
# The last line is the sum: `N passed, N failed`.
set -u
: "${MAKE:=make}" "${LOGS:=build/check}" "${LANES:=}"
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

run() { # part [wrapper]: prints its output, and writes "status seconds processor_seconds"
	started=$(date +%s)
	times >"$LOGS/$1.times"
	${2:-} $MAKE --no-print-directory "check-$1" 2>&1
	status=$?
	times >>"$LOGS/$1.times"
	# Every second line is the time of all children so far: 1m2.5s 0m0.25s.
	used=$(awk -F '[ms ]+' 'NR == 2 { before = 60 * ($1 + $3) + $2 + $4 }
	                        NR == 4 { printf "%.0f", 60 * ($1 + $3) + $2 + $4 - before }' "$LOGS/$1.times")
	echo "$status $(($(date +%s) - started)) $used" >"$LOGS/$1.end"
}

stoppable() { # command: ends with the shell that waits for it
	"$@" &
	trap "kill $!; wait $!; exit 1" TERM
	wait $!
}

run_lane() { # parts
	for each in "$@"; do
		run "$each" stoppable >>"$LOGS/$each.log"
	done
}

lane_of() { # part: prints the process of its lane, if it has one
	case "$begun" in *" $1:"*) each=${begun#*" $1:"} && echo "${each%% *}" ;; esac
}

# Stop all parts when this script is stopped.
begun=
trap 'for each in $begun; do kill "${each#*:}" 2>/dev/null; done; exit 1' INT TERM
for lane in $LANES; do
	parts=$(echo "$lane" | tr , ' ')
	for part in $parts; do
		: >"$LOGS/$part.log" # not the log of a previous run
		rm -f "$LOGS/$part.end"
	done
	# shellcheck disable=SC2086 # several parts
	run_lane $parts &
	for part in $parts; do
		begun="$begun $part:$! "
	done
done

wait_for() { # part process: until the part has ended, or the process of its lane
	while [ ! -e "$LOGS/$1.end" ] && kill -0 "$2" 2>/dev/null; do
		sleep 1
	done
}

for part in "$@"; do
	echo "== check-$part"
	log=$LOGS/$part.log
	lane=$(lane_of "$part")
	if [ -n "$lane" ]; then
		wait_for "$part" "$lane" &
		tail -n +1 -f --pid=$! "$log" &
		wait $!
	else
		run "$part" | tee "$log"
	fi
	read -r status seconds used 2>/dev/null <"$LOGS/$part.end" || status=1 seconds=0 used=0
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
	table="$table$(printf '%-10s %6d %6d %7d %7d %7d  %s' "$part" "$p" "$f" "$s" "$seconds" "$used" "$note")
"
done

printf '\n%-10s %6s %6s %7s %7s %7s\n%s' part passed failed skipped seconds cpu "$table"
for log in $broken; do
	printf '\nfailures in %s:\n' "$log"
	grep -E '^(FAIL|ERROR):|FAILED|:[FE]:' "$log" | head -n 20
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
