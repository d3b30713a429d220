# evenkeel normalize: selection from lists and from a profile, its outputs, and rejected arguments.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 400 --seed 1 --manifest-out features.yaml -o train.txt
quiet "$EK" generate hotel --lists 50 --seed 2 --from 400 -o test.txt
quiet "$EK" profile --manifest features.yaml --letor train.txt -o profile.ekp

# A table no wider than a terminal; block characters only if the locale has them; equal output from a profile.
LC_ALL=C "$EK" normalize -m features.yaml --letor train.txt >out 2>err || fail "failed: $(cat err)"
! LC_ALL=C grep -q '[^ -~]' out || fail "not plain: $(cat out)"
! grep -qE '^.{80}' out || fail "too wide: $(cat out)"
grep -qE '^price +C2 .* log +>99% of [0-9]+ in lower half$' out || fail "price is not C2: $(cat out)"
grep -qE '^chain +C4 .* minmax +2 unique values$' out || fail "chain is not C4: $(cat out)"
LC_ALL=C.UTF-8 "$EK" normalize -m features.yaml --letor train.txt 2>err | grep -q '█' || fail "no blocks"
"$EK" normalize -m features.yaml --letor train.txt --json >lists.json 2>err
"$EK" normalize -m features.yaml --profile profile.ekp --json >profile.json 2>err
python3 - <<'EOF' || fail "lists and profile disagree"
import json
a, b = json.load(open("lists.json")), json.load(open("profile.json"))
assert a["exact"] and not b["exact"] and a["items"] == b["items"] > 4000, (a["items"], b["items"])
for x, y in zip(a["features"], b["features"]):
    assert (x["name"], x["category"], x["scale"]) == (y["name"], y["category"], y["scale"]), (x, y)
    assert abs(sum(x["shares"]) - 1) < 1e-6
EOF

# The manifest keeps its bytes, gets the section once, and remains valid for all commands.
printf '# first\n' | cat - features.yaml >mine.yaml
quiet "$EK" normalize -m mine.yaml --letor train.txt -o scaled.yaml
head -c "$(wc -c <mine.yaml)" scaled.yaml | cmp - mine.yaml
grep -qE '^    price: \{scale: log, why: "C2: .* in the first five of ten intervals"\}$' scaled.yaml || fail "no choice: $(cat scaled.yaml)"
quiet "$EK" normalize -m scaled.yaml --letor train.txt --method zscore -o scaled.yaml
[ "$(grep -c '^normalization:' scaled.yaml)" = 1 ] || fail "not once: $(cat scaled.yaml)"
grep -qF 'price: {scale: zscore, why: "zscore for all"}' scaled.yaml || fail "not replaced: $(cat scaled.yaml)"
quiet "$EK" check scaled.yaml
quiet "$EK" check -m scaled.yaml profile.ekp
cp scaled.yaml kept.yaml
"$EK" normalize -m kept.yaml --letor train.txt --method cdf -o - 2>err >piped.yaml || fail "failed: $(cat err)"
"$EK" check piped.yaml >out || fail "standard output has more than the manifest: $(cat out piped.yaml)"
grep -q '^price' err || fail "the table is gone: $(cat err)"

# Lists change only in values: min-max compared with constants, three columns of merge with names.
quiet "$EK" normalize -m features.yaml --letor train.txt --method minmax --apply train.txt test.txt --output-data all.txt
python3 - <<'EOF' || fail "not min-max"
import re
def rows(path):
    return [(l.split()[0], l.split()[1], l.split("#")[1].strip(), {int(k): float(v) for k, v in re.findall(r" (\d+):(\S+)", l.split("#")[0].split(" ", 2)[2].join([" ", ""]))}) for l in open(path)]
train, test, scaled = rows("train.txt"), rows("test.txt"), rows("all.txt")
assert len(scaled) == len(train) + len(test)
low, high = min(r[3][1] for r in train), max(r[3][1] for r in train)
for r, s in zip(train + test, scaled):
    assert r[:3] == s[:3], (r, s)
    assert abs(s[3][1] - (r[3][1] - low) / (high - low)) < 1e-6, (r, s)
    assert r[3].keys() == s[3].keys()
EOF
refused 2 "train.txt: query '1' is in an earlier file, too; apply the files one by one" normalize -m features.yaml --letor train.txt --method minmax --apply test.txt train.txt train.txt --output-data twice.txt
[ ! -e twice.txt ] || fail "lists of one id merged"
quiet "$EK" normalize -m features.yaml --letor train.txt --method merge --apply test.txt --output-data merged.txt.zst --output-manifest merged.yaml
for column in minmax log arctan; do
	grep -q "name: \"price.$column\"" merged.yaml || fail "no $column: $(cat merged.yaml)"
done
quiet "$EK" profile --manifest merged.yaml --letor merged.txt.zst -o merged.ekp
awk '{ $1 = $1; print }' test.txt | sed 's/ 1:[^ ]*/ 1:nan/' >holes.txt
quiet "$EK" normalize -m features.yaml --letor holes.txt --method log --apply holes.txt --output-data kept.txt
grep -q ' 1:nan ' kept.txt || fail "missing values are gone: $(head -1 kept.txt)"
quiet "$EK" normalize -m features.yaml --letor holes.txt --method log --missing zero --apply holes.txt --output-data zero.txt
! grep -q nan zero.txt || fail "missing values are there"

