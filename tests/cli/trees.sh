# A LightGBM model as the model: checked, inspected, evaluated, and lists that have the scores again that it gave them
# while healthy.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 2000 --seed 3 --manifest-out hotel.yaml -o train.txt
quiet "$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp
# Trees of two leaves that split prices and stars.
awk 'BEGIN {
	print "tree\nversion=v4\nnum_class=1\nmax_feature_idx=1\nobjective=lambdarank\nfeature_names=stars price\n"
	for (i = 0; i < 80; i++)
		printf "Tree=%d\nnum_leaves=2\nnum_cat=0\nsplit_feature=%d\nthreshold=%g\ndecision_type=10\nleft_child=-1\n" \
			"right_child=-2\nleaf_value=%g %g\n\n", i, i % 2, i % 2 ? 20 + 4 * i : 1.5 + i / 2 % 4, i % 2 ? .3 : 0, i % 2 ? 0 : .1
	print "end of trees"
}' >ranker.txt

quiet "$EK" check -m hotel.yaml ranker.txt
grep -qx "ranker.txt: model, ok" said || fail "check: $(cat said)"
quiet "$EK" inspect ranker.txt
grep -qx "trees of LightGBM, format v4" said || fail "inspect: $(cat said)"
quiet "$EK" inspect --json ranker.txt
grep -qF '"library":"LightGBM","version":"v4","objective":"lambdarank","trees":80,"features":2,"names":["stars","price"]}' said ||
	fail "inspect --json: $(cat said)"

# Errors name the file, and both lists of features.
sed 's/feature_names=stars price/feature_names=stars cost/' ranker.txt >other.txt
refused 78 "other.txt: feature 'cost' of the model is not in the manifest; model: stars, cost; manifest: price, taxes, " \
	replay -m hotel.yaml -p p.ekp --model other.txt -i /dev/null
grep -v "end of trees" ranker.txt >cut.txt
refused 78 "cut.txt:" replay -m hotel.yaml -p p.ekp --model cut.txt -i /dev/null
grep -q "truncated: 'end of trees' is missing" err || fail "truncated: $(cat err)"
refused 2 "ranker.txt: export needs a network of 'evenkeel train', and this is a model of LightGBM" export --onnx ranker.txt -o x.onnx
refused 2 "ranker.txt: --impute needs the medians of a network" eval -m hotel.yaml --model ranker.txt --data train.txt --impute price
refused 1 "'route' of feature 'price' needs a network" eval -m hotel.yaml --model ranker.txt --data train.txt --route price
printf 'version: 1\ndefaults: {actions: {scale: route}}\n' >route.yaml
refused 78 "route.yaml:2:29: action 'route' needs a network of 'evenkeel train', and the model 'ranker.txt' is of LightGBM" \
	replay -m hotel.yaml -p p.ekp -r route.yaml --model ranker.txt -i /dev/null

# The configuration is checked with the model.
cat >run.yaml <<'END'
input:  {brokers: "localhost:9092", topics: [scored], group: evenkeel}
output: {topic: ranked, dead_letter_topic: dead}
assets: {manifest: hotel.yaml, profile: p.ekp, model: ranker.txt, rules: rules.yaml}
END
printf 'version: 1\nsegments: [arm]\ndefaults: {mode: enforce}\n' >rules.yaml
quiet "$EK" check run.yaml
sed "s/max_feature_idx=1/max_feature_idx=$(($(grep -c 'role: item' hotel.yaml) - 1))/; /^feature_names/d" ranker.txt >nameless.txt
sed 's/ranker.txt/nameless.txt/' run.yaml >nameless.yaml
quiet "$EK" check nameless.yaml
grep -qF "nameless.yaml: configuration, ok ('assets.model': features without names, taken in the order of the manifest; test it with 'evenkeel eval --teacher upstream')" said ||
	fail "a model without names: $(cat said)"
sed 's/rules.yaml/route.yaml/' run.yaml >bad.yaml
status=0
"$EK" check bad.yaml >said 2>chatter || status=$?
[ $status = 78 ] && grep -qF "action 'route' needs a network" said || fail "check of routes: $(cat said chatter)"

# eval: a repair gives the quality of healthy lists again.
ndcg() {
	"$EK" eval -m hotel.yaml --model ranker.txt --data train.txt --metric ndcg@10 "$@" | sed -n 's/^ndcg@10 *\([0-9.]*\) .*/\1/p'
}
healthy=$(ndcg)
[ "$(ndcg --fault price=x100 --repair price=100)" = "$healthy" ] || fail "a repair does not give the same order"
[ "$(ndcg --fault price=x100)" != "$healthy" ] || fail "the fault changes nothing"

# replay: lists of arm B have the scores of the healthy lists again; the others leave as they are.
stream() { # output, fault...
	to=$1
	shift
	quiet "$EK" generate hotel --lists 1200 --seed 4 --format messages --upstream-model ranker.txt "$@" -o "$to"
}
stream healthy.ekc
stream faulty.ekc --fault price=x100,from=300,arm=B
quiet "$EK" replay -m hotel.yaml -p p.ekp -r rules.yaml --model ranker.txt -i faulty.ekc -o out.ekc --json
python3 -B - "$tests" <<'END' || fail "scores: $(cat said)"
import sys

sys.path.insert(0, sys.argv[1] + "/format")
import read_capture

def lists(path):
    return [m for *_, m in read_capture.records(read_capture.read(path))]

def scores(message):
    return [dict(i)["score"] for i in dict(read_capture.unpack(message)[0])["items"]]

healthy, faulty, out = map(lists, ("healthy.ekc", "faulty.ekc", "out.ekc"))
known = next(n for n, (f, o) in enumerate(zip(faulty, out)) if f != o)
assert known < 500, known
repaired = 0
for h, f, o in zip(healthy[known:], faulty[known:], out[known:]):
    if f == h:
        assert o == f
        continue
    repaired += 1
    assert scores(o) == scores(h)
assert repaired > 300, repaired
END
