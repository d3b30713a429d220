#!/bin/sh
# Run every command with a failure at each allocation site once, including libraries (whole.c).
#
#   EK=build/evenkeel FAILING=build/tests sh tests/alloc/commands.sh [word...]
#
# With words, only commands whose name contains one of them. The sites of PROGRAM go to PROGRAM.sites (sites.h).
set -eu
EK=$(realpath "$EK") FAILING=$(realpath "$FAILING") golden=$(realpath "$(dirname "$0")/../format/golden") wanted="$*"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
passed=0 failed=0

swept() { # name, written files, arguments of evenkeel...
	name=$1 files=$2
	shift 2
	if [ "$wanted" ]; then
		case " $wanted " in *" $name "*) ;; *) return 0 ;; esac
	fi
	mkdir -p "$work/said"
	case $1 in
	generate | convert | normalize | select | extract) program=$FAILING/evenkeel-tools-failing ;;
	*) program=$FAILING/evenkeel-failing ;;
	esac
	if EK_SITES="$program.sites" EK_SWEEP="$work/said" EK_SWEEP_FILES="$files" "$program" "$@" >"$work/result" </dev/null; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $name: evenkeel $*"
	fi
	sed "/^$/d; s/^/  $name: /" "$work/result"
}
made() { # inputs of a sweep
	"$EK" "$@" >chatter 2>&1 || {
		cat chatter
		exit 1
	}
}

mkdir in
made generate hotel --lists 60 --seed 1 --manifest-out in/hotel.yaml -o in/lists.txt
made generate hotel --lists 8 --seed 2 -o in/few.txt
made profile -m in/hotel.yaml --letor in/lists.txt -o in/p.ekp
made train -m in/hotel.yaml --train in/lists.txt --vali in/few.txt --epochs 1 --hidden 4 -o in/m.safetensors
made generate hotel --lists 20 --seed 3 --format messages --upstream-model in/m.safetensors --fault price=x100 -o in/in.msg
cat >in/ranker.txt <<'TREES'
tree
version=v4
max_feature_idx=1
feature_names=stars price

Tree=0
num_leaves=3
num_cat=0
split_feature=1 0
threshold=150 2.5
decision_type=8 8
left_child=1 -2
right_child=-1 -3
leaf_value=-1 .5 1

end of trees
TREES
cat >in/rules.yaml <<'RULES'
version: 1
defaults: {mode: enforce, confirmation_lists: 8}
segments: [arm, market]
windows: {length: 20s, retention: 2, max_segments: 2}
features:
  price: {mode: canary, mode_in: {arm: {B: shadow}}, units: [cents]}
  stars: {watch: false}
tests:
  - {name: a, inject: {feature: price, scale: 9}, expect: {class: sign}}
  - {name: b, inject: none, expect: none, lists: 1}
