# What is in a snapshot of a detector, as a table and as JSON; a damaged one is refused by name.
. "$(dirname "$0")/prelude"
golden=$tests/format/golden/snapshot-1.bin

"$EK" inspect "$golden" >table
for line in 'snapshot of a detector' '  lists           30, 30 of them in the history' '  cells           7 of 7' \
	'  findings        6 wait'; do
	grep -qxF "$line" table || fail "no '$line'"
done
grep -qE '^[0-9]+ +price +all +confirmed +scale +6[01]\.' table || fail "the price is not told"
grep -qE '^[0-9]+ +kind +all +confirmed +new_category +- ' table || fail "the code is not told"
grep -qE '^price +all +[0-9.]+$' table || fail "no evidence"

"$EK" inspect --json "$golden" >json
grep -q '"kind":"snapshot",.*"cells":\[{"number":0,"dimension":null,"value":null},' json || fail "no cells in JSON"
grep -q '"state":"confirmed","feature":"price","signal":"level up","class":"scale","factor":6' json || fail "no change in JSON"

head -c 5000 "$golden" >cut
"$EK" inspect cut >out 2>message && fail "a cut one is shown"
grep -q 'cut: snapshot has 5000 of [0-9]* bytes' message || fail "$(cat message)"
[ ! -s out ] || fail "a part of it is shown"
