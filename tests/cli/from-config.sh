# A configuration gives commands the assets, so that no option repeats them.
. "$(dirname "$0")/prelude"

mkdir stage
quiet "$EK" generate hotel --lists 600 --seed 2 --manifest-out stage/features.yaml -o train.txt
quiet "$EK" train -m stage/features.yaml --train train.txt --vali train.txt --epochs 1 --hidden 8 -o stage/model.safetensors
quiet "$EK" generate hotel --lists 400 --seed 1 --format messages --encoding json-map --upstream-model stage/model.safetensors -o lists.json
printf 'version: 1\ndefaults: {mode: enforce}\nsegments: [arm]\n' >stage/rules.yaml
cat >stage/evenkeel.yaml <<'END'
input:   {brokers: "localhost:9092", topics: [scored], group: g}
message: {encoding: json}
output:  {topic: ranked}
assets:  {manifest: features.yaml, profile: profile.ekp, rules: rules.yaml, model: model.safetensors}
END

quiet "$EK" profile -c stage/evenkeel.yaml --messages lists.json -o stage/profile.ekp
quiet "$EK" profile -m stage/features.yaml -c stage/evenkeel.yaml --messages lists.json -o same.ekp
cmp stage/profile.ekp same.ekp
quiet "$EK" replay -c stage/evenkeel.yaml -i lists.json --json
grep -q '"messages":400,.*"model":true,"enforce":true' said || fail "replay: $(cat said)"
printf 'version: 1\ndefaults: {mode: observe}\nsegments: [arm]\n' >watch.yaml
quiet "$EK" replay -c stage/evenkeel.yaml -r watch.yaml -i lists.json --json
grep -q '"model":true,"enforce":false' said || fail "an option goes before the configuration: $(cat said)"
"$EK" inspect --plot price -c stage/evenkeel.yaml lists.json >plot
"$EK" inspect --plot price -c stage/evenkeel.yaml -m stage/features.yaml -p stage/profile.ekp lists.json | cmp - plot
quiet "$EK" eval -c stage/evenkeel.yaml --data train.txt --json
quiet "$EK" train -c stage/evenkeel.yaml --train train.txt --vali train.txt --epochs 1 --hidden 8 -o again.safetensors
cmp stage/model.safetensors again.safetensors

# Limits of the configuration hold in a replay: of the markets, one has a segment of its own.
printf 'version: 1\ndefaults: {mode: observe}\nsegments: [market]\n' >stage/markets.yaml
quiet "$EK" generate hotel --lists 3000 --seed 1 --format messages --encoding json-map -o markets.json
sed 's/rules.yaml/markets.yaml/' stage/evenkeel.yaml >stage/wide.yaml
{ cat stage/wide.yaml && echo 'limits: {segments: 2}'; } >stage/narrow.yaml
for which in wide narrow; do
	quiet "$EK" replay -c stage/$which.yaml -i markets.json --events $which.jsonl --json
done
cmp -s wide.jsonl narrow.jsonl && fail "limits.segments has no effect: $(cat wide.jsonl)"
sed 's/^output:.*/plan: {topic: plans}/' stage/evenkeel.yaml >stage/plans.yaml
quiet "$EK" replay -c stage/plans.yaml -i lists.json --json
grep -q '"repaired_lists"' said || fail "a program that applies plans changes values: $(cat said)"

# Names of features in rules are checked against the manifest of the configuration.
printf 'version: 1\nfeatures: {prise: {mode: enforce}}\n' >wrong.yaml
status=0
"$EK" check -c stage/evenkeel.yaml wrong.yaml >said 2>&1 || status=$?
[ $status = 78 ] && grep -q "did you mean 'price'" said || fail "check: $status $(cat said)"
printf 'version: 1\n' >right.yaml
quiet "$EK" check -c stage/evenkeel.yaml right.yaml
sed 's/features\.yaml/lost.yaml/' stage/evenkeel.yaml >stage/lost-manifest.yaml
status=0
"$EK" check -c stage/lost-manifest.yaml right.yaml >said 2>&1 || status=$?
[ $status = 78 ] && grep -q "lost.yaml" said || fail "check without its manifest: $status $(cat said)"

# A configuration without a model, and with several topics.
sed -i 's/, model: model.safetensors//; s/\[scored\]/[scored, other]/' stage/evenkeel.yaml
refused 2 "--model is needed; the configuration has none" eval -c stage/evenkeel.yaml --data train.txt
refused 2 "'input.topics' has 2 topics: name one with --topic" capture -c stage/evenkeel.yaml -o out.ekc
refused 2 "--since needs an age such as 6h" capture -c stage/evenkeel.yaml -t scored --since yesterday -o out.ekc
