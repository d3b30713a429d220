# evenkeel train and eval: reproducible models, complete results, clear errors.
. "$(dirname "$0")/prelude"

figure() { # name in the JSON of the last eval
	sed -E "s/\"counted\".*//; s/.*\"$1\":([0-9.]+|null).*/\\1/" said
}

quiet "$EK" generate hotel --lists 300 --seed 5 --manifest-out hotel.yaml -o train.txt
quiet "$EK" generate hotel --lists 100 --from 300 --seed 5 -o vali.txt.zst
quiet "$EK" generate hotel --lists 50 --from 400 --seed 5 -o a.txt
quiet "$EK" generate hotel --lists 50 --from 450 --seed 5 -o b.txt
train="train --manifest hotel.yaml --train train.txt --vali vali.txt.zst --epochs 3 --hidden 8,4 --lr 0.01"
eval="eval --manifest hotel.yaml --model m.safetensors --data a.txt b.txt"

# Equal seeds give equal bytes, for any number of threads.
quiet "$EK" $train -o m.safetensors --threads 1
grep -qE '^m.safetensors: best epoch [1-3] of 3, validation NDCG@10 0\.[0-9]{4} under random routing, 0\.[0-9]{4} without routes \(gain 2\^y - 1' said ||
	fail "the closing line is '$(cat said)'"
unrouted=$(sed -E 's/.*routing, ([0-9.]+) with.*/\1/' said)
quiet "$EK" eval --manifest hotel.yaml --model m.safetensors --data vali.txt.zst
grep -qE "^ndcg@10 +$unrouted " said || fail "train said $unrouted with no route, eval: $(cat said)"
quiet "$EK" $train -o again.safetensors --threads 3
cmp m.safetensors again.safetensors
quiet "$EK" $train -o other.safetensors --seed 1
if cmp -s m.safetensors other.safetensors; then fail "two seeds, one model"; fi
quiet "$EK" $train -o json.safetensors --json
grep -qE '^\{"model":"json.safetensors","epochs":3,"best_epoch":[1-3],.*"vali":\{"ndcg@10":0\.[0-9]+\}' said ||
	fail "JSON of train is '$(cat said)'"

# Every form trains, scores, and passes check.
for form in "--loss listnet" "--loss approxndcg" "--routing none --log-input none" "--routing static:price,taxes" \
	"--log-input routed" "--list-free" "--hidden 5" "--batch 7 --decay 0" \
	"--unrouted-fraction 1 --scale-augmentation 0 --weight-averaging 0" "--optimizer adagrad --lr 0.1" "--patience 1" "--loss approxndcg --samples 8 --cutoff 5"; do
	quiet "$EK" $train $form -o form.safetensors
	quiet "$EK" eval --manifest hotel.yaml --model form.safetensors --data a.txt --json
	quiet "$EK" check --manifest hotel.yaml form.safetensors
done

# A model of one routing warns under another one, and only then.
says() { # expected text or empty, arguments...
	want=$1
	shift
	"$EK" "$@" >said 2>chatter || fail "failed: $* $(cat chatter)"
	if [ -z "$want" ]; then
		if grep -q 'trained with' said chatter; then fail "$*: $(cat said chatter)"; fi
	else
		grep -qF -- "$want" said chatter || fail "'$want' is not said by $*: $(cat said chatter)"
	fi
}
quiet "$EK" $train --routing none --log-input none -o plain.safetensors
quiet "$EK" $train --routing static:price,taxes -o static.safetensors
on="--manifest hotel.yaml --data a.txt --model"
says "" eval $on plain.safetensors
says "evenkeel: plain.safetensors: trained without routing" eval $on plain.safetensors --route price
says "static.safetensors: trained with 'price', 'taxes' always routed" eval $on static.safetensors
says "" eval $on static.safetensors --route price,taxes
says "" eval $on m.safetensors --route all
says "model, ok (trained without routing" check --manifest hotel.yaml plain.safetensors
says "" check --manifest hotel.yaml m.safetensors
says "static routing of price,taxes, listmle, seed 0" inspect static.safetensors
says '"trained":{"routing":"static","routed":["price","taxes"],"seed":"0"}' inspect static.safetensors --json

