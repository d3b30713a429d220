# A command stopped by a signal leaves no file, complete or partial, and its exit status shows the signal.
pid=
. "$(dirname "$0")/prelude"
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT

quiet "$EK" generate hotel --lists 40 --manifest-out h.yaml -o t.txt
mkdir at
mkfifo in
# TERM and KILL; the shell ignores INT for background jobs. The output is opened before the input, which the command
# reads until the signal.
for signal in TERM:143 KILL:137; do
	echo old >at/out.msgpack
	"$EK" convert -m h.yaml --letor in -o at/out.msgpack 2>chatter &
	pid=$!
	exec 3>in
	head -n 200 t.txt >&3
	kill -${signal%:*} $pid
	status=0
	wait $pid 2>/dev/null || status=$?
	pid=
	exec 3>&-
	[ $status = ${signal#*:} ] || fail "status $status after ${signal%:*}"
	[ "$(ls at)" = out.msgpack ] && [ "$(cat at/out.msgpack)" = old ] || fail "left: $(ls at)"
done

# An unreachable broker is reported while the command waits, and the wait can be stopped at once.
: >chatter
env --default-signal=INT "$EK" capture -b 127.0.0.1:1 -t x -o at/x.ekc 2>chatter &
pid=$!
wait_for_line chatter "^no broker of '127.0.0.1:1' answers yet: waiting"
status=0
kill -INT $pid
wait $pid 2>/dev/null || status=$?
pid=
[ $status = 130 ] || fail "status $status after INT: $(cat chatter)"
