# A model that always routes some features ranks worse when nothing is routed: every command that scores with it warns.
pid=
. "$(dirname "$0")/prelude"
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT

warns() { # expected on stderr once, empty: no warning, arguments...
	want=$1
	shift
	quiet "$EK" "$@"
	if [ -n "$want" ]; then
		[ "$(grep -cF "$want" chatter)" = 1 ] || fail "'$want' is not said once: $* $(cat chatter)"
	else
		if grep -q "routed" chatter; then fail "warns for no reason: $* $(cat chatter)"; fi
	fi
}

quiet "$EK" generate hotel --lists 300 --seed 5 --manifest-out hotel.yaml -o train.txt
quiet "$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp
for kind in static:price none random; do
	quiet "$EK" train --manifest hotel.yaml --train train.txt --vali train.txt --epochs 1 --hidden 4 --routing $kind -o ${kind%:price}.safetensors
done
gen="generate hotel --lists 20 --seed 5 --format messages -o a.msg"
convert="convert --manifest hotel.yaml --letor train.txt -o b.msg"
replay="replay --manifest hotel.yaml --profile p.ekp --messages a.msg"

static="evenkeel: static.safetensors: trained with 'price' always routed: it ranks worse under any other routing"
warns "$static" $gen --upstream-model static.safetensors
warns "$static" $convert --upstream-model static.safetensors
warns "$static" $replay --model static.safetensors
none="evenkeel: none.safetensors: trained without routing: it ranks worse where features are routed"
warns "" $gen --upstream-model none.safetensors # routes nothing
warns "" $convert --upstream-model none.safetensors
warns "$none" $replay --model none.safetensors
warns "" $gen --upstream-model random.safetensors
warns "" $convert --upstream-model random.safetensors
if "$EK" $replay --model random.safetensors 2>&1 | grep -q "trained with"; then fail "warns of a model of random routing"; fi

cat >run.yaml <<'END'
input:  {brokers: "127.0.0.1:1", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
assets: {manifest: hotel.yaml, profile: p.ekp, model: static.safetensors}
http:   {listen: "127.0.0.1:0"}
END
: >log # exists before it is read
"$EK" run -c run.yaml 2>log &
pid=$!
wait_for_line log started
kill -TERM $pid
wait $pid || fail "ended with $?: $(cat log)"
pid=
grep 'model_routing' log | grep -qF "static.safetensors: trained with 'price' always routed" || fail "run does not warn: $(cat log)"
