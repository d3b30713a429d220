# Signals of evenkeel run: two equal requests at once count as one, and stopping needs no broker.
pid=
. "$(dirname "$0")/prelude"
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT

fail() {
	echo "$1"
	cat log
	exit 1
}

"$EK" generate hotel --lists 200 --manifest-out hotel.yaml -o lists.txt 2>log
"$EK" profile --manifest hotel.yaml --letor lists.txt -o profile.ekp 2>log
echo 'version: 1' >rules.yaml
cat >run.yaml <<'END'
input:  {brokers: "127.0.0.1:1", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
assets: {manifest: hotel.yaml, profile: profile.ekp, rules: rules.yaml}
http:   {listen: "127.0.0.1:0"}
END
: >log # exists before it is read
"$EK" run -c run.yaml 2>log &
pid=$!
wait_for_line log 'started'
# A reload never ends the process, regardless of its result.
kill -HUP "$pid"
wait_for_line log 'event=reload_completed carried_over=all'
cp profile.ekp good.ekp
echo none >profile.ekp
kill -HUP "$pid"
wait_for_line log "event=reload_refused message=.*'assets.profile'"
cp good.ekp profile.ekp
# The command as typed in a shell, not a signal sent directly.
echo 'segments: [arm]' >rules.yaml
kill -HUP "$pid"
wait_for_line log "event=reload_refused message=.*'segments' of the rules has changed.* reload with --reset-state, or"
# Two different signals, which the kernel cannot merge.
kill -TERM "$pid"
kill -INT "$pid"
# A reload does not disturb an instance that is stopping.
# (The shell may have reaped the process between the two checks; its number is then unused.)
while kill -HUP "$pid" 2>/dev/null && [ "$(cut -d ' ' -f 3 "/proc/$pid/stat" 2>/dev/null)" != Z ]; do :; done
status=0
wait "$pid" || status=$?
pid=
[ $status = 0 ] || fail "status $status after a doubled signal"
