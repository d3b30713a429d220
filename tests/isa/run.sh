#!/bin/sh
# Profile, findings, plans and rankings with the widest vectors of this machine equal those without any.
set -eu
tests=$(realpath "$(dirname "$0")/..") EK=$(realpath "$EK") PORTABLE=$(realpath "$PORTABLE")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
passed=0 failed=0

quiet() {
	"$@" >said 2>chatter || {
		cat said chatter
		exit 1
	}
}
same() { # name, file
	if cmp "wide/$2" "narrow/$2"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $1"
	fi
}

quiet "$EK" generate hotel --lists 1500 --seed 7 --manifest-out hotel.yaml -o train.txt
quiet "$EK" generate hotel --lists 100 --seed 8 -o vali.txt
quiet "$EK" profile -m hotel.yaml --letor train.txt -o p.ekp
quiet "$EK" train -m hotel.yaml --train train.txt --vali vali.txt --epochs 1 -o m.safetensors
quiet "$EK" generate hotel --lists 700 --seed 9 --format messages --upstream-model m.safetensors --fault price=x100,from=100,arm=B -o in.msg
printf 'version: 1\ndefaults: {mode: enforce}\nsegments: [arm, market]\n' >rules.yaml
for side in wide narrow; do
	program=$EK
	[ $side = wide ] || program=$PORTABLE
	mkdir $side
	quiet "$program" profile -m hotel.yaml --letor train.txt -o $side/p.ekp
	quiet "$program" replay -m hotel.yaml -p p.ekp -r rules.yaml -M m.safetensors -i in.msg -e $side/events -o $side/out.ekc --json
	cp said $side/replay
	quiet "$program" eval -m hotel.yaml --model m.safetensors --data vali.txt --route price --metric ndcg,ndcg@5,map --json
	cp said $side/eval
	quiet "$program" normalize -m hotel.yaml --letor train.txt --json
	cp said $side/normalize
	quiet "$program" select -m hotel.yaml --train train.txt --vali vali.txt --count 5 --json
	cp said $side/select
done
grep -q '"state":"confirmed"' wide/events || {
	echo "FAILED: nothing was found, so nothing is compared"
	failed=$((failed + 1))
}
same "profiles differ" p.ekp
same "findings and plans differ" events
same "summaries differ" replay
same "figures of a ranking differ" eval
same "choices of transforms differ" normalize
same "choices of features differ" select
# Network layers are summed in another order, so scores may differ by rounding; all other bytes are equal.
if "$PYTHON" "$tests/isa/scores.py" wide/out.ekc narrow/out.ekc; then
	passed=$((passed + 1))
else
	failed=$((failed + 1))
	echo "FAILED: scores differ"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
