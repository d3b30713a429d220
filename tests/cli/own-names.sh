# Topic with its own field names: commands read a recording according to the configuration.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 500 --seed 2 --manifest-out hotel.yaml -o train.txt
quiet "$EK" train --manifest hotel.yaml --train train.txt --vali train.txt --epochs 1 --hidden 8 -o upstream.safetensors
quiet "$EK" generate hotel --lists 1500 --seed 1 --format messages --encoding json-map --upstream-model upstream.safetensors -o usual.json
sed -E -e 's/"query":/"searchId":/; s/"time_ms":([0-9]+)/"meta":{"at":\1}/; s/"segments":/"experiment":/' \
	-e 's/"query_features":/"request":/; s/"score":([^,}]+)/"rank":{"value":\1}/g' \
	-e 's/"features":\{/"attrs":{"free":"yes",/g; s/"items":(.*)\}$/"result":{"hotels":\1}}/' usual.json >own.json
cat >own.yaml <<END
input:   {brokers: "localhost:9092", topics: [scored], group: g}
message: {encoding: json, query: searchId, time_ms: meta.at, segments: experiment, query_features: request,
          items: result.hotels, score: rank.value, features: attrs}
output:  {topic: ranked, dead_letter_topic: dead}
assets:  {manifest: own-features.yaml, profile: own.ekp}
END
hint="if fields have other names, use --config"

# Without the configuration, the mapping is found, and an error names the fields and the option that maps them.
"$EK" inspect --suggest-manifest own.json >found.yaml
for line in 'query: "searchId"' 'time_ms: "meta.at"' 'query_features: "request"' 'items: "result.hotels"' 'score: "rank.value"' 'features: "attrs"'; do
	grep -qF "#   $line" found.yaml || fail "no $line in $(cat found.yaml)"
done
printf '{"searchId": %s, "hits": [{"id": 1}]}\n' 1 2 >none.json
refused 1 "no message has 'items' (or 'item') with an item in it; the first one has: searchId, hits; $hint" inspect --suggest-manifest none.json
sed 's/attrs/atrs/' own.yaml >typo.yaml
refused 1 "no item has 'atrs' with a feature in it; the first one has: id, rank, label, attrs" inspect --suggest-manifest --config typo.yaml own.json

# The manifest is that of the usual names, but for what is no number.
"$EK" inspect --suggest-manifest usual.json >features.yaml
"$EK" inspect --suggest-manifest --config own.yaml own.json >own-features.yaml
grep -qF '# left out: free, which is no number' own-features.yaml || fail "$(cat own-features.yaml)"
grep -v 'left out' own-features.yaml | cmp - features.yaml

# All derived files are equal.
refused 1 "own.json:1: items: missing; $hint" profile --manifest features.yaml --messages own.json -o p.ekp
quiet "$EK" profile --manifest features.yaml --messages usual.json --stratify-by market -o usual.ekp
quiet "$EK" profile --manifest features.yaml --messages own.json --stratify-by market --config own.yaml -o own.ekp
cmp usual.ekp own.ekp
quiet "$EK" replay --manifest features.yaml --profile own.ekp --messages own.json --config own.yaml --json
grep -q '"messages":1500,"unchanged":1500,"rescored":0,"undecodable":0' said || fail "$(cat said)"
"$EK" inspect --plot price --manifest features.yaml usual.json >usual.plot
"$EK" inspect --plot price --manifest features.yaml --config own.yaml own.json | cmp - usual.plot
for names in usual own; do
	if [ $names = own ]; then set -- --config own.yaml; else set --; fi
	quiet "$EK" train --manifest features.yaml --train $names.json --vali $names.json --teacher upstream \
		--epochs 1 --hidden 8 "$@" -o $names.safetensors
	quiet "$EK" eval --manifest features.yaml --model $names.safetensors --data $names.json --teacher upstream --json "$@"
	mv said $names.eval
done
cmp usual.safetensors own.safetensors
cmp usual.eval own.eval