RULES
cat >in/run.yaml <<'CONFIG'
input: {brokers: "localhost:9092", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
assets: {manifest: hotel.yaml, profile: p.ekp, model: m.safetensors, rules: rules.yaml}
message: {encoding: msgpack}
http: {listen: "127.0.0.1:9464"}
alerts:
  - {webhook: {url: "http://127.0.0.1:9/x", format: slack}}
CONFIG
awk 'BEGIN { srand(1); for (i = 1; i <= 12; i++) printf "{\"id\": \"d%d\", \"title\": \"ship %d\", \"body\": \"an even keel for ships, word%d\"}\n", i, i, i % 3 }' >in/docs.jsonl
printf 'q1\teven keel\nq2\tship word1\n' >in/q.tsv
printf 'q1 0 d1 1\nq2 0 d2 1\n' >in/qrels.txt
printf 'q1 Q0 d1 1 2.0 x\nq2 Q0 d2 1 1.0 x\n' >in/run.txt
made extract --collection in/docs.jsonl --index in/docs.ekx

hotel="-m in/hotel.yaml"
swept gen "h.yaml t.txt" generate hotel --lists 5 --seed 1 --manifest-out h.yaml -o t.txt
swept messages t.msg generate hotel --lists 5 --seed 1 --format messages --upstream-model in/m.safetensors --fault price=x100 -o t.msg
swept convert c.msg convert $hotel --letor in/few.txt -o c.msg
swept profile p.ekp profile $hotel --letor in/few.txt -o p.ekp
swept labels m.safetensors train $hotel --train in/in.msg --epochs 1 --hidden 4 --threads 1 -o m.safetensors
swept train m.safetensors train $hotel --train in/few.txt --vali in/few.txt --epochs 1 --hidden 4 --threads 1 -o m.safetensors
swept eval "" eval $hotel --model in/m.safetensors --data in/few.txt --json
swept faulty "" eval $hotel --model in/m.safetensors --data in/few.txt --fault price=x100
swept export m.onnx export --onnx in/m.safetensors -o m.onnx
swept replay "out.msg e.jsonl" replay $hotel -p in/p.ekp -r in/rules.yaml -M in/m.safetensors -i in/in.msg -o out.msg -e e.jsonl --json
swept repair "repaired.msg" replay $hotel -p in/p.ekp -r in/rules.yaml --writes features -i in/in.msg -o repaired.msg --json
swept trees "trees.msg" replay $hotel -p in/p.ekp -r in/rules.yaml -M in/ranker.txt -i in/in.msg -o trees.msg --json
swept ranker "" inspect --json in/ranker.txt
swept report "r.html" report $hotel -p in/p.ekp -r in/rules.yaml -M in/m.safetensors -i in/in.msg -o r.html
swept compare "" replay $hotel -p in/p.ekp -M in/m.safetensors -i in/in.msg --compare in/rules.yaml
swept profiles "" inspect in/p.ekp
swept models "" inspect --json in/m.safetensors
swept coverage "" inspect -c in/run.yaml in/in.msg
swept shape "" inspect --suggest-manifest in/in.msg
swept draft "" inspect --suggest-mapping in/in.msg
swept plot "" inspect in/in.msg --plot price $hotel -p in/p.ekp
swept check "" check --no-tests in/hotel.yaml in/rules.yaml in/p.ekp in/m.safetensors
swept config "" check --no-tests in/run.yaml
swept print "" run --config in/run.yaml --print-config
swept fdm s.yaml normalize $hotel --letor in/few.txt -o s.yaml
swept osm "" normalize $hotel --letor in/few.txt --method osm --json
swept applied "d.txt dm.yaml" normalize $hotel --letor in/few.txt --method merge --apply in/few.txt --output-data d.txt --output-manifest dm.yaml
swept report r.svg normalize $hotel --profile in/p.ekp --report r.svg
swept judged "" normalize $hotel --letor in/few.txt --cross-validate=minmax
swept hcas "r.yaml d.svg s.svg" select $hotel --train in/few.txt --vali in/few.txt --count 3 -o r.yaml --dendrogram d.svg --scatter s.svg
swept xgas "" select $hotel --train in/few.txt --vali in/few.txt --method xgas --json
swept importance "" select $hotel --train in/few.txt --vali in/few.txt --method importance -M in/m.safetensors --repeats 1 --threads 1
swept watch w.yaml select --watch $hotel -M in/m.safetensors -d in/few.txt --threads 1 -o w.yaml
swept index i.ekx extract --collection in/docs.jsonl --index i.ekx
swept features "f.letor fm.yaml" extract --index in/docs.ekx --queries in/q.tsv -o f.letor --manifest-out fm.yaml
swept arrays f.npz extract --index in/docs.ekx --queries in/q.tsv -o f.npz
swept files f.csv extract --index in/docs.ekx --queries in/q.tsv --candidates in/run.txt --qrels in/qrels.txt -o f.csv
swept nfs "" select $hotel --train in/few.txt --vali in/few.txt --method nfs --epochs 1 --count 2 --threads 1
swept tried "" select $hotel --train in/few.txt --vali in/few.txt --count 3 --cross-validate --threads 1
swept states "" inspect "$golden/state-1.ekc"
swept alone "" check --no-tests in/rules.yaml
echo "$passed passed, $failed failed"
[ $failed = 0 ]
