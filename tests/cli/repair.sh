# evenkeel replay --writes features: a list with a known fault leaves with the bytes that it had while healthy.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 3000 --seed 3 --manifest-out hotel.yaml -o train.txt
quiet "$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp
# Values have at most six digits, as prices do; others come back within one unit in the last place of a float32.
"$EK" generate hotel --lists 1500 --seed 4 2>chatter | python3 -c 'import re, sys
for line in sys.stdin:
    print(re.sub(r"(?<=:)[0-9.e-]+(?= )", lambda v: "%.6g" % float(v.group()), line), end="")' >stream.txt
cat >rules.yaml <<'END'
version: 1
segments: [arm]
defaults: {mode: enforce, actions: {missing: auto, zero: auto, stuck: auto, items: auto}}
END

lists() { # encoding, output, faults...: the same lists with and without a fault
	encoding=$1 to=$2
	shift 2
	quiet "$EK" convert --manifest hotel.yaml --letor stream.txt --segment arm=A,B --encoding "$encoding" "$@" -o "$to"
}
repair() { # input, output
	"$EK" replay --manifest hotel.yaml --profile p.ekp --rules rules.yaml --writes features --messages "$1" \
		--output "$2" --events events.jsonl --json >summary.json 2>chatter || fail "$(cat chatter)"
}
compare() { # healthy, faulty, repaired, fraction of the faulty lists that must be healthy again, and whether others may change
	python3 -B - "$tests" "$@" <<'END' || fail "$1 and $3 differ; $(cat summary.json chatter)"
import json
import sys

sys.path.insert(0, sys.argv[1] + "/format")
import read_capture

def messages(path):
    data = read_capture.read(path)
    if data[:1] == b"{":
        return data.splitlines()
    return [m.rstrip(b"\n") for *_, m in read_capture.records(data)]

healthy, faulty, repaired = map(messages, sys.argv[2:5])
least = float(sys.argv[5])
assert len(healthy) == len(faulty) == len(repaired) > 1000
known = [i for i, (f, r) in enumerate(zip(faulty, repaired)) if f != r]
assert known, "nothing was repaired"
after = range(known[0], len(healthy))
broken = [i for i in after if healthy[i] != faulty[i]]
mended = sum(repaired[i] == healthy[i] for i in broken)
changed = sum(repaired[i] != healthy[i] for i in range(len(healthy)) if healthy[i] == faulty[i])
print(f"first {known[0]}: {mended} of {len(broken)} faulty lists as while healthy, {changed} healthy ones changed", file=open("counts", "a"))
assert mended >= least * len(broken) and not changed
END
}
hold() { # encoding, fraction, faults...
	encoding=$1 least=$2
	shift 2
	lists "$encoding" healthy.msg
	lists "$encoding" faulty.msg "$@"
	repair faulty.msg repaired.ekc
	compare healthy.msg faulty.msg repaired.ekc "$least"
}

for encoding in array bin map; do
	hold $encoding 1 --fault price=x100,from=300,arm=B
done
# The fault is computed in float32 and printed: short lists do not show that.
for encoding in json json-map; do
	hold $encoding 0.98 --fault price=x100,from=300,arm=B
done
grep -q '"mitigation":"repair"' events.jsonl || fail "no repair in the events"
hold array 1 --fault price=x0.01,from=300
# Before the interval has a unit, lists with the fault get the usual level, and others stay as they are.
hold array 0.5 --fault price=x100,from=300,share=0.3
hold array 1 --fault price=neg,from=300
hold array 1 --fault 'price=*stay_nights,from=300'
hold bin 1 --fault room_size=x10.76391041670972,from=300
hold map 1 --fault review_score=x0.5,from=300,to=900
hold array 1 --fault stars=x2,from=300

# A query feature has one value per list.
cp hotel.yaml plain.yaml
cp p.ekp plain.ekp
sed -i 's/name: stay_nights, index: 14, role: query,/& watch: true,/' hotel.yaml
quiet "$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp
for encoding in array bin map json json-map; do
	hold $encoding 1 --fault stay_nights=x24,from=300,arm=B
done
grep -q '"feature":"stay_nights","segment":{"arm":"B"},.*"mitigation":"repair"' events.jsonl || fail "no repair of the query feature"
hold array 1 --fault stay_nights=x24,from=300,share=0.5
# Users may ask for longer stays: without a conversion the values stay.
lists array faulty.msg --fault stay_nights=x1.7,from=300
repair faulty.msg repaired.ekc
grep -q '"repaired_values":0' summary.json || fail "$(cat summary.json)"
grep -q 'action: alert, since a query feature is repaired only by a sure conversion' events.jsonl || fail "no reason"
mv plain.yaml hotel.yaml
mv plain.ekp p.ekp

