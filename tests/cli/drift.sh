# Model drift in replay: a changed upstream scorer is reported once, with statistics and start. It is not reported
# while upstream is unchanged, nor for lists with faulty features.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 1500 --seed 3 --manifest-out hotel.yaml -o train.txt
quiet "$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp
train="train --manifest hotel.yaml --train train.txt --vali train.txt --epochs 2 --hidden 8"
quiet "$EK" $train --seed 1 --routing none --log-input none -o old.safetensors
quiet "$EK" $train --seed 2 --epochs 1 --lr 1e-4 -o new.safetensors
messages="generate hotel --seed 3 --format messages"
quiet "$EK" $messages --lists 1500 --upstream-model old.safetensors -o train.msg
quiet "$EK" $messages --lists 300 --from 1500 --upstream-model old.safetensors -o vali.msg
quiet "$EK" train --manifest hotel.yaml --train train.msg --vali vali.msg --teacher upstream -o taught.safetensors

# The upstream scorer changes at list 20000 of 40000.
quiet "$EK" $messages --lists 20000 --from 2000 --upstream-model old.safetensors -o before.msg
quiet "$EK" $messages --lists 20000 --from 22000 --upstream-model new.safetensors -o after.msg
cat before.msg after.msg >both.msg
replay="replay --manifest hotel.yaml --profile p.ekp --model taught.safetensors --events events.jsonl"
quiet "$EK" $replay --messages both.msg
[ "$(grep -c '"event":"model_drift"' events.jsonl)" = 1 ] || fail "not told once: $(cat events.jsonl)"
grep '"event":"model_drift","state":"drifted"' events.jsonl >event || fail "$(cat events.jsonl)"
number() { # fields of the event
	sed -nE "s/.*\"$1\":(-?[0-9.]+).*/\1/p" event
}
[ "$(number list)" -gt 20000 ] && [ "$(number list)" -lt 32000 ] || fail "told at $(cat event)"
[ "$(number since_list)" -gt 18000 ] && [ "$(number since_list)" -lt 22000 ] || fail "begun at $(cat event)"
sed -E 's/.*"tau":\{"current":([0-9.]+),"reference":([0-9.]+),"threshold":([0-9.]+)\}.*/\1 \2 \3/' event |
	awk '{ exit !($1 < $3 && $3 < $2) }' || fail "figures: $(cat event)"
grep -q 'train with --teacher upstream and put the new model in place' event || fail "no remedy: $(cat event)"
tr -s ' \n' ' ' <chatter | grep -q 'model and upstream have drifted apart: over' || fail "not in the summary: $(cat chatter)"

# The same lists give the same event.
cp events.jsonl first.jsonl
quiet "$EK" $replay --messages both.msg
cmp events.jsonl first.jsonl

# No event without a change.
quiet "$EK" $replay --messages before.msg
if grep model_drift events.jsonl >event; then fail "told for nothing: $(cat event)"; fi

# A feature fault is a finding, not model drift: its lists are not compared, routed or not.
quiet "$EK" $messages --lists 24000 --from 2000 --fault price=x100,from=6000 -o faulty.msg --upstream-model old.safetensors
for mode in observe enforce; do
	printf 'version: 1\ndefaults: {mode: %s}\n' $mode >rules.yaml
	quiet "$EK" $replay --messages faulty.msg --rules rules.yaml
	grep -q '"state":"confirmed"' events.jsonl || fail "no finding"
	if grep model_drift events.jsonl >event; then fail "$mode: a fault was taken for a drift: $(cat event)"; fi
done

# A model without a stored agreement reports no drift.
quiet "$EK" replay --manifest hotel.yaml --profile p.ekp --model old.safetensors --messages both.msg --events events.jsonl
if grep model_drift events.jsonl >event; then fail "told without a figure: $(cat event)"; fi
