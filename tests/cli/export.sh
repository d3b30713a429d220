# evenkeel export: one file for other runtimes, or none and a clear error.
. "$(dirname "$0")/prelude"

"$EK" export --onnx "$tests/golden/model.safetensors" -o a.onnx 2>said || fail "failed: $(cat said)"
grep -qxF 'a.onnx: items [n, 13], query [8], mask [10] -> scores [n]' said || fail "said: $(cat said)"
"$EK" export "$tests/golden/model.safetensors" -o - --onnx 2>said | cmp - a.onnx

refused 2 "--onnx is needed" export "$tests/golden/model.safetensors" -o x
refused 2 "-o is needed" export --onnx "$tests/golden/model.safetensors"
refused 2 "a model is needed" export --onnx -o x
refused 2 "one model at a time" export --onnx a b -o x
refused 1 "gone.safetensors" export --onnx gone.safetensors -o x
echo 'features: [{name: a, index: 1, role: item}]' >features.yaml
refused 1 "features.yaml: this is a manifest, not a model" export --onnx features.yaml -o x
refused 1 "nowhere/x" export --onnx "$tests/golden/model.safetensors" -o nowhere/x
