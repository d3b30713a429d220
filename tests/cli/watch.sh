# evenkeel status --watch: one screen on a terminal, lines elsewhere, and the end of both.
pid=
. "$(dirname "$0")/prelude"
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT

quiet "$EK" generate hotel --lists 300 --seed 1 --manifest-out features.yaml -o train.txt
quiet "$EK" profile --manifest features.yaml --letor train.txt -o profile.ekp
port=$(python3 "$tests/ports.py")
cat >run.yaml <<END
input: {brokers: "127.0.0.1:1", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
assets: {manifest: features.yaml, profile: profile.ekp}
http: {listen: "127.0.0.1:$port"}
END
refused 1 "connection refused" status -c run.yaml --watch
refused 2 "--watch takes seconds, 1 to 3600" status -c run.yaml --watch=0
"$EK" run -c run.yaml 2>log &
pid=$!
for i in $(seq 300); do
	"$EK" status -c run.yaml >said 2>chatter && break
	kill -0 $pid 2>/dev/null || fail "it ended: $(cat log)"
	sleep 0.1
done

# Into a pipe: one line each time, until the reader closes it.
timeout 60 "$EK" status -c run.yaml --watch=1 | head -n 2 >lines
[ "$(grep -cE '^20..-..-..T..:..:..\....Z evenkeel not ready, lists 0 \(0/s\), consumed 0, .*, open findings 0, plan 0$' lines)" = 2 ] ||
	fail "not two lines: $(cat lines)"
timeout 60 "$EK" status -c run.yaml --watch=1 --json | head -n 2 |
	python3 -c 'import json, sys; assert [json.loads(l)["consumed"] for l in sys.stdin] == [0, 0]'
# The first line appears at once, and the command stops on a signal.
: >lines
env --default-signal=INT "$EK" status -c run.yaml --watch=60 >lines &
watch=$!
wait_for_line lines evenkeel
kill -INT $watch
wait $watch || fail "status $? after SIGINT"
EK="$EK" python3 "$tests/cli/watch_terminal.py" run.yaml
EK="$EK" python3 -B "$tests/cli/watch_many.py"
