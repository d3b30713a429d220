# evenkeel export: one file for other runtimes, or none and a clear word.
set -eu
golden=$(cd "$(dirname "$0")/../golden" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
	echo "$1"
	exit 1
}
refused() { # status, expected text of the error, words...
	want_status=$1 want=$2
	shift 2
	status=0
	"$EK" export "$@" >out 2>err || status=$?
	[ $status = "$want_status" ] || fail "status $status instead of $want_status: $* $(cat err)"
	grep -qF -- "$want" err || fail "'$want' is not in: $(cat err)"
	[ ! -e x ] || fail "wrote something: $*"
}

"$EK" export --onnx "$golden/model.safetensors" -o a.onnx 2>said || fail "failed: $(cat said)"
grep -qxF 'a.onnx: items [n, 13], query [8], mask [10] -> scores [n]' said || fail "said: $(cat said)"
"$EK" export "$golden/model.safetensors" -o - --onnx 2>said | cmp - a.onnx

refused 2 "--onnx is needed" "$golden/model.safetensors" -o x
refused 2 "-o is needed" --onnx "$golden/model.safetensors"
refused 2 "which model" --onnx -o x
refused 2 "one model at a time" --onnx a b -o x
refused 1 "gone.safetensors" --onnx gone.safetensors -o x
echo 'features: [{name: a, index: 1, role: item}]' >features.yaml
refused 1 "features.yaml: this is a manifest, not a model" --onnx features.yaml -o x
refused 1 "nowhere/x" --onnx "$golden/model.safetensors" -o nowhere/x
