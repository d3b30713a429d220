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
