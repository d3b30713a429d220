# Category feature: from training lists to a finding that names the value, and rejected inputs.
. "$(dirname "$0")/prelude"

cat >shop.yaml <<'END'
features:
  - {name: price, index: 1, role: item, routable: true, positive: true}
  - {name: room, index: 2, role: item, type: category}
  - {name: nights, index: 3, role: query}
END
sed 's/, type: category//' shop.yaml >numbers.yaml

# 12 items per list; rooms -1 (one in two), 0, 1, 2.
lists() {
	awk -v lists="$1" -v seed="$2" 'BEGIN {
		srand(seed)
		for (q = 1; q <= lists; q++) {
			nights = rand()
			for (i = 0; i < 12; i++)
				printf "%d qid:%d 1:%.3f 2:%d 3:%.5f\n", rand() < .1, q, 50 + 50 * rand(),
					rand() < .5 ? -1 : int(3 * rand()), nights
		}
	}'
}
lists 1500 1 >train.txt
lists 600 2 >later.txt

quiet "$EK" profile --manifest shop.yaml --letor train.txt -o p.ekp
[ ! -s chatter ] || ! grep -q 'not be watched' chatter || fail "a code has no level: $(cat chatter)"
"$EK" inspect p.ekp >out
grep -qE "^room +4 values, 0\.0[0-9]% unknown: -1 50\.[0-9]%|^room +4 values, 0\.0[0-9]% unknown: -1 49\.[0-9]%" out ||
	fail "$(cat out)"
"$EK" inspect p.ekp --json | grep -q '"name":"room".*"values":4,"unknown":' || fail "no values"

quiet "$EK" convert --manifest shop.yaml --letor later.txt --segment arm=A,B \
	--fault room=+1,from=300,arm=B -o in.ekc
printf 'version: 1\nsegments: [arm]\n' >rules.yaml
replay="replay --manifest shop.yaml --profile p.ekp --rules rules.yaml"
quiet "$EK" $replay --messages in.ekc --events events.jsonl
grep '"state":"confirmed"' events.jsonl >confirmed || fail "nothing: $(cat events.jsonl)"
[ "$(wc -l <confirmed)" = 1 ] || fail "$(cat confirmed)"
for part in '"feature":"room","segment":{"arm":"B"},"class":"new_category","factor":null' \
	'"categories":\[{"value":-1,"fraction":0,"trained":0.[45]' '{"value":3,"fraction":0.[12][0-9]*,"trained":0}' \
	'"mitigation":"alert","mode":"observe"'; do
	grep -q "$part" confirmed || fail "no $part in: $(cat confirmed)"
done

# No finding without the fault.
quiet "$EK" convert --manifest shop.yaml --letor later.txt --segment arm=A,B -o calm.ekc
quiet "$EK" $replay --messages calm.ekc --events events.jsonl
[ ! -s events.jsonl ] || fail "$(cat events.jsonl)"

# A profile that treats the codes as numbers is rejected.
quiet "$EK" profile --manifest numbers.yaml --letor train.txt -o n.ekp
status=0
"$EK" replay --manifest shop.yaml --profile n.ekp --rules rules.yaml --messages in.ekc 2>chatter || status=$?
[ $status = 78 ] || fail "ended with $status: $(cat chatter)"
grep -q "n.ekp: 'room' is a category in the manifest and was none when the profile was made; make it again" chatter ||
	fail "$(cat chatter)"
