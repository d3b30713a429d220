# evenkeel select: planted features, reduced manifests that train, pictures, recommended features, clear errors.
. "$(dirname "$0")/prelude"

# The label follows `main` and `reversed` (low is good); `copy` is main on another scale, `noise` random, `same` fixed.
cat >shop.yaml <<'END'
# Features of a shop.
set: shop
main_feature: copy
training: {hidden: [8], epochs: 2, batch_size: 32}
features:
  - {name: main, index: 1, role: item, routable: true, unit: EUR} # net
  - {name: copy, index: 2, role: item, routable: true}
  # Others.
  - {name: reversed, index: 3, role: item, routable: true, unit: km}
  - {name: noise, index: 4, role: item}
  - {name: same, index: 5, role: item}
  - {name: nights, index: 6, role: query}
END
lists() { # count, seed
	awk -v lists="$1" -v seed="$2" 'function uniform() { # equal in every awk
		seed = (seed * 16807) % 2147483647
		return seed / 2147483647
	}
	BEGIN {
		for (q = 1; q <= lists; q++) {
			nights = 1 + int(7 * uniform())
			for (i = 0; i < 8; i++) {
				a = 1 + 99 * uniform(); b = 1 + 99 * uniform()
				printf "%d qid:%d 1:%.3f 2:%.5f 3:%.3f 4:%.4f 5:4 6:%d\n", (a - 0.7 * b > 30), q, a, a * a, b, uniform(), nights
			}
		}
	}'
}
lists 200 1 >train.txt
lists 100 2 >vali.txt
files="--manifest shop.yaml --train train.txt --vali vali.txt"

# Ranks of the selected ones; the copy follows all independent ones, a constant is never selected.
quiet "$EK" select $files --count 3
[ "$(awk '$1 ~ /^[123]$/ {printf "%s ", $NF}' said)" = "main reversed noise " ] || fail "hcas chose otherwise: $(cat said)"
grep -qE '^2 .* low .* reversed$' said || fail "the reversed feature is not seen: $(cat said)"
grep -qE '^- .* constant .* same$' said || fail "the constant is not named: $(cat said)"
awk 'length > 79' said | grep . && fail "lines beyond 79 columns"
quiet "$EK" select $files --count 4 --similarity lists
[ "$(awk '$1 == "4" {print $NF}' said)" = "noise" ] || fail "$(cat said)"
for method in xgas random nfs; do
	epochs=
	[ $method != nfs ] || epochs='--epochs 2'
	quiet "$EK" select $files --method $method --count 4 $epochs --json
	! grep -oE '"sets":.*' said | grep -q '"same"' || fail "$method chose a constant: $(cat said)"
	cp said once
	quiet "$EK" select $files --method $method --count 4 $epochs --json --threads 1
	cmp said once
done
grep -q '"method":"nfs".*"kept":' said || fail "$(cat said)"

# A reduced manifest reads the same files, and trains.
quiet "$EK" select $files --count 2 -o reduced.yaml
sed -e '/^main_feature/d' -e '/name: copy/d' -e '/name: noise/d' -e '/name: same/d' -e 's/^features:/unused: [2, 4, 5]\n&/' shop.yaml >want.yaml
cmp reduced.yaml want.yaml
quiet "$EK" check reduced.yaml
quiet "$EK" train --manifest reduced.yaml --train train.txt --vali vali.txt -o small.safetensors
quiet "$EK" eval --manifest reduced.yaml --model small.safetensors --data vali.txt
quiet "$EK" check --manifest reduced.yaml small.safetensors
quiet "$EK" normalize --manifest shop.yaml --letor train.txt -o scaled.yaml
quiet "$EK" select --manifest scaled.yaml --train train.txt --vali vali.txt --count 2 -o less.yaml
sed -n '/^normalization/,$p' scaled.yaml | grep -vE '^    (copy|noise|same):' | cat want.yaml - >both.yaml
cmp less.yaml both.yaml
quiet "$EK" select --manifest reduced.yaml --train train.txt --vali vali.txt --count 1 -o least.yaml
grep -q '^unused: \[2, 3, 4, 5\]' least.yaml || fail "$(cat least.yaml)"

