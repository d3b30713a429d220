# evenkeel normalize --cross-validate: table, JSON, folds, and rejected arguments.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 150 --seed 1 --manifest-out hotel.yaml -o lists.txt
quiet "$EK" normalize -m hotel.yaml --letor lists.txt --cross-validate=minmax,log,merge
cp said table
! LC_ALL=C.UTF-8 grep -E '^.{80}' table || fail "too wide"
grep -q '^150 lists in 5 parts of equal size; 5 folds' table || fail "no count: $(cat table)"
grep -q 'lists without a relevant item are skipped' table || fail "no rule: $(cat table)"
grep -q 'paired t-test of NDCG@1' table || fail "no test: $(cat table)"
grep -q '^method  P@5     NDCG@1' table || fail "no head: $(cat table)"
[ "$(grep -cE '^(minmax|log|merge)( +0\.[0-9]{4}){7} ' table)" = 3 ] || fail "rows: $(cat table)"
grep -qE '^minmax.* -$' table || fail "minmax is tested against itself: $(cat table)"

# A repeated run, and complete JSON.
"$EK" normalize -m hotel.yaml --letor lists.txt --cross-validate=minmax,log,merge 2>/dev/null | cmp - table || fail "another table"
"$EK" normalize -m hotel.yaml --letor lists.txt --cross-validate=minmax,log,merge --json 2>/dev/null >json || fail "no JSON"
python3 - <<'PY' || fail "the JSON is not as it should be"
import json
d = json.load(open("json"))
assert (d["lists"], d["parts"], d["parts_are_files"], d["empty"], d["gain"]) == (150, 5, False, "skip", "exp"), d
assert [m["method"] for m in d["methods"]] == ["minmax", "log", "merge"]
names = [f"{n}@{k}" for n in ("p", "ndcg") for k in range(1, 11)] + ["map", "err"]
row = {line.split()[0]: line.split() for line in open("table") if len(line.split()) == 9}
for m in d["methods"]:
    assert list(m["metrics"]) == names and len(m["folds"]) == 5
    assert sum(f["lists"] for f in m["folds"]) == 150
    assert all(f["c"] in d["c"] for f in m["folds"])
    assert f"{m['metrics']['map']:.4f}" == row[m["method"]][6], (m["metrics"]["map"], row)
    weighted = sum(f["metrics"]["map"] * f["counted"] for f in m["folds"]) / m["counted"]
    assert abs(weighted - m["metrics"]["map"]) < 1e-6
minmax, log, merge = d["methods"]
assert log["t_tests"]["minmax"]["t"] == -minmax["t_tests"]["log"]["t"]
assert abs(log["metrics"]["ndcg@1"] - minmax["metrics"]["ndcg@1"] - log["t_tests"]["minmax"]["mean"]) < 1e-6
assert merge["folds"][0]["columns"] == 3 * log["folds"][0]["columns"]
PY

# Five files are the folds, in order; any other number of files is split.
for i in 1 2 3 4 5; do
	quiet "$EK" generate hotel --lists $((20 * i)) --from $((1000 * i)) -o part$i.txt
done
"$EK" normalize -m hotel.yaml --letor part[1-5].txt --cross-validate=log --json 2>/dev/null >json || fail "five files"
python3 -c '
import json
d = json.load(open("json"))
assert d["parts_are_files"] and [f["lists"] for f in d["methods"][0]["folds"]] == [100, 20, 40, 60, 80], d["methods"][0]["folds"]
' || fail "the parts are not the files"
quiet "$EK" normalize -m hotel.yaml --letor part[1-4].txt --cross-validate=log --empty-lists 0
grep -q '200 lists in 5 parts of equal size' said || fail "$(cat said)"
grep -q 'relevant item count 0' said || fail "$(cat said)"

# Categories keep their values, so all methods are equal if there are no other features.
echo 'features: [{name: a, index: 1, role: item, type: category}, {name: b, index: 2, role: item, type: category}]' >categories.yaml
awk 'BEGIN { for (i = 0; i < 300; i++) { a = i * 37 % 11; b = i * 53 % 13; print (a * a + b > 40 + i % 7) " qid:" int(i / 6) " 1:" a " 2:" b } }' >categories.txt
"$EK" normalize -m categories.yaml --letor categories.txt --cross-validate --json 2>err >json || fail "failed: $(cat err)"
python3 -c '
import json
methods = json.load(open("json"))["methods"]
assert len(methods) == 9 and len({json.dumps(m["metrics"]) for m in methods}) == 1, methods
assert all(f["columns"] == 2 for m in methods for f in m["folds"])
' || fail "categories were scaled"

refused 2 "unknown method 'minmx', did you mean 'minmax'?" normalize -m hotel.yaml --letor lists.txt --cross-validate=log,minmx
refused 2 "unknown method 'softmax'; use minmax, log" normalize -m hotel.yaml --letor lists.txt --cross-validate=softmax
refused 2 "duplicate method 'log'" normalize -m hotel.yaml --letor lists.txt --cross-validate=log,cdf,log
quiet "$EK" generate hotel --lists 4 -o few.txt
refused 2 "4 lists are too few for 5 parts" normalize -m hotel.yaml --letor few.txt --cross-validate
sed 's/^[0-9]*/0/' lists.txt >unlabelled.txt
refused 2 "'minmax', fold 1: no list has items with different labels: nothing to learn" \
	normalize -m hotel.yaml --letor unlabelled.txt --cross-validate
refused 2 "--cross-validate allows only" normalize -m hotel.yaml --letor lists.txt --cross-validate -o out.yaml