# The hints of the manifest apply without an option.
cp hotel.yaml hints.yaml
echo 'training: {epochs: 2, hidden: [3]}' >>hints.yaml
quiet "$EK" train --manifest hints.yaml --train train.txt --vali vali.txt.zst -o hints.safetensors
grep -q 'of 2,' said || fail "the hint on epochs is not used: $(cat said)"
quiet "$EK" train --manifest hints.yaml --train train.txt --vali vali.txt.zst -o hints.safetensors --epochs 1
grep -q 'of 1,' said || fail "the option does not win: $(cat said)"

# Results: routed features are invariant under a factor, unrouted ones are not.
quiet "$EK" $eval --json
grep -qE '^\{"lists":100,"metrics":\{"ndcg@5":0\.[0-9]+,"ndcg@10":0\.[0-9]+\},' said || fail "JSON: $(cat said)"
clean=$(figure ndcg@10)
quiet "$EK" $eval --json --fault price=x100
[ "$(figure ndcg@10)" != "$clean" ] || fail "a fault changes nothing"
quiet "$EK" $eval --json --route price
routed=$(figure ndcg@10)
quiet "$EK" $eval --json --route price --fault price=x128
[ "$(figure ndcg@10)" = "$routed" ] || fail "a routed fault moved NDCG from $routed to $(figure ndcg@10)"
quiet "$EK" $eval --json --route price --normalize-spread auto --fault price=^2
grep -qE '"routed":\{"price":(1\.[89]|2\.[012])' said || fail "spread ratio of a square: $(cat said)"
quiet "$EK" $eval --metric ndcg@3,map,p@5,err,mrr --gain linear --empty-lists 0
grep -q '^100 lists; gain y; lists without a relevant item count 0; equal scores keep the order of the file; maximum label of ERR 2$' said ||
	fail "text: $(cat said)"
grep -q '^routed: none$' said || fail "text: $(cat said)"
[ "$(wc -l <said)" = 7 ] || fail "not a line per metric: $(cat said)"

# Several models: mean and deviation, and each of them as if alone.
quiet "$EK" $eval --json --metric ndcg
first=$(figure ndcg)
quiet "$EK" eval --manifest hotel.yaml --model other.safetensors --data a.txt b.txt --json --metric ndcg
second=$(figure ndcg)
quiet "$EK" eval --manifest hotel.yaml --model m.safetensors other.safetensors --data a.txt b.txt --json --metric ndcg
grep -q '"gain":"exp","empty":"skip","ties":"input order","max_label":2,' said || fail "rules: $(cat said)"
sed -E 's/.*"metrics":\{"ndcg":([0-9.]+)\},"c.*"sd":\{"ndcg":([0-9.]+)\}.*"m.safe[^{]*\{"ndcg":([0-9.]+)\}.*"other[^{]*\{"ndcg":([0-9.]+)\}.*/\1 \2 \3 \4/' said |
	awk -v a="$first" -v b="$second" '
		function near(x, y) { return x - y < 1e-8 && y - x < 1e-8 }
		{ half = (a - b) / 2; if (half < 0) half = -half }
		{ exit !(half > 0 && near($1, (a + b) / 2) && near($2, half) && $3 == a && $4 == b) }' ||
	fail "mean, deviation, single models: $first, $second, $(cat said)"
quiet "$EK" eval --manifest hotel.yaml --model m.safetensors other.safetensors --data a.txt
grep -qE '^ndcg@10 +0\.[0-9]{4} \+- 0\.[0-9]{4}  over 50 lists$' said || fail "text of two models: $(cat said)"

# Other remedies: a known factor, a detected one, one per arm, a constant, none.
quiet "$EK" $eval --json --fault price=x64 --repair price=64
[ "$(figure ndcg@10)" = "$clean" ] || fail "a fault taken back is $(figure ndcg@10), not $clean"
quiet "$EK" $eval --json --fault price=x64@0.5 --repair price --reference a.txt b.txt
[ "$(figure ndcg@10)" != "$clean" ] || fail "one factor repairs half of the lists"
quiet "$EK" $eval --json --repair price --reference a.txt b.txt
[ "$(figure ndcg@10)" = "$clean" ] || fail "a repair of what is healthy changes it"
quiet "$EK" $eval --json --fault price=x64@0.5 --repair price --repair-by arm --reference train.txt
byarm=$(figure ndcg@10)
quiet "$EK" $eval --json --fault price=x4096@0.5 --repair price --repair-by arm --reference train.txt
awk -v a="$byarm" -v b="$(figure ndcg@10)" 'BEGIN { exit !(a - b < 1e-3 && b - a < 1e-3) }' || fail "a factor per arm leaves the fault in"
quiet "$EK" $eval --json --fault price=x64 --impute price
filled=$(figure ndcg@10)
quiet "$EK" $eval --json --impute price
[ "$(figure ndcg@10)" = "$filled" ] || fail "a constant depends on the fault"
quiet "$EK" $eval --json --blank price
silenced=$(figure ndcg@10)
quiet "$EK" $eval --json --blank price --fault price=zero
[ "$(figure ndcg@10)" = "$silenced" ] || fail "what is silenced still speaks"
quiet "$EK" $eval --fault price,taxes=currency --fault chain=recode,items=0.5 --blank taxes --route price
grep -q '^routed: price; blanked: taxes$' said || fail "text: $(cat said)"

