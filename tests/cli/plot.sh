# evenkeel inspect --plot: histograms of training and of messages, for any terminal width.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 300 --seed 1 --manifest-out features.yaml -o train.txt
quiet "$EK" profile --manifest features.yaml --letor train.txt -o profile.ekp
quiet "$EK" generate hotel --lists 300 --seed 2 --format messages --fault price=x100 -o messages.msgpack

narrow() { # lines in a file have at most 79 characters
	! LC_ALL=C.UTF-8 grep -qE '^.{80}' "$1" || fail "too wide: $(cat "$1")"
}
LC_ALL=C "$EK" inspect profile.ekp --plot price >out
[ "$(grep -c '|' out)" = 21 ] || fail "not a head and 20 rows: $(cat out)"
! LC_ALL=C grep -q '[^ -~]' out || fail "not plain: $(cat out)"
narrow out
grep -qE '^training +median [0-9.]+, zero 0.0%' out || fail "no foot: $(cat out)"

# Messages beside training: the two medians tell the fault.
LC_ALL=C.UTF-8 "$EK" inspect messages.msgpack --plot price --manifest features.yaml --profile profile.ekp >out
narrow out
grep -q '█' out || fail "no blocks: $(cat out)"
awk '/^training/ { a = $3 } /^messages/ { b = $3 } END { exit !(b / a > 80 && b / a < 125) }' out || fail "not a hundredfold: $(cat out)"
# Lines fit the terminal.
for columns in 40 60 200; do
	COLUMNS=$columns LC_ALL=C.UTF-8 "$EK" inspect profile.ekp --plot price >out
	COLUMNS=$columns LC_ALL=C.UTF-8 "$EK" inspect messages.msgpack --plot price --manifest features.yaml --profile profile.ekp >>out
	[ $columns = 200 ] || ! LC_ALL=C.UTF-8 grep -qE "^.{$columns}" out || fail "too wide for $columns: $(cat out)"
	narrow out
done
# Messages without training, also from a compressed capture.
gzip -k messages.msgpack
"$EK" inspect messages.msgpack.gz --plot price --manifest features.yaml >out
if grep -q training out; then fail "training from nowhere"; fi

refused 2 "--plot of messages needs --manifest" inspect messages.msgpack --plot price
refused 2 "no feature 'prise' in the profile, did you mean 'price'?" inspect profile.ekp --plot prise
refused 2 "no item feature 'prise' in features.yaml" inspect messages.msgpack --plot prise --manifest features.yaml
refused 2 "a model has no distribution" inspect "$tests/golden/model.safetensors" --plot price
refused 2 "--plot excludes --json" inspect profile.ekp --plot price --json
refused 2 "need --plot" inspect profile.ekp --manifest features.yaml
