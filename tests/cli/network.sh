# Transforms, batch normalization and dropout of evenkeel train: from options to a model that scores.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 200 --seed 5 --manifest-out hotel.yaml -o train.txt
quiet "$EK" generate hotel --lists 50 --from 200 --seed 5 -o test.txt
train="train --manifest hotel.yaml --train train.txt --vali test.txt --epochs 2 --hidden 8,4 --lr 0.01"

for transform in log1p raw zscore cdf mixture; do
	quiet "$EK" $train --transform $transform --batch-norm --dropout 0.2 --threads 1 -o $transform.safetensors
	quiet "$EK" inspect $transform.safetensors
	grep -qE "^  inputs +$transform, mask yes" said || fail "inspect says $(cat said)"
	quiet "$EK" check --manifest hotel.yaml $transform.safetensors
	# A routed factor has no effect, for any transform.
	quiet "$EK" eval --manifest hotel.yaml --model $transform.safetensors --data test.txt --route price --json
	mv said clean
	quiet "$EK" eval --manifest hotel.yaml --model $transform.safetensors --data test.txt --route price --json \
		--fault price=x64
	[ "$(sed 's/.*"metrics"//; s/"counted".*//' clean)" = "$(sed 's/.*"metrics"//; s/"counted".*//' said)" ] ||
		fail "$transform: $(cat clean) became $(cat said)"
done
quiet "$EK" $train --transform mixture --batch-norm --dropout 0.2 --threads 3 -o again.safetensors
cmp mixture.safetensors again.safetensors
quiet "$EK" export --onnx mixture.safetensors -o mixture.onnx

refused 2 "dropout is a share of at least 0 and below 1" $train --dropout 1 -o no.safetensors
refused 2 "--transform: unknown value 'ranks'" $train --transform ranks -o no.safetensors

# Running statistics, dropout and the mixture continue identically from a checkpoint.
train="$train --transform mixture --batch-norm --dropout 0.2 --epochs 40"
quiet "$EK" $train -o whole.safetensors
"$EK" $train -o parts.safetensors --checkpoint state.ckpt >said 2>chatter &
pid=$!
while [ ! -e state.ckpt ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -INT $pid 2>/dev/null || true
wait $pid || true
rm -f parts.safetensors
quiet "$EK" $train -o parts.safetensors --resume state.ckpt
cmp whole.safetensors parts.safetensors
refused 2 "with 'transform=mixture' where this one has 'transform=log1p'" $train --transform log1p -o x --resume state.ckpt
