# `evenkeel watch` without a broker: usage errors, and no file is left behind.
. "$(dirname "$0")/prelude"

refused 2 "unexpected 'scored', did you mean '--topic scored'?" watch scored
refused 2 "--since needs an age such as 6h" watch -t scored --since yesterday
refused 2 "--learn" watch -t scored --learn 10
refused 2 "--learn" watch -t scored --learn many
refused 78 "none.yaml" watch -c none.yaml
refused 78 "'input.librdkafka' must be name=value" watch -t scored -X wrong

mkdir saved
touch saved/rules.yaml
refused 2 "--save: 'saved/rules.yaml' exists" watch -t scored --save saved
touch file
refused 1 "'file/evenkeel.yaml'" watch -t scored --save file/evenkeel.yaml

cat >items.yaml <<'END'
input: {brokers: "127.0.0.1:1", topics: [t], group: g}
message: {layout: item}
assets: {manifest: features.yaml, profile: none.ekp}
END
refused 2 "each message is an item" watch -c items.yaml

# Ctrl-C ends a wait for a broker.
TMPDIR=$work
export TMPDIR
for option in "-t scored" ""; do
	# shellcheck disable=SC2086 # no topic: looks for one
	setsid "$EK" watch -b 127.0.0.1:1 $option >out 2>err &
	waiting=$!
	wait_for_line err "no broker of '127.0.0.1:1' answers yet\|looking for lists in the topics of '127.0.0.1:1'"
	kill -INT $waiting || fail "it has ended: $(cat err)"
	kill -TERM $waiting 2>/dev/null || true # a shell without job control starts it with SIGINT ignored
	status=0
	{ wait $waiting; } 2>/dev/null || status=$?
	[ $status = 130 ] || [ $status = 143 ] || fail "status $status: $(cat err)"
	[ ! -s out ] || fail "$(cat out)"
done
[ -z "$(find . -name 'evenkeel-watch-*')" ] || fail "left: $(find . -name 'evenkeel-watch-*')"