# Switches one by one, with the last fifth of the lists or separate lists.
quiet "$EK" normalize -m features.yaml --letor train.txt --method osm
grep -qE '^price .* MAP 0' said || fail "no MAP: $(cat said)"
quiet "$EK" normalize -m features.yaml --letor train.txt --method osm --vali test.txt --json

# The picture is XML with every feature.
quiet "$EK" normalize -m features.yaml --letor train.txt --method merge --report picture.svg
python3 -c '
import xml.etree.ElementTree as t
text = "".join(t.parse("picture.svg").getroot().itertext())
assert all(w in text for w in ("price", "host_rate", "arctan", "merge for all")), text' || fail "picture"

refused 2 "--manifest and --letor or --profile are needed" normalize
refused 2 "exclude each other" normalize -m features.yaml --letor train.txt --profile profile.ekp
refused 2 "--method osm needs --letor" normalize -m features.yaml --profile profile.ekp --method osm
refused 2 "--vali needs --method osm" normalize -m features.yaml --letor train.txt --vali test.txt
refused 2 "--apply and --output-data need each other" normalize -m features.yaml --letor train.txt --apply test.txt
refused 2 "it needs --output-manifest" normalize -m features.yaml --letor train.txt --method merge --apply test.txt --output-data x
refused 2 "only one output can use standard output" normalize -m features.yaml --letor train.txt --json -o -
refused 2 "minmix" normalize -m features.yaml --letor train.txt --method minmix
refused 1 "this is a manifest, not LETOR" normalize -m features.yaml --letor features.yaml
refused 1 "gone.txt" normalize -m features.yaml --letor gone.txt
refused 1 "profile" normalize -m features.yaml --profile train.txt
echo 'features: [{name: a, index: 1, role: item}]' >other.yaml
refused 1 "profile.ekp" normalize -m other.yaml --profile profile.ekp
head -5 train.txt | cut -d ' ' -f 1-3 | sed 's/1:/1:/' >few.txt
refused 2 "too few to hold out a fifth" normalize -m other.yaml --letor few.txt --method osm
echo '{features: [{name: a, index: 1, role: item}]}' >braces.yaml
refused 78 "written in braces" normalize -m braces.yaml --letor few.txt -o new.yaml
[ ! -e new.yaml ] || fail "wrote a manifest all the same"
# Invalid arguments are rejected before lists are read.
refused 1 "nowhere" normalize -m features.yaml --letor gone.txt --method osm -o nowhere/x.yaml
refused 1 "nowhere" normalize -m features.yaml --letor gone.txt --apply test.txt --output-data x --output-manifest nowhere/x.yaml
refused 2 "'same.x' cannot be both --output and --report" normalize -m features.yaml --letor train.txt -o same.x --report same.x
refused 2 "'same.x' cannot be both --output-data and --output-manifest" \
	normalize -m features.yaml --letor train.txt --apply test.txt --output-data same.x --output-manifest same.x
refused 2 "--missing needs --output-data" normalize -m features.yaml --letor train.txt --missing zero
refused 2 "--empty-lists needs --method osm or --cross-validate" normalize -m features.yaml --letor train.txt --empty-lists 0
refused 2 "--cross-validate allows only" normalize -m features.yaml --letor train.txt --cross-validate --method fdm
refused 2 "--cross-validate allows only" normalize -m features.yaml --letor train.txt --cross-validate --missing zero
long=$(printf 'x%.0s' $(seq 195))
echo "features: [{name: $long, index: 1, role: item}]" >long.yaml
refused 2 "columns of feature '$long': with '.minmax'" \
	normalize -m long.yaml --letor gone.txt --method merge --apply few.txt --output-data x --output-manifest y
echo 'features: [{name: a, index: 1, role: item}, {name: a.log, index: 2, role: query}]' >taken.yaml
refused 2 "columns of feature 'a': feature 'a.log' exists" \
	normalize -m taken.yaml --letor gone.txt --method merge --apply few.txt --output-data x --output-manifest y
# A manifest from a pipe is read once.
"$EK" normalize -m - --letor train.txt --method zscore -o from-pipe.yaml <mine.yaml >out 2>err || fail "no pipe: $(cat err)"
quiet "$EK" normalize -m mine.yaml --letor train.txt --method zscore -o from-file.yaml
cmp from-pipe.yaml from-file.yaml
# A damaged list after valid ones leaves no partial file.
{ cat test.txt && echo 'x qid:1 1:2'; } >torn.txt
refused 1 "torn.txt:" normalize -m features.yaml --letor test.txt -o half.yaml --report half.svg --apply torn.txt --output-data half.txt
[ ! -e half.txt ] && [ ! -e half.yaml ] && [ ! -e half.svg ] || fail "half of it was written"
# A file without lists, or standard input that was read already, is no result.
: >none.txt
refused 1 "none.txt: the file has no lists" normalize -m features.yaml --letor test.txt --apply none.txt --output-data half.txt
refused 1 "-: the file has no lists" normalize -m features.yaml --letor - --apply - --output-data half.txt <test.txt
[ ! -e half.txt ] || fail "an empty file was written"