# Lists of two mixed sources: a fault of one source is undone only by routing per source.
quiet "$EK" $eval --json --sources 2 --route-per-source price
mixed=$(figure ndcg@10)
grep -qF '"routed":{"price":1}' said || fail "not told as routed: $(cat said)"
quiet "$EK" $eval --json --sources 2 --route-per-source price --fault price=x64,source=1
[ "$(figure ndcg@10)" = "$mixed" ] || fail "a fault of one source is seen: $(figure ndcg@10), not $mixed"
quiet "$EK" $eval --json --sources 2 --route price --fault price=x64,source=1
[ "$(figure ndcg@10)" != "$mixed" ] || fail "one mean is as good as one for each source"
quiet "$EK" $eval --sources 2 --route-per-source price
grep -q '; items of 2 random sources$' said && grep -q '^routed: none; routed by source: price$' said || fail "text: $(cat said)"
refused 2 "--route-per-source needs --sources, because LETOR items have no source" $eval --route-per-source price
refused 2 "LETOR items have no source; use --sources" $eval --fault price=x2,source=1
refused 2 "invalid source 2; sources are 0 to 1" $eval --sources 2 --fault price=x2,source=2
refused 2 "--sources needs a number from 2 to 16, not '17'" $eval --sources 17

sed 's/^[12] /0 /' a.txt >none.txt
quiet "$EK" eval --manifest hotel.yaml --model m.safetensors --data none.txt --json
[ "$(figure ndcg@10)" = null ] || fail "a mean over nothing is $(figure ndcg@10)"

