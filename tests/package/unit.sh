# The systemd unit: sound, hardened, and in keeping with the program that it starts.
unit=deploy/systemd/evenkeel@.service
most_exposed=20 # in tenths

exposure() (
	needs systemd-analyze
	systemd-analyze security --offline=true --threshold=$most_exposed "$unit"
)
verifies() ( # with a program at the place that it names
	needs systemd-analyze
	sed "s|/usr/bin/evenkeel|$(realpath "$B/evenkeel")|" "$unit" >"$scratch/evenkeel@.service"
	systemd-analyze verify --man=no "$scratch/evenkeel@try.service" 2>&1 | grep -v -e 'No such file or directory' >"$scratch/verified"
	cat "$scratch/verified"
	[ ! -s "$scratch/verified" ]
)
seconds() { # "4s" or "4"
	echo "${1%s}"
}
# As long as is waited for, what is in flight may take.
waits_longer() (
	shutdown=$("$B/evenkeel" run --config-docs | sed -nE 's/^\| `limits.shutdown`.*\| `([0-9]+)s` \|.*/\1/p')
	stop=$(sed -nE 's/^TimeoutStopSec=([0-9]+)s$/\1/p' "$unit")
	echo "limits.shutdown $shutdown s, TimeoutStopSec $stop s"
	[ "$stop" -gt "$((shutdown + 5))" ]
)
t "the unit is sound" verifies
t "the unit is exposed by 2.0 at most" exposure
t "the unit waits longer than a shutdown takes" waits_longer
t "the program tells systemd when it is ready" "$PYTHON" "$here/ready.py" "$B/evenkeel"
