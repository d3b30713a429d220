# evenkeel demo: the demo succeeds, its log is readable without colors, and no files remain.
. "$(dirname "$0")/prelude"
mkdir tmp
TMPDIR=$work/tmp
export TMPDIR

fail() {
	echo "$1"
	cat out err
	exit 1
}
shown() {
	grep -qF -- "$1" out || fail "'$1' is not shown"
}

"$EK" demo >out 2>err || fail "status $?"
shown "price, arm=B"
shown "scale, query_feature:stay_nights"
shown "re-scored before fault / in arm A  0 / 0"
shown "plain model, without evenkeel"
shown "routable model, not routed"
shown "gain by the model / by its route"
shown "The fault was found, routed with better rankings, and the route ended."
if grep -q "$(printf '\033')" out; then fail "color in a log"; fi
long=$(awk 'length > 79' out)
[ -z "$long" ] || fail "wider than 79 columns: $long"
[ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"

"$EK" demo >out 2>err &
pid=$!
while [ -z "$(ls tmp)" ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done # listens before its folder is created
kill -TERM $pid
status=0
wait $pid || status=$?
[ $status = 143 ] || fail "status $status after SIGTERM"
grep -qF interrupted err || fail "an interrupted run does not say so"
[ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"

status=0
"$EK" demo now >out 2>err || status=$?
[ $status = 2 ] || fail "status $status for a word too many"

# A taken port is reported before the training.
python3 -c 'import socket, time; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(60)' >port &
holder=$!
wait_for_line port .
status=0
"$EK" demo --page=127.0.0.1:"$(cat port)" >out 2>err || status=$?
kill $holder
[ $status = 1 ] || fail "status $status for a taken port"
grep -qF "cannot listen on 127.0.0.1:$(cat port): address already in use" err || fail "$(cat err)"
[ "$(wc -l <err)" = 1 ] || fail "work before the address was checked: $(cat err)"