# An interrupted run continues to the same model; a checkpoint of another run is rejected.
quiet "$EK" $train -o whole.safetensors --epochs 60
"$EK" $train -o parts.safetensors --epochs 60 --checkpoint state.ckpt >said 2>chatter &
pid=$!
while [ ! -e state.ckpt ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -INT $pid 2>/dev/null || true
status=0
wait $pid || status=$?
if [ $status = 0 ]; then # finished before the signal: its last checkpoint is final
	rm parts.safetensors
else
	grep -q 'stopped in epoch [0-9]* of 60; continue with --resume state.ckpt' chatter || fail "stopped: $(cat chatter)"
	[ ! -e parts.safetensors ] || fail "a model of half a training was written"
fi
quiet "$EK" $train -o parts.safetensors --epochs 60 --resume state.ckpt
cmp whole.safetensors parts.safetensors
refused 2 "state.ckpt: a checkpoint of another run, with 'epochs=60' where this one has 'epochs=3'" $train -o x --resume state.ckpt
refused 2 "with 'seed=0' where this one has 'seed=4'" $train -o x --epochs 60 --seed 4 --resume state.ckpt
refused 1 "not a checkpoint of training" $train -o x --resume m.safetensors

# Unusual data gives a warning, or an error if nothing can be learned or evaluated.
warned() { # text, arguments...
	want=$1
	shift
	quiet "$EK" "$@"
	grep -qF -- "evenkeel: $want" chatter || fail "'$want' is not in: $(cat chatter)"
}
one='{ if ($2 != last) print; last = $2 }' # the first item of every list
awk "$one" train.txt >singles.txt
awk "$one" a.txt >single-vali.txt
on="--manifest hotel.yaml --epochs 1 --hidden 4"
refused 2 "the training data has no list with two items of different labels, so there is no order to learn" train $on --train singles.txt --vali a.txt -o x
refused 2 "the validation data has no list with two items of different labels, so there is no order to judge by" train $on --train train.txt --vali single-vali.txt -o x
sed '7s/^[^ ]*/5000/' train.txt >label.txt
refused 2 "item 7: label 5000 is above 1000, too large for a gain of 2^y - 1" train $on --train label.txt --vali a.txt -o x
sed '7s/^[^ ]*/1e39/' train.txt >label.txt
refused 1 "label.txt:7:1: label '1e39' is out of range" train $on --train label.txt --vali a.txt -o x
sed '7s/^[^ ]*/-1/' train.txt >label.txt
refused 1 "label.txt:7:1: the label must be a number of at least 0, not '-1'" train $on --train label.txt --vali a.txt -o x
sed -E 's/ ([2-9]|[1-9][0-9]):[^ ]+//g' train.txt >narrow.txt
refused 2 "item features of the manifest never occur in the training data, first 'taxes' (index 2): take the manifest of this set" train $on --train narrow.txt --vali a.txt -o x
sed -E 's/ ([0-9]+):[^ ]+/ \1:1/g' train.txt >flat.txt
refused 2 "item features of the manifest ever differs within a list of the training data" train $on --train flat.txt --vali a.txt -o x
sed 's/ qid:/ qid:9/' single-vali.txt >renamed.txt
warned "50 of 350 lists of the training data have one item and no order" train $on --train train.txt renamed.txt --vali b.txt -o odd.safetensors
warned "50 of 100 lists of the validation data have no positive label and are skipped" train $on --train train.txt --vali b.txt none.txt -o odd.safetensors
sed -E 's/ 1:[^ ]+/ 1:7/; s/ 3:[^ ]+//' train.txt >constant.txt
warned "feature 'price' is always 7 in the training data; the model cannot learn from it" train $on --train constant.txt --vali a.txt -o odd.safetensors
grep -q "feature '.*' never occurs in the training data: is the manifest that of another set?" chatter || fail "an empty column: $(cat chatter)"
quiet "$EK" eval --manifest hotel.yaml --model odd.safetensors --data a.txt --json
flat=$(figure ndcg@10)
quiet "$EK" eval --manifest hotel.yaml --model odd.safetensors --data a.txt --json --fault price=x100
[ "$(figure ndcg@10)" = "$flat" ] || fail "a feature that was constant in training moved NDCG from $flat to $(figure ndcg@10)"
sed -E '/^nights_feature/d; s/role: query/role: item/' hotel.yaml >other-set.yaml
warned "item feature 'stay_nights' never differs within a list of the training data" train --manifest other-set.yaml --epochs 1 --train train.txt --vali a.txt -o odd.safetensors

# Distillation of upstream scores: no labels, an equal ranking, and routable.
quiet "$EK" generate hotel --lists 300 --seed 5 --format messages --upstream-model m.safetensors -o train.msg
quiet "$EK" generate hotel --lists 100 --from 300 --seed 5 --format messages --upstream-model m.safetensors -o vali.msg
quiet "$EK" train --manifest hotel.yaml --train train.msg --vali vali.msg --teacher upstream --lr 0.01 -o taught.safetensors --json
awk -v x="$(figure ndcg@10)" 'BEGIN { exit !(x > 0.95) }' || fail "not learned from the scores: $(cat said)"
sed -E 's/.*"agreement":(.*)\}$/\1/' said >agreement
quiet "$EK" eval --manifest hotel.yaml --model taught.safetensors --data vali.msg --teacher upstream --json
cmp -s said agreement || fail "train says $(cat agreement), eval $(cat said)"
figure_of() { # mean of tau in the last report
	sed -E 's/.*"tau":\{"mean":(-?[0-9.]+).*/\1/' said
}
awk -v x="$(figure_of)" 'BEGIN { exit !(x > 0.8 && x < 1) }' || fail "not faithful: $(cat said)"
quiet "$EK" eval --manifest hotel.yaml --model m.safetensors --data vali.msg --teacher upstream --json
[ "$(figure_of)" = 1 ] || fail "a model beside its own scores: $(cat said)"
quiet "$EK" eval --manifest hotel.yaml --model m.safetensors --data vali.msg --teacher upstream --json --fault price=x100
awk -v x="$(figure_of)" 'BEGIN { exit !(x < 0.95) }' || fail "a fault changes nothing: $(cat said)"
quiet "$EK" eval --manifest hotel.yaml --model m.safetensors --data vali.msg --teacher upstream
for line in '^compared with the upstream scorer, mean and sd over 100 of 100 lists:$' '^  Kendall tau  *1\.0000  0\.0000$' \
	'^  NDCG@10 under its order  *1\.0000' '^  the same first item  *1\.0000'; do
	grep -q "$line" said || fail "'$line' is not in: $(cat said)"
done
quiet "$EK" inspect taught.safetensors
grep -qE '^  agreement +tau 0\.[0-9]{4}, ndcg@10 0\.[0-9]{4}, top1 [01]\.[0-9]{4} over 100 lists$' said || fail "inspect: $(cat said)"
quiet "$EK" eval --manifest hotel.yaml --model m.safetensors --data vali.msg --teacher upstream -o known.safetensors
quiet "$EK" inspect known.safetensors --json
grep -q '"agreement":{"lists":100,"tau":{"mean":1,' said || fail "not kept: $(cat said)"
quiet "$EK" eval --manifest hotel.yaml --model known.safetensors --data vali.msg --teacher upstream --json
[ "$(figure_of)" = 1 ] || fail "another model was written: $(cat said)"
quiet "$EK" generate hotel --lists 100 --from 300 --seed 5 --format messages --encoding json --upstream-model m.safetensors -o whole.json
sed -E '3s/"score":[-+0-9.e]+/"score":null/; 7s/"score":[-+0-9.e]+/"score":null/' whole.json >partial.json
warned "note: 2 of 100 lists have an item without a score; skipped" eval --manifest hotel.yaml --model m.safetensors --data partial.json --teacher upstream
sed -E 's/"score":[-+0-9.e]+/"score":null/' whole.json >partial.json
refused 1 "partial.json: no list has a score for each item ('message.score')" eval --manifest hotel.yaml --model m.safetensors --data partial.json --teacher upstream
refused 2 "-o excludes faults and mitigations" eval --manifest hotel.yaml --model m.safetensors --data vali.msg --teacher upstream -o x --route price
refused 2 "it needs --teacher" $eval -o x
refused 2 "so they exclude --teacher" eval --manifest hotel.yaml --model m.safetensors --data vali.msg --teacher upstream --gain exp
refused 2 "--teacher takes one model" eval --manifest hotel.yaml --model m.safetensors taught.safetensors --data vali.msg --teacher upstream
refused 1 "a.txt" eval --manifest hotel.yaml --model m.safetensors --data a.txt --teacher upstream
refused 2 "--teacher needs --loss listnet" train --manifest hotel.yaml --train train.msg --vali vali.msg --teacher upstream --loss listmle -o x
refused 1 "train.txt" train --manifest hotel.yaml --train train.txt --vali vali.msg --teacher upstream -o x

# Errors.
: >empty.txt
sed '1s/^[0-9]*/5000/' a.txt >huge.txt
refused 2 "label 5000 is above 1000, too large for a gain of 2^y - 1" eval --manifest hotel.yaml --model m.safetensors --data huge.txt
refused 2 "label 5000 is above 1000" eval --manifest hotel.yaml --model m.safetensors --data huge.txt --gain linear --metric err
quiet "$EK" eval --manifest hotel.yaml --model m.safetensors --data huge.txt --gain linear
refused 1 "empty.txt: the file has no lists" eval --manifest hotel.yaml --model m.safetensors --data empty.txt
refused 1 "empty.txt: the file has no lists" eval --manifest hotel.yaml --model m.safetensors --data a.txt empty.txt
refused 1 "nowhere/x" train --manifest hotel.yaml --train gone.txt --vali vali.txt.zst -o nowhere/x
refused 2 "takes no cut-off" $eval --metric map@5
refused 2 "LETOR text has no segment 'market'" profile --manifest hotel.yaml --letor a.txt --stratify-by market -o x
refused 2 "did you mean 'stay_nights'?" profile --manifest hotel.yaml --letor a.txt --stratify-by stay_night -o x
quiet "$EK" profile --manifest hotel.yaml -i train.msg -o by-letter.ekp
refused 2 "did you mean 'status'?" stauts
refused 2 "did you mean 'train'?" trian
refused 2 "--manifest or --config, --train and -o are needed" train --manifest hotel.yaml --train train.txt
refused 2 "did you mean 'price'?" $train -o x --routing static:prise
refused 2 "feature 'chain' is not routable" $train -o x --routing static:chain
refused 2 "duplicate feature 'price'" $eval --route price,taxes,price
refused 2 "--list-free needs --log-input none" $train -o x --list-free --log-input always
refused 2 "--hidden needs numbers" $train -o x --hidden 64,
refused 2 "--unrouted-fraction and --scale-augmentation need --routing random" $train -o x --routing none --scale-augmentation 0.5
refused 2 "--normalize-spread needs --route or --route-per-source" $eval --normalize-spread auto
refused 2 "--reference and --repair-by need --repair without a factor" $eval --repair price=100 --repair-by arm
refused 2 "--reference and --repair-by need --repair without a factor" $eval --reference train.txt
refused 2 "the share of lists with another scale is 0 to 1" $train -o x --scale-augmentation 1.5
refused 2 "samples and a cut-off are for the loss approxndcg" $train -o x --samples 8
refused 2 "--optimizer: unknown value 'sgd'" $train -o x --optimizer sgd
refused 2 "--loss: unknown value 'mse'" $train -o x --loss mse
refused 2 "unknown metric 'auc'" $eval --metric auc
refused 2 "needs --reference with the training lists" $eval --repair price
refused 2 "feature 'price' has two treatments, route and blank" $eval --route all --blank price
refused 2 "--repair without a factor needs --reference with the training lists" $eval --repair price
refused 2 "did you mean 'price'?" $eval --impute prise
refused 2 "feature 'chain' is not routable" $eval --blank chain
refused 2 "a feature with more than" eval --manifest hotel.yaml --model m.safetensors --data train.txt --fault price=recode
refused 2 "have no segment 'arm'" $eval --fault price=x100,arm=B
refused 2 "the validation data has no list with a positive label" train --manifest hotel.yaml --train train.txt --vali none.txt -o x
refused 1 "gone.txt" $train gone.txt -o x
refused 1 "m.safetensors: item feature 2 is 'taxes' in the model but 'rating' in the manifest" eval --manifest "$tests/bad/features.yaml" --model m.safetensors --data a.txt
[ ! -e x ] || fail "a model was written all the same"
head -c 3000 m.safetensors >cut.safetensors
refused 1 "cut.safetensors: not a safetensors file, or cut short" eval --manifest hotel.yaml --model cut.safetensors --data a.txt

# Labels of messages give the same model and measures as the same lists of LETOR text.
quiet "$EK" convert --manifest hotel.yaml --letor train.txt -o train.msg
quiet "$EK" convert --manifest hotel.yaml --letor vali.txt.zst --encoding json -o vali.json
quiet "$EK" train --manifest hotel.yaml --train train.msg --vali vali.json --epochs 3 --hidden 8,4 --lr 0.01 -o labeled.safetensors
cmp m.safetensors labeled.safetensors
quiet "$EK" eval --manifest hotel.yaml --model m.safetensors --data vali.txt.zst --json
cp said letor.said
quiet "$EK" eval --manifest hotel.yaml --model m.safetensors --data vali.json --json
cmp said letor.said
sed 's/"label"/"clicks"/g' vali.json >bare.json
refused 1 "bare.json: no list has a label for each item ('message.label')" eval --manifest hotel.yaml --model m.safetensors --data bare.json

# Without validation lists, a fifth of the lists is used, in any encoding the same.
quiet "$EK" train --manifest hotel.yaml --train train.txt --epochs 3 --hidden 8,4 -o split.safetensors --json
grep -q '"vali":{"ndcg@10":0[.]' said || fail "no validation: $(cat said)"
sed -E 's/"query":"[^"]*",?//' vali.json >anonymous.json
quiet "$EK" train --manifest hotel.yaml --train anonymous.json --epochs 1 --hidden 8,4 -o anonymous.safetensors --json
grep -q '"vali":{"ndcg@10":0[.]' said || fail "lists without an id: $(cat said)"
sed -E '2s/"label":[0-9.]+/"label":-1/' vali.json >negative.json
refused 2 "list 2, item 1: a label must be a number of at least 0, not -1" eval --manifest hotel.yaml --model split.safetensors --data negative.json
quiet "$EK" train --manifest hotel.yaml --train train.msg --epochs 3 --hidden 8,4 -o again.safetensors
cmp split.safetensors again.safetensors
