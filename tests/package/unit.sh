# The systemd unit: valid, hardened, and consistent with the program.
unit=deploy/systemd/evenkeel@.service
most_exposed=20 # in tenths

exposure() (
	needs systemd-analyze
	systemd-analyze security --offline=true --threshold=$most_exposed "$unit"
)
verifies() ( # with a program at the unit's path
	needs systemd-analyze
	sed "s|/usr/bin/evenkeel|$(realpath "$B/evenkeel")|" "$unit" >"$scratch/evenkeel@.service"
	systemd-analyze verify --man=no "$scratch/evenkeel@try.service" 2>&1 | grep -v -e 'No such file or directory' >"$scratch/verified"
	cat "$scratch/verified"
	[ ! -s "$scratch/verified" ]
)
seconds() { # "4s" or "4"
	echo "${1%s}"
}
# The stop timeout covers the maximum drain time.
waits_longer() (
	shutdown=$("$B/reference" config.md | sed -nE 's/^\| `service.shutdown_timeout`.*\| `([0-9]+)s` \|.*/\1/p')
	stop=$(sed -nE 's/^TimeoutStopSec=([0-9]+)s$/\1/p' "$unit")
	echo "service.shutdown_timeout $shutdown s, TimeoutStopSec $stop s"
	[ "$stop" -gt "$((shutdown + 5))" ]
)
# All system calls from start to stop, without a broker.
filter_lets_it_work() (
	needs systemd-analyze strace
	mkdir "$scratch/calls"
	cat >"$scratch/traced" <<-EOF
		#!/bin/sh
		exec strace -DD -f -c -o "$scratch/calls/\$\$" "$(realpath "$B/evenkeel")" "\$@"
	EOF
	chmod +x "$scratch/traced"
	strace -o /dev/null true 2>/dev/null || {
		echo "nothing may be traced here"
		exit 77
	}
	"$PYTHON" "$here/ready.py" "$scratch/traced" || exit 1
	"$PYTHON" "$here/calls.py" "$unit" "$scratch"/calls/*
)
sandbox_holds() (
	needs systemd-analyze # version of systemd
	/usr/bin/python3 -B "$here/sandbox.py" "$unit" "$B/evenkeel"
)
t "the unit is sound" verifies
t "the unit is exposed by 2.0 at most" exposure
t "the unit waits longer than a shutdown takes" waits_longer
t "the unit's filter lets through what the program calls" filter_lets_it_work
t "the unit denies, line by line, what one would try who had taken over the process" sandbox_holds
t "the program tells systemd when it is ready" "$PYTHON" "$here/ready.py" "$B/evenkeel"
