# evenkeel replay --compare: effects of two sets of rules on the same traffic equal those of single replays.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 1500 --seed 3 --manifest-out hotel.yaml -o train.txt
quiet "$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp
quiet "$EK" train --manifest hotel.yaml --train train.txt --vali train.txt --epochs 1 -o m.safetensors
quiet "$EK" generate hotel --lists 2600 --seed 4 --format messages --upstream-model m.safetensors \
	--fault 'price=*stay_nights,from=300,to=1500,arm=B' -o in.msg
common='segments: [arm]
features: {price: {units: ["query_feature:stay_nights"]}}'
printf 'version: 1\n%s\n' "$common" >observe.yaml
printf 'version: 1\ndefaults: {mode: enforce, min_duration: 1s}\n%s\n' "$common" >enforce.yaml
printf 'version: 1\ndefaults: {mode: enforce, min_duration: 1s}\nsegments: [arm]\nfeatures: {price: {watch: false}}\n' >blind.yaml
printf 'version: 1\ndefaults: {mode: enforce, min_duration: 1s, confirmation_lists: 3200, actions: {scale: blank}}\n%s\n' "$common" >late.yaml

replay() { # rules, arguments...
	rules=$1
	shift
	"$EK" replay --manifest hotel.yaml --profile p.ekp --model m.safetensors --messages in.msg --rules "$rules" "$@"
}
compare() { # status, A, B, arguments...
	want=$1 a=$2 b=$3
	shift 3
	status=0
	replay "$a" --compare "$b" --exit-code "$@" >out 2>chatter || status=$?
	[ $status = "$want" ] || fail "status $status instead of $want for $a and $b: $(cat out chatter)"
}
has() { # lines of the output
	for line in "$@"; do
		grep -qE -- "$line" out || fail "'$line' is not in: $(cat out)"
	done
}
number() { # key, file: of a single replay
	sed -nE "s/.*\"$1\":([0-9.]+).*/\1/p" "$2"
}
part() { # object, key: of the comparison
	sed -nE "s/.*\"$1\":\{[^}]*\"$2\":(-?[0-9.]+).*/\1/p" out
}

# A file compared with itself.
for rules in observe enforce; do
	compare 0 $rules.yaml $rules.yaml
	has '^  equal findings +[1-9]' '^  different findings +0$' '^  findings only in A +0$' '^  findings only in B +0$' \
		'^  plan changes .* different after 0 of them$' '; different 0$' '^  No differences\.$'
done

# Observe against enforce: plan, routed lists and findings equal those of two single replays.
for rules in observe enforce; do
	replay $rules.yaml --json --events $rules.jsonl >$rules.json 2>chatter || fail "$(cat chatter)"
done
compare 3 observe.yaml enforce.yaml --json
[ "$(wc -l <out)" = 1 ] || fail "not one object: $(cat out)"
has '"differ":true' '^\{"a":"observe.yaml","b":"enforce.yaml","messages":2600,"undecodable":0,'
anew=$(number rescored enforce.json)
[ "$anew" -gt 300 ] && [ "$(number rescored observe.json)" = 0 ] || fail "the scene is not as meant: $anew"
[ "$(part touched a)" = 0 ] && [ "$(part touched b)" = "$anew" ] || fail "touched: $(cat out)"
[ "$(part touched both)" = 0 ] && [ "$(part touched apart)" = "$anew" ] || fail "touched by both: $(cat out)"
[ "$(part came_to_b lists)" = "$anew" ] && [ "$(part a_to_b tau)" = "$(part came_to_b tau)" ] || fail "ranks: $(cat out)"
grep '"event":"plan"' enforce.jsonl | sed -E 's/.*"list":([0-9]+).*/\1/' >plans.single
grep -o '"list":[0-9]*,"a"' out | grep -o '[0-9]*' >plans.both
cmp -s plans.single plans.both || fail "plans: $(cat plans.both) instead of $(cat plans.single)"
[ "$(wc -l <plans.both)" -ge 2 ] || fail "the route was not rolled back: $(cat out)"
last=$(grep '"finding_id":"price-.*"state":"\(confirmed\|updated\)"' enforce.jsonl | tail -1 | sed -E 's/.*"text":"([^"]*)".*/\1/')
grep -qF "$last" out || fail "'$last' is not in: $(cat out)"
compare 3 observe.yaml enforce.yaml
has '^    price, arm=B: .*mode observe in A, enforce in B' '^    [0-9]+ +nothing  +price, arm=B: route, enforce$' "^  re-scored +A 0, B $anew, by both 0; different $anew$" \
	"^    upstream, to B +$anew +0?\.?[0-9.]+"
if grep -q 'No differences' out; then fail "nothing differs: $(cat out)"; fi
longest=$(awk '{ if (length > n) n = length } END { print n }' out)
[ "$longest" -le 79 ] || fail "$longest columns: $(cat out)"

