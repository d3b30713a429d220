# Query features with `watch: true`: a change of unit has a finding with its segment, and profile and manifest must agree.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 4000 --seed 3 --manifest-out plain.yaml -o train.txt
sed 's/name: stay_nights, index: 14, role: query,/& watch: true,/' plain.yaml >hotel.yaml
quiet "$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp
quiet "$EK" profile --manifest plain.yaml --letor train.txt -o plain.ekp
printf 'version: 1\nsegments: [arm]\n' >rules.yaml

find_change() { # fault: sets `found` to the feature, segment, class, interval and unit of the confirmed findings
	quiet "$EK" generate hotel --lists 2000 --seed 4 --format messages --fault "$1" -o week.msg
	quiet "$EK" replay --manifest hotel.yaml --profile p.ekp --rules rules.yaml --messages week.msg --events events.jsonl
	found=$(python3 -c 'import json
for line in open("events.jsonl"):
    e = json.loads(line)
    if e["event"] == "finding" and e["state"] == "confirmed":
        where = ",".join(f"{k}={v}" for k, v in (e["segment"] or {}).items()) or "all"
        print(e["feature"], where, e["class"], e["factor_low"] < 24 < e["factor_high"], *e["units"])')
}

find_change stay_nights=x24,from=300
[ "$found" = "stay_nights all scale True days_to_hours" ] || fail "found: $found"
find_change stay_nights=x24,from=300,arm=B
[ "$found" = "stay_nights arm=B scale True days_to_hours" ] || fail "found: $found"

# Messages of one item have the findings of lists, to the last digit.
for layout in list item; do
	quiet "$EK" generate hotel --lists 700 --seed 4 --format messages --layout $layout --fault stay_nights=x24,from=300 -o $layout.msg
	quiet "$EK" replay --manifest hotel.yaml --profile p.ekp --rules rules.yaml --layout $layout --messages $layout.msg --events events.jsonl
	grep '"event":"finding"' events.jsonl >$layout.found
done
grep -q '"state":"confirmed"' list.found || fail "nothing was found"
cmp list.found item.found || fail "items: $(diff list.found item.found)"

for pair in 'plain.yaml p.ekp' 'hotel.yaml plain.ekp'; do
	refused 78 'other query features are watched' replay --manifest "${pair% *}" --profile "${pair#* }" --messages week.msg
done
refused 1 "cannot be stratified by 'stay_nights', which the manifest watches" \
	profile --manifest hotel.yaml --letor train.txt --stratify-by stay_nights -o q.ekp
