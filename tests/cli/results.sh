# --json of commands that write files: one object with counts, under the names that inspect uses.
. "$(dirname "$0")/prelude"

has() { # expression on r, the parsed output
	python3 -c 'import json, sys
r = json.loads(open("said").read())
assert open("said").read().count("\n") == 1, "not one line"
assert eval(sys.argv[1]), r' "$1" || fail "not $1"
}
quiet "$EK" generate hotel --lists 300 --seed 1 --manifest-out hotel.yaml -o train.txt --json
has 'r["output"] == "train.txt" and r["lists"] == 300 and r["faults"] == [] and "messages" not in r'
has "r['items'] == $(wc -l <train.txt)"
quiet "$EK" generate hotel --lists 300 --seed 2 --format messages -o 'a "b".msgpack' --json \
	--fault price=x100,from=100 --fault price=x2,arm=Z
has 'r["output"] == "a \"b\".msgpack" and r["messages"] == 300'
has '[(f["fault"], f["lists"]) for f in r["faults"]] == [("price=x100,from=100", 200), ("price=x2,arm=Z", 0)]'
quiet "$EK" convert -m hotel.yaml --letor train.txt --layout item -o items.msgpack --json
has 'r["lists"] == 300 and r["messages"] == r["items"] > 300'
quiet "$EK" inspect items.msgpack --json
has "r['messages'] == $(wc -l <train.txt)"

quiet "$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp --json
mv said made
quiet "$EK" inspect p.ekp --json
has 'all(r[k] == json.load(open("made"))[k] for k in ("lists", "items", "strata"))'
head -n 50 train.txt >few.txt
quiet "$EK" profile --manifest hotel.yaml --letor few.txt -o few.ekp --json
has '"price" in r["level_not_watched"] and r["output"] == "few.ekp"'
grep -q "not monitored" chatter || fail "people are not told"

quiet "$EK" export --onnx "$tests/golden/model.safetensors" -o m.onnx --json
has 'r["output"] == "m.onnx" and r["item_features"] == 13 and r["query_features"] == 8 and len(r["routable"]) == 10'
[ -s m.onnx ] || fail "no model"
quiet "$EK" train --manifest hotel.yaml --train train.txt --vali train.txt --epochs 1 --hidden 4 -o 'a "b".safetensors' --json
has 'r["model"] == "a \"b\".safetensors"'
