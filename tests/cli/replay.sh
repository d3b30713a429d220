# evenkeel replay: findings and routes, and a message without scores that must not stop it.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 1500 --seed 3 --manifest-out hotel.yaml -o train.txt
quiet "$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp
quiet "$EK" train --manifest hotel.yaml --train train.txt --vali train.txt --epochs 1 -o m.safetensors
quiet "$EK" generate hotel --lists 700 --seed 4 --format messages --upstream-model m.safetensors \
	--fault price=x100,from=300 -o in.msg
printf 'version: 1\ndefaults: {mode: enforce}\n' >rules.yaml

# One item, no known features, no score.
printf '\202\256query_features\200\245items\221\201\250features\200' >>in.msg

status=0
"$EK" replay --manifest hotel.yaml --profile p.ekp --rules rules.yaml --model m.safetensors \
	--messages in.msg --output out.msg --events events.jsonl --exit-code 2>chatter || status=$?
[ $status = 3 ] || fail "ended with $status: $(cat chatter)"
grep -q 'message 700 forwarded unchanged: items\[0\]: no score' chatter || fail "$(cat chatter)"
for line in '^replay: 701 messages, in' '^  unreadable  *0$' '^  not scorable  *1, forwarded unchanged$' \
	'^  findings confirmed  *1$' '^    forwarded  *0\.[0-9]* ' 'gain 2^y - 1' \
	'^  ranks of [0-9]* lists with a planned action, compared with upstream' '^    planned actions  *-*0\.[0-9]* ' '^    the model alone  *1\.000 ' \
	'^    price: values are multiplied by [0-9.]* (' 'amounts in cents instead'; do
	grep -q "$line" chatter || fail "'$line' is not in: $(cat chatter)"
done
if grep -q 'there are no routes' chatter; then fail "there is a model: $(cat chatter)"; fi
grep -q '"state":"confirmed".*"class":"scale"' events.jsonl || fail "no finding"
[ "$("$EK" inspect out.msg --json | grep -c '"messages":701,')" = 1 ] || fail "a message is missing"
[ "$(tail -c 35 out.msg | od -c)" = "$(tail -c 35 in.msg | od -c)" ] || fail "it did not stay as it was"

# In shadow mode messages stay unchanged; the report has the displacement and the guardrails it would trip.
printf 'version: 1\ndefaults: {mode: shadow}\n' >shadow.yaml
"$EK" replay --manifest hotel.yaml --profile p.ekp --rules shadow.yaml --model m.safetensors \
	--messages in.msg --json >shadow.json 2>chatter || fail "$(cat chatter)"
grep -q '^    planned actions  *0\.[0-9]* ' chatter || fail "$(cat chatter)"
grep -q '"unchanged":701,"rescored":0,.*"ranks_by_plan":{"lists":[1-9]' shadow.json || fail "$(cat shadow.json)"
# Rules of another baseline than the profile's are refused.
printf 'version: 1\ndefaults: {stratify_by: market}\n' >market.yaml
status=0
"$EK" replay --manifest hotel.yaml --profile p.ekp --rules market.yaml --messages in.msg 2>chatter || status=$?
[ $status = 78 ] || fail "ended with $status: $(cat chatter)"
grep -q "market.yaml: 'stratify_by' is 'market', but the profile was made with none" chatter || fail "$(cat chatter)"
# A similar name is a typing error, not a request to create strata.
quiet "$EK" profile --manifest hotel.yaml --letor train.txt --stratify-by stay_nights -o nights.ekp
printf 'version: 1\ndefaults: {stratify_by: stay_night}\n' >nights.yaml
"$EK" replay --manifest hotel.yaml --profile nights.ekp --rules nights.yaml --messages in.msg 2>chatter && fail "it is taken"
grep -q "nights.yaml: 'stratify_by' is 'stay_night', but the profile was made with 'stay_nights', did you mean that?" chatter ||
	fail "$(cat chatter)"

# Rules that no list can satisfy are rejected: a list-free model does not see other items.
quiet "$EK" train --manifest hotel.yaml --train train.txt --vali train.txt --epochs 1 --list-free -o free.safetensors
printf 'version: 1\nfeatures:\n  price:\n    actions: {items: route_per_source}\n' >source.yaml
refused 78 "source.yaml:4:22: 'route_per_source' needs the other items of the list, which the model 'free.safetensors'" \
	replay --manifest hotel.yaml --profile p.ekp --rules source.yaml --model free.safetensors --messages in.msg