# The values of cross-validation equal those of train and eval with the reduced manifest.
quiet "$EK" select $files --share 40 --cross-validate --json --test vali.txt
judged=$(sed -E 's/.*"count":2,"features":\["main","reversed"\],"ndcg@3":([0-9.]+),.*/\1/' said)
quiet "$EK" eval --manifest reduced.yaml --model small.safetensors --data vali.txt --metric ndcg@3 --json
grep -q "\"ndcg@3\":$judged[,}]" said || fail "judged $judged, but: $(cat said)"
quiet "$EK" select $files --cross-validate --epochs 1
grep -qE '^all +5 +0\.[0-9]{4} +0\.[0-9]{4}$' said || fail "$(cat said)"

# Importance: a model of all features.
quiet "$EK" train --manifest shop.yaml --train train.txt --vali vali.txt -o m.safetensors --epochs 4 --lr 0.01
quiet "$EK" select $files --method importance --model m.safetensors --count 3 --repeats 3
grep -qE '^3 ' said || fail "$(cat said)"
awk 'length > 79' said | grep . && fail "lines beyond 79 columns"
grep -qE '^- .* \+0\.0000 .* same$' said || fail "a constant has importance: $(cat said)"

# Pictures are valid SVG.
for method in hcas xgas; do
	quiet "$EK" select $files --method $method --count 2 --scatter s.svg --dendrogram d.svg
	for picture in s.svg d.svg; do
		python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' $picture || fail "$picture is no XML"
		grep -q '>reversed<' $picture || fail "$picture does not name it"
		if grep -qi 'nan\|inf"' $picture; then fail "$picture has numbers that are none"; fi
	done
done
[ "$(grep -c '<circle class="main"' s.svg)" = 2 ] || fail "two are chosen"

# Recommended features: valid rules, with a reason for each.
quiet "$EK" select --watch --manifest shop.yaml --model m.safetensors --data vali.txt -o rules.yaml
grep -qE '^money +20% .* main$' said || fail "$(cat said)"
quiet "$EK" check --manifest shop.yaml rules.yaml
[ "$(grep -c '^  # .* a year to change unit' rules.yaml)" = 5 ] || fail "$(cat rules.yaml)"
grep -qE '^  "noise": \{.*scale: alert, power: alert, offset: alert, sign: alert' rules.yaml || fail "noise is acted on: $(cat rules.yaml)"
quiet "$EK" select --watch --manifest shop.yaml --model m.safetensors --data vali.txt --prior main=0 --prior length=1 --json
grep -q '"name":"reversed","kind":"length","chance":1,' said || fail "$(cat said)"
grep -q '"name":"main","kind":"money","chance":0,.*"shift":"x100","unit":"cents"' said || fail "$(cat said)"

# Two lists are too few to disable the protection of any feature.
awk '$2 == "qid:1" || $2 == "qid:2"' vali.txt >two.txt
quiet "$EK" select --watch --manifest shop.yaml --model m.safetensors --data two.txt -o rules.yaml
quiet "$EK" check --manifest shop.yaml rules.yaml
grep -A1 'not significant with these lists: default actions' rules.yaml | grep -qE '^  "[a-z]+": \{(units: [^}]*)?\}$' || fail "$(cat rules.yaml)"
! grep -A1 'not significant with these lists' rules.yaml | grep -q 'actions:' || fail "noise changes an action: $(cat rules.yaml)"

# A dictionary too large to renumber is reported; the others are measured.
sed 's/name: noise, index: 4, role: item/&, type: category/' shop.yaml >coded.yaml
lists 600 3 | awk '{sub(/ 4:[0-9.]+/, " 4:" NR); print}' >codes.txt
quiet "$EK" train --manifest coded.yaml --train codes.txt --vali vali.txt -o coded.safetensors --epochs 1
"$EK" select --watch --manifest coded.yaml --model coded.safetensors --data codes.txt -o rules.yaml >said 2>err || fail "$(cat err)"
grep -q "'noise' is not measured: it has more than 4096 values" err || fail "$(cat err)"
grep -qE '^code +5% +- +- +- +- +built-in +noise$' said || fail "$(cat said)"
grep -qE '^money +20% +[+-]0\.[0-9]+ .* main$' said || fail "$(cat said)"
awk 'length > 79' said | grep . && fail "lines beyond 79 columns"
quiet "$EK" check --manifest coded.yaml rules.yaml
quiet "$EK" select --watch --manifest coded.yaml --model coded.safetensors --data codes.txt --json
grep -q '"name":"noise","kind":"code","chance":0.05,"unnoticed":null' said || fail "$(cat said)"