# Rules tests run on the recording, and check reads it.
cat >tested.yaml <<END
version: 1
segments: [arm]
tests:
  - {name: cents, inject: {feature: price, scale: 100}, expect: {class: scale, factor: 100, within_percent: 10, after_lists: 400}}
END
quiet "$EK" check --manifest features.yaml --config own.yaml --messages own.json --profile own.ekp tested.yaml
grep -qF 'tested.yaml: rules, ok (1 test passed on recorded lists)' said || fail "$(cat said)"
status=0
"$EK" check --manifest features.yaml --messages own.json --profile own.ekp tested.yaml >out 2>err || status=$?
[ $status = 78 ] || fail "status $status"
grep -qF "items: missing; $hint" out || fail "$(cat out)"

# With another encoding in the configuration, run would dead-letter every message.
quiet "$EK" generate hotel --lists 20 --seed 1 --format messages -o usual.msgpack
other_encoding() { # configured and actual encoding, file
	sed "s/encoding: json/encoding: $1/" own.yaml >other.yaml
	why="message: it begins as $2 does, and"
	where="; other.yaml:2: 'message.encoding' is '$1', but 'auto' can read it"
	for command in "inspect --suggest-manifest" "inspect --plot price --manifest features.yaml" "profile --manifest features.yaml -o p.ekp --messages"; do
		refused 1 "$3:1: $why" ${command%% *} --config other.yaml ${command#* } "$3"
		grep -qF "$where" err || fail "$(cat err)"
	done
	refused 1 "none of the messages could be read" replay --manifest features.yaml --profile own.ekp --config other.yaml --messages "$3"
	grep -qF "message 0 left out: $why" err && grep -qF "$where" err || fail "$(cat err)"
}
other_encoding msgpack JSON own.json
other_encoding json MessagePack usual.msgpack
sed 's/encoding: json, //' own.yaml >unsaid.yaml
"$EK" inspect --suggest-manifest --config unsaid.yaml own.json | cmp - own-features.yaml
quiet "$EK" check --manifest features.yaml --config unsaid.yaml --messages own.json --profile own.ekp tested.yaml

# A wrong path of the scores is reported even while nothing is routed.
sed 's/rank.value/rank.valeu/' own.yaml >scoreless.yaml
none="note: scoreless.yaml:3:33: no item of 1500 lists has 'rank.valeu', the 'message.score'"
quiet "$EK" profile --manifest features.yaml --messages own.json --config scoreless.yaml -o p.ekp
grep -qF "$none" chatter || fail "$(cat chatter)"
quiet "$EK" replay --manifest features.yaml --profile own.ekp --messages own.json --config scoreless.yaml
grep -qF "no item of 100 lists has 'rank.valeu'" chatter || fail "$(cat chatter)"
sed '/cents/{p;s/cents/again/;p;s/again/"once more"/}' tested.yaml >thrice.yaml # each test reads the lists from the first
for rules in tested thrice; do
	quiet "$EK" check --manifest features.yaml --config scoreless.yaml --messages own.json --profile own.ekp $rules.yaml
	grep -o "no item of [0-9]* lists has 'rank.valeu'" chatter >$rules.note || fail "$(cat chatter)"
done
cmp tested.note thrice.note
grep -qF "lists has 'rank.valeu'" chatter || fail "$(cat chatter)"
quiet "$EK" replay --manifest features.yaml --profile own.ekp --messages own.json --config own.yaml
! grep note: chatter || fail "a note where all is well"
quiet "$EK" profile --manifest features.yaml --messages own.json --config own.yaml -o p.ekp
! grep note: chatter || fail "a note where all is well"
sed 's/, score: rank.value//' own.yaml >watched.yaml # observing needs no scores
quiet "$EK" profile --manifest features.yaml --messages own.json --config watched.yaml -o p.ekp
! grep note: chatter || fail "a note where no score is wanted"

# Item messages are rejected where lists are required.
sed 's/encoding: json/encoding: json, layout: item/' own.yaml >items.yaml
refused 2 "each message is an item ('message.layout' of the configuration)" \
	profile --manifest features.yaml --messages own.json --config items.yaml -o p.ekp