quiet "$EK" replay --manifest hotel.yaml --profile p.ekp --rules source.yaml --model m.safetensors --messages in.msg
printf 'version: 1\n' >plain.yaml
quiet "$EK" replay --manifest hotel.yaml --profile p.ekp --rules plain.yaml --model free.safetensors --messages in.msg
cat >run.yaml <<'END'
input:  {brokers: "127.0.0.1:1", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
assets: {manifest: hotel.yaml, profile: p.ekp, model: free.safetensors, rules: source.yaml}
END
status=0
"$EK" check run.yaml >out 2>err || status=$?
[ $status = 78 ] && grep -q "^run.yaml:3:.*'assets.rules': source.yaml:4:22: 'route_per_source' needs" out || fail "check: $status $(cat out err)"

# A profile of few lists warns about its limits.
head -c 40000 train.txt | sed '$d' >few.txt
"$EK" profile --manifest hotel.yaml --letor few.txt -o few.ekp 2>chatter || fail "$(cat chatter)"
grep -q "the level of 'price' and 12 other features is not monitored; more than 200 lists" chatter ||
	fail "$(cat chatter)"
"$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp 2>chatter || fail "$(cat chatter)"
if grep -q 'not be watched' chatter; then fail "$(cat chatter)"; fi

# The JSON summary: every message is in one of three counts, and labels give the gain.
replay="replay --manifest hotel.yaml --profile p.ekp --rules rules.yaml --messages in.msg"
quiet "$EK" $replay --model m.safetensors --json
mv said sum
[ "$(wc -l <sum)" = 1 ] || fail "not one object: $(cat sum)"
number() {
	sed -nE "s/.*\"$1\":([0-9.]+).*/\1/p" sum
}
anew=$(number rescored)
[ $(($(number unchanged) + anew + $(number undecodable))) = 701 ] || fail "not 701: $(cat sum)"
[ "$anew" -gt 0 ] && [ "$(number labeled)" = "$anew" ] && [ "$(number counted)" = "$anew" ] || fail "$(cat sum)"
grep -q "\"ranks_by_plan\":{\"lists\":$anew," sum || fail "not all were tried: $(cat sum)"
[ "$(number forwarded)" != "$(number upstream)" ] || fail "scored anew, and ranked as before: $(cat sum)"

# Enforcing rules without a model have no effect, which is reported.
quiet "$EK" $replay --json
mv said sum
[ "$(number rescored)" = 0 ] || fail "scored without a model: $(cat sum)"
grep -q '"ndcg@10":null' sum || fail "a figure over nothing: $(cat sum)"
grep -q 'The rules enforce, but without --model there are no routes' chatter || fail "$(cat chatter)"
status=0
"$EK" $replay --json --events - >out 2>err || status=$?
[ $status = 2 ] && [ ! -s out ] || fail "two results on standard output: $status"

# Times of records, else of messages, else none; partitions are those of the input.
"$EK" inspect in.msg >out
grep -qE '^  first +2026-09-21T14:13:20.000Z$' out || fail "no time of the messages: $(cat out)"
printf '\225\005\002\317\000\000\001\000\000\000\000\000\300\001\200' >heads.ekc
printf '\225\011\002\377\300\001\200' >>heads.ekc
"$EK" inspect heads.ekc >out
grep -qE '^  partitions +2$' out || fail "not two partitions: $(cat out)"
grep -qE '^  last +2004-11-03T19:53:47.776Z$' out || fail "no time of the record: $(cat out)"
printf '\200' >none.msg
"$EK" inspect none.msg | grep -qE '^  first +none$' || fail "a time from nowhere"

# If no message could be decoded, the exit status shows it.
refused 1 "none of the messages could be read" replay --manifest hotel.yaml --profile p.ekp -i none.msg

# A message is as large as `limits.message_bytes` allows, whatever the default.
quiet "$EK" generate hotel --lists 300 --format messages --encoding json -o small.json
awk 'NR == 4 { printf "{\"pad\": \""; for (i = 0; i < 5000; i++) printf "%01000d", 0; sub(/^\{/, "\", "); } { print }' small.json >large.json
cat >large.yaml <<END
input: {brokers: "127.0.0.1:1", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
assets: {manifest: hotel.yaml, profile: p.ekp}
limits: {message_bytes: 16MiB, in_flight_bytes: 64MiB}
END
quiet "$EK" replay -c large.yaml -i large.json --json
grep -q '"undecodable":0,' said || fail "it is not read: $(cat said)"
quiet "$EK" replay --manifest hotel.yaml --profile p.ekp -i large.json --json
grep -q '"undecodable":1,' said || fail "a message beyond the limit ends the replay: $(cat said)"