# Each fraction is reported, also if two give equal counts or too few features remain.
quiet "$EK" select $files --share 5,20,100 --json
[ "$(grep -o '"wanted":[0-9]*,"share":[0-9]*,"count":[0-9]*' said | tr '\n' ' ')" = \
	'"wanted":1,"share":5,"count":1 "wanted":1,"share":20,"count":1 "wanted":5,"share":100,"count":4 ' ] || fail "$(cat said)"
quiet "$EK" select $files --share 5,20,100 --cross-validate --epochs 1
grep -qxF '100% would be 5 features; only 4 of them vary' said || fail "$(cat said)"
[ "$(grep -cE '^(5|20)% +1 +0\.' said)" = 2 ] || fail "$(cat said)"

# Output on standard output is not mixed with messages.
"$EK" select $files --count 2 -o - >said 2>err || fail "$(cat err)"
cmp said want.yaml
grep -qE '^1 .* main$' err || fail "$(cat err)"
"$EK" select --watch --manifest shop.yaml --model m.safetensors --data vali.txt -o - >piped.yaml 2>err || fail "$(cat err)"
quiet "$EK" check --manifest shop.yaml piped.yaml
for picture in scatter dendrogram; do
	"$EK" select $files --count 2 --$picture - >said 2>err || fail "$(cat err)"
	python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' said || fail "--$picture - is no XML"
done

# Invalid arguments are rejected, with a hint if possible.
refused 2 "--count 6: the manifest has 5 item features" select $files --count 6
refused 2 "1 of the 5 item features are constant in the --train files, which leaves 4" select $files --count 5
refused 2 "--share needs percentages above 0 and up to 100" select $files --share 0
refused 2 "only one output can use standard output" select $files --count 2 -o - --scatter -
refused 2 "only one output can use standard output" select $files --count 2 -o - --json
refused 2 "duplicate output 'x.svg'" select $files --count 2 --scatter x.svg --dendrogram ./x.svg
refused 2 "--epochs needs" select $files --count 2 --epochs 3
refused 2 "--repeats needs" select $files --count 2 --repeats 3
refused 2 "--similarity excludes" select $files --count 2 --method nfs --similarity lists
refused 2 "--repeats needs" select --watch --manifest shop.yaml --model m.safetensors --data vali.txt --repeats 2
refused 2 "--count 6: the manifest has 5" select $files --method nfs --count 6
! grep -q 're-ranker' err || fail "it trained first"
refused 2 "which leaves 4" select $files --method nfs --count 5
! grep -q 're-ranker' err || fail "it trained first"
refused 2 "must increase" select $files --share 10,5
refused 2 "--count and --share exclude each other" select $files --count 2 --share 5
refused 2 "needs --count or one --share" select $files -o x.yaml
refused 2 "hcas" select $files --method hcass
refused 2 "--method importance needs --model" select $files --method importance
refused 2 "--watch needs --manifest, --model and --data" select --watch --manifest shop.yaml
refused 2 "--watch excludes --method" select --watch --manifest shop.yaml --model m.safetensors --data vali.txt --count 2
refused 2 "unknown item feature or kind 'mian', did you mean 'main'?" \
	select --watch --manifest shop.yaml --model m.safetensors --data vali.txt --prior mian=0.5
refused 2 "from 0 to 1" select --watch --manifest shop.yaml --model m.safetensors --data vali.txt --prior main=2
sed 's/^[01]/0/' vali.txt >empty.txt
refused 2 "no list of the --train files has a positive label" select --manifest shop.yaml --train empty.txt --vali vali.txt
refused 2 "no list has a positive label" select --watch --manifest shop.yaml --model m.safetensors --data empty.txt
[ ! -e x.yaml ] || fail "x.yaml was written"
refused 1 "nowhere/r.yaml" select $files --count 2 -o nowhere/r.yaml
sed 's/^features:/unused: [1]\n&/' shop.yaml >both.yaml
refused 78 "both.yaml:5:10: unused index 1 must not be that of feature 'main'" select --manifest both.yaml --train train.txt --vali vali.txt
sed '1s/.*/1 qid:0 1:5 3:2 6:1/; 2,$d' train.txt >one.txt
quiet "$EK" select $files --count 1
refused 2 "constant" select --manifest shop.yaml --train one.txt --vali vali.txt
