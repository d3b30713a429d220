# Messages of one item: gen writes them, replay has the same findings as for lists, check rejects rules that need lists.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 1500 --seed 3 --manifest-out hotel.yaml -o train.txt
quiet "$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp
quiet "$EK" train --manifest hotel.yaml --train train.txt --vali train.txt --epochs 1 -o m.safetensors
printf 'version: 1\ndefaults: {mode: enforce}\n' >rules.yaml
for layout in list item; do
	quiet "$EK" generate hotel --lists 700 --seed 4 --format messages --encoding bin --layout $layout \
		--fault price=x100,from=300 -o $layout.msg
	quiet "$EK" replay --manifest hotel.yaml --profile p.ekp --rules rules.yaml --model m.safetensors \
		--layout $layout --messages $layout.msg --output $layout.out --events $layout.jsonl
done

# Equal findings, to the last digit.
grep '"event":"finding"' list.jsonl >list.found
grep '"event":"finding"' item.jsonl >item.found
grep -q '"state":"confirmed".*"class":"scale"' list.found || fail "nothing was found"
cmp list.found item.found || fail "items say something else than lists: $(diff list.found item.found)"

# JSON, one item per line.
quiet "$EK" generate hotel --lists 5 --seed 4 --format messages --encoding json --layout item -o item.json
[ "$(grep -vc '"list_items":[0-9]*,"log_means":\[.*\],"item":{"id":' item.json)" = 0 ] || fail "not a line an item"
[ "$(grep -vc '^{"query":"q-[0-4]",.*}}$' item.json)" = 0 ] || fail "$(head -3 item.json)"
quiet "$EK" convert --manifest hotel.yaml --letor train.txt --layout item -o converted.msg
quiet "$EK" replay --manifest hotel.yaml --profile p.ekp --layout item --messages converted.msg

# Invalid items, and options that items do not support.
refused 1 "message 0 left out: item: missing" replay --manifest hotel.yaml --profile p.ekp --layout item --messages list.msg
grep -q 'none of the messages could be read' err || fail "$(cat err)"
printf 'version: 1\nfeatures:\n  price:\n    actions: {items: route_per_source}\n' >source.yaml
refused 78 "source.yaml:4:22: 'route_per_source' needs the other items of the list, and messages hold one" \
	replay --manifest hotel.yaml --profile p.ekp --rules source.yaml --layout item --messages item.msg
cat >run.yaml <<'END'
input:  {brokers: "127.0.0.1:1", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
message: {layout: item, item: hit}
assets: {manifest: hotel.yaml, profile: p.ekp, rules: source.yaml}
END
status=0
"$EK" check run.yaml >out 2>err || status=$?
[ $status = 78 ] && grep -q "^run.yaml:4:.*source.yaml:4:22: 'route_per_source' needs" out || fail "check: $status $(cat out err)"
sed -i 's/, rules: source.yaml//' run.yaml
quiet "$EK" check run.yaml
for words in "generate hotel --format messages --layout banana" "generate hotel --layout item" \
	"replay --manifest hotel.yaml --profile p.ekp --layout banana" "convert --manifest hotel.yaml --letor train.txt --layout banana"; do
	status=0
	# shellcheck disable=SC2086
	"$EK" $words >/dev/null 2>chatter || status=$?
	[ $status = 2 ] && grep -q 'layout' chatter || fail "$words: $status $(cat chatter)"
done