# Canary steps and rollbacks in a comparison equal those of a single replay.
canary='initial_percent: 10, step_percent: 30, step_interval: 2m, min_lists: 20'
printf 'version: 1\ndefaults: {mode: canary, min_duration: 1s, canary: {%s}}\n%s\n' "$canary" "$common" >canary.yaml
printf 'version: 1\ndefaults: {mode: enforce, min_duration: 1s, canary: {%s, abort_if: {rank_change_p95: 0.01}}}\n%s\n' \
	"$canary" "$common" >railed.yaml
for file in canary railed; do
	replay $file.yaml --json >$file.json 2>chatter || fail "$(cat chatter)"
	alone=$(number rescored $file.json)
	[ "$alone" -gt 0 ] && [ "$alone" -lt "$anew" ] || fail "$file.yaml is not as meant: $alone of $anew"
	compare 3 observe.yaml $file.yaml --json
	[ "$(part touched b)" = "$alone" ] || fail "$file: $(part touched b) in a comparison, $alone alone"
done
[ "$(part rolled_back a)" = 0 ] && [ "$(part rolled_back b)" = 1 ] || fail "rolled back: $(cat out)"
compare 3 enforce.yaml railed.yaml
has '^  rolled back by a guardrail A 0, B 1$'
compare 3 enforce.yaml canary.yaml
has '^    [0-9]+ +price, arm=B: route, enforce +price, arm=B: route, canary 10%$' \
	'^    [0-9]+ +price, arm=B: route, enforce +price, arm=B: route, canary 40%$'
compare 3 enforce.yaml canary.yaml --json
has '"mitigation":"route","mode":"canary","percent":40\}'
compare 0 canary.yaml canary.yaml

# Findings of only one side are listed on that side.
compare 3 enforce.yaml blind.yaml
has '^  findings only in A +1$' '^  findings only in B +0$' '^    price, arm=B: values are multiplied'
compare 3 blind.yaml enforce.yaml
has '^  findings only in A +0$' '^  findings only in B +1$' '^    price, arm=B: values are multiplied'

# The same change with another class; both sides route its lists, with different actions.
compare 3 enforce.yaml late.yaml
tr -s ' \n' ' ' <out >flat
grep -q 'price, arm=B: .*action route in A, blank in B and confirmed at [0-9]* in A, confirmed at [0-9]* in B' flat || fail "$(cat out)"
compare 3 enforce.yaml late.yaml --json
both=$(part touched both)
[ "$both" -gt 300 ] && [ "$both" -lt "$anew" ] && [ "$(part touched apart)" -ge "$both" ] || fail "both: $(cat out)"

# In front of the ranker the values differ; a repaired list keeps its scores, as the ranker has not seen it yet.
status=0
"$EK" replay --manifest hotel.yaml --profile p.ekp --messages in.msg --rules observe.yaml --compare enforce.yaml \
	--writes features --exit-code --json >out 2>chatter || status=$?
[ $status = 3 ] || fail "status $status: $(cat out chatter)"
[ "$(part touched apart)" -gt 300 ] || fail "not repaired: $(cat out)"

# Messages of another program differ in nothing, which is no success.
printf '{"a":1}\n{"b":2}\n' >alien.json
status=0
replay observe.yaml --messages alien.json --compare enforce.yaml --exit-code >out 2>chatter || status=$?
[ $status = 1 ] && grep -q 'none of the messages could be read' chatter || fail "status $status: $(cat out chatter)"

# Without --exit-code the exit status is 0; undecodable messages are counted; invalid arguments are rejected.
printf '\300' >>in.msg
quiet replay observe.yaml --compare enforce.yaml --json
grep -q '"messages":2600,"undecodable":1,' said || fail "$(cat said)"
printf 'version: 1\ndefaults: {mode: enforced}\n' >wrong.yaml
refused 78 "wrong.yaml:2:18: unknown mode 'enforced'" \
	replay --manifest hotel.yaml --profile p.ekp --messages in.msg --rules observe.yaml --compare wrong.yaml
refused 78 "these are messages, not rules" \
	replay --manifest hotel.yaml --profile p.ekp --messages in.msg --compare in.msg
refused 2 "--compare excludes --output and --events" \
	replay --manifest hotel.yaml --profile p.ekp --messages in.msg --compare wrong.yaml --events -

# Segment values from a producer are escaped on a terminal.
python3 - <<'END'
with open("in.msg", "rb") as f:
    lists = f.read()
assert lists.count(b"\xa3arm\xa1B") > 1000
with open("in.msg", "wb") as f:
    f.write(lists.replace(b"\xa3arm\xa1B", b"\xa3arm\xa1\x1b"))
END
compare 3 observe.yaml enforce.yaml
has 'arm=\?: route, enforce'
if grep -q "$(printf '\033')" out; then fail "an escape: $(cat -v out)"; fi
replay enforce.yaml >out 2>&1 || fail "$(cat out)"
has 'price, arm=[?]: '
if grep -q "$(printf '\033')" out; then fail "an escape: $(cat -v out)"; fi
