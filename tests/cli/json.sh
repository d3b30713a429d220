# JSON messages work like msgpack messages, with equal results.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 3000 --seed 1 --manifest-out hotel.yaml -o train.txt
cat >rules.yaml <<END
version: 1
segments: [arm]
features: {price: {mode: enforce, units: [cents]}}
END
quiet "$EK" train --manifest hotel.yaml --train train.txt --vali train.txt --epochs 1 --hidden 8 -o m.safetensors
for form in array map json json-map; do
	quiet "$EK" generate hotel --lists 700 --seed 2 --format messages --encoding $form \
		--fault price=x100,from=200 -o in.$form
done
[ "$(wc -l <in.json)" = 700 ] || fail "not 700 lines of JSON"

# Equal profile, findings and routed lists.
for form in array json; do
	quiet "$EK" generate hotel --lists 1000 --seed 1 --format messages --encoding $form -o train.$form
	quiet "$EK" profile --manifest hotel.yaml --messages train.$form -o p.$form.ekp
done
cmp p.array.ekp p.json.ekp
for form in array map json json-map; do
	quiet "$EK" replay --manifest hotel.yaml --profile p.json.ekp --rules rules.yaml --model m.safetensors \
		--messages in.$form --events events.$form --output out.$form --json
	mv said sum.$form
done
cmp events.array events.json
cmp events.map events.json-map
cmp sum.array sum.json
cmp sum.map sum.json-map
grep -q '"confirmed"' events.json || fail "nothing was found"

# An output line equals its input except for the scores; the capture contains it completely.
"$EK" inspect out.json >out
grep -qE '^  messages +700$' out || fail "not 700 messages: $(cat out)"
grep -qE '^  first +2026-09-21T14:13:20.000Z$' out || fail "no time: $(cat out)"
"$EK" inspect in.json | grep -qE '^  first +2026-09-21T14:13:20.000Z$' || fail "no time in the lines"
tr '\n\000' '  ' <out.json | grep -aqE '"score":-?[0-9]+\.[0-9]{8}' || fail "no score was put in"

# Invalid JSON is skipped with its position, and the next messages are processed.
head -n 3 in.json >bad.json
printf '{"query":"q","items":[}\n' >>bad.json
tail -n 2 in.json >>bad.json
quiet "$EK" replay --manifest hotel.yaml --profile p.json.ekp --messages bad.json --json
grep -q '"undecodable":1' said || fail "not one unreadable: $(cat said)"
grep -qF 'message 3 left out: message: byte 22 is no JSON: expected a value' chatter || fail "$(cat chatter)"

# LETOR converts to JSON too.
quiet "$EK" convert --manifest hotel.yaml --letor train.txt --encoding json -o c.json
[ "$(wc -l <c.json)" = 3000 ] || fail "not 3000 lines"
refused 2 "unknown encoding 'xml' (array, bin, map, json, json-map)" convert --manifest hotel.yaml --letor train.txt --encoding xml