# A currency per list has no divisor: lists get the usual level.
lists array faulty.msg --fault price=currency,from=300
repair faulty.msg repaired.ekc
grep -q '"class":"scale",.*"varies":true' events.jsonl || fail "no factors of their own"
grep -q '"repair":{"by":"level"' events.jsonl || fail "lists are not put on the usual level"

# In shadow nothing changes, and the values are counted.
printf 'version: 1\nsegments: [arm]\ndefaults: {mode: shadow}\n' >rules.yaml
lists array faulty.msg --fault price=x100,from=300,arm=B
repair faulty.msg shadow.ekc
grep -q '"unchanged":1500,.*"repaired_lists":0,"repaired_values":0,"withheld_values":[1-9]' summary.json || fail "$(cat summary.json)"

# A canary repairs a part of the queries.
cat >rules.yaml <<'END'
version: 1
segments: [arm]
defaults: {mode: canary, canary: {initial_percent: 40, max_percent: 40}}
END
repair faulty.msg canary.ekc
grep -q '"repaired_lists":[1-9].*"repaired_values":[1-9].*"withheld_values":[1-9]' summary.json || fail "$(cat summary.json)"

# Wide columns follow the features of each item, and the rest is as without them.
cat >run.yaml <<'END'
input:  {brokers: "localhost:9092", topics: [lists], group: g}
output: {topic: ranked, writes: features, wide_columns: append}
assets: {manifest: hotel.yaml, profile: p.ekp, rules: rules.yaml}
END
printf 'version: 1\nsegments: [arm]\ndefaults: {mode: enforce}\n' >rules.yaml
sed 's/, wide_columns: append//' run.yaml >plain.yaml
"$EK" check run.yaml >chatter 2>&1 || fail "$(cat chatter)"
for encoding in array bin map json json-map; do
	lists $encoding faulty.msg --fault price=x100,from=300,arm=B
	quiet "$EK" replay -c run.yaml -i faulty.msg -o wide.ekc
	quiet "$EK" replay -c plain.yaml -i faulty.msg -o repaired.ekc
	python3 -B - "$tests" <<'END' || fail "$encoding: other wide columns"
import json
import math
import struct
import sys

sys.path.insert(0, sys.argv[1] + "/format")
import read_capture

with open("hotel.yaml") as file:
    lines = [line for line in file if "role: item" in line]
names = [line.split("name: ")[1].split(",")[0] for line in lines]
routable = [name for name, line in zip(names, lines) if "routable: true" in line]

def row(features):
    if isinstance(features, dict) or features and isinstance(features[0], tuple):
        return dict(features)
    values = struct.unpack(f"<{len(features) // 4}f", features) if isinstance(features, bytes) else features
    return dict(zip([*names, *(f"z:{name}" for name in routable)], values, strict=len(values) > len(names)))

def lists(path):
    data = read_capture.read(path)
    for message in data.splitlines() if data[:1] == b"{" else [m for *_, m in read_capture.records(data)]:
        items = json.loads(message)["items"] if message[:1] == b"{" else map(dict, dict(read_capture.unpack(message)[0])["items"])
        yield [row(item["features"]) for item in items]

count = 0
for before, after in zip(lists("repaired.ekc"), lists("wide.ekc"), strict=True):
    assert [{k: v for k, v in r.items() if k in names} for r in after] == before, after[0]
    for name in routable:
        logs = [math.log(r[name]) for r in before]
        for r, ln in zip(after, logs, strict=True):
            z = r[f"z:{name}"] * 2 ** 16
            assert z == int(z) and abs(z - (ln - sum(logs) / len(logs)) * 2 ** 16) < .501, (name, z)
            count += 1
assert count > 200000, count
END
done

refuse() { # expected words, sed command on the configuration
	sed "$2" run.yaml >bad.yaml
	"$EK" check bad.yaml >found 2>&1 && fail "accepted: $2"
	grep -qF "$1" found || fail "$2: $(cat found)"
}
refuse "'output.wide_columns' needs messages whose features are written: set 'output.writes: features'" 's/writes: features, //'
refuse "'output.wide_columns' needs an output: set 'output.topic'" 's/topic: ranked, //'
refuse "'output.wide_columns' cannot append to messages whose schema fixes the fields: compute the columns in the ranker" \
	'$a message: {encoding: avro, registry: {url: "http://localhost:1"}}'
refuse "'message.layout' is columns: compute the columns" '$a message: {layout: columns}'
refuse "'message.features' maps each one: compute the columns" '$a message: {features: "*"}'
sed 's/, routable: true//' hotel.yaml >flat.yaml
quiet "$EK" profile --manifest flat.yaml --letor train.txt -o flat.ekp
refuse "'output.wide_columns': no feature of the manifest is 'routable: true'" 's/hotel.yaml/flat.yaml/; s/p.ekp/flat.ekp/'
