# evenkeel check: what a file is, its content tells; the first fault has its place; 78 on any fault.
set -eu
bad=$(cd "$(dirname "$0")/../bad" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
	echo "$1"
	exit 1
}
says() { # status, the whole output, words...
	want_status=$1 want=$2
	shift 2
	status=0
	got=$("$EK" check "$@" 2>err) || status=$?
	[ $status = "$want_status" ] || fail "status $status instead of $want_status: check $*: $got"
	[ "$got" = "$want" ] || fail "check $* says '$got' instead of '$want'"
}

cp "$bad/features.yaml" manifest.yaml
printf 'version: 1\ndefaults: {mode: observe}\nfeatures: {price: {mode: enforce}}\n' >a
printf 'defaults:\n  mode: observe\n  same_qery: []\n' >b.yaml
printf 'feature:\n  - {name: x, index: 1, role: item}\n' >c.yaml
printf 'limts: {max_routed_features: 3}\n' >d.yaml

says 0 'manifest.yaml: manifest, ok' manifest.yaml
says 0 'a: rules, ok (names of features not checked, there is no manifest)' a
says 0 'a: rules, ok' --manifest manifest.yaml a
says 0 'a: rules, ok
manifest.yaml: manifest, ok' a manifest.yaml
says 78 "b.yaml:3:3: unknown key 'same_qery', did you mean 'same_query'?" b.yaml
says 78 "d.yaml:1:1: unknown key 'limts', did you mean 'limits'?" d.yaml
says 78 "b.yaml:3:3: unknown key 'same_qery', did you mean 'same_query'?
manifest.yaml: manifest, ok" b.yaml manifest.yaml
says 78 'gone.yaml: cannot open: no such file or directory
a: rules, ok' gone.yaml a -m manifest.yaml
says 78 'a: this is no manifest, but a rules file' -m a
says 78 "$bad/rules/feature-unknown.yaml:3:3: unknown feature 'prise', did you mean 'price'?" \
	-m manifest.yaml "$bad/rules/feature-unknown.yaml"
says 78 '{"file":"b.yaml","kind":"rules","ok":false,"line":3,"column":3,"message":"unknown key '"'same_qery', did you mean 'same_query'?"'"}' \
	--json b.yaml

status=0
"$EK" check c.yaml >out || status=$?
[ $status = 78 ] || fail "status $status for a file of no kind"
grep -qF 'c.yaml:1:1: no manifest' out || fail "not told what c.yaml could be: $(cat out)"
[ "$("$EK" check -m manifest.yaml - <a)" = '-: rules, ok' ] || fail 'standard input is not read'
gzip -c b.yaml >b.gz
status=0
"$EK" check b.gz >out || status=$?
grep -qF 'b.gz:3:3: unknown key' out || fail "a packed file is not read: $(cat out)"
status=0
"$EK" check 2>err || status=$?
[ $status = 2 ] || fail "status $status without a file"
