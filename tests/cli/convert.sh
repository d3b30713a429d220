# evenkeel convert: LETOR lists as messages equal those generated directly.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 40 --seed 3 --manifest-out hotel.yaml -o a.txt
quiet "$EK" generate hotel --lists 20 --seed 3 --from 40 -o b.txt.gz

quiet "$EK" convert --manifest hotel.yaml --letor a.txt b.txt.gz -o both.msg
cat a.txt >both.txt
gzip -dc b.txt.gz >>both.txt
"$EK" convert --manifest hotel.yaml --letor - -o - <both.txt >piped.msg 2>chatter
cmp both.msg piped.msg

# Query numbers continue over several files, and a range counts them.
quiet "$EK" convert --manifest hotel.yaml --letor a.txt b.txt.gz --fault price=x100,from=45 -o f.msg
if cmp -s both.msg f.msg; then fail "the fault changed nothing"; fi
quiet "$EK" convert --manifest hotel.yaml --letor a.txt --fault price=x100,from=39 -o g.msg
size=$(wc -c <g.msg)
quiet "$EK" convert --manifest hotel.yaml --letor a.txt -o h.msg
[ "$(cmp -l g.msg h.msg | awk 'NR == 1 { print $1 }')" -gt $((size * 9 / 10)) ] ||
	fail "a fault of the last list changed an early one"

# Segments: both values occur, runs are identical, and a fault is limited to its arm.
quiet "$EK" convert --manifest hotel.yaml --letor a.txt --segment arm=A,B -o s.msg
quiet "$EK" convert --manifest hotel.yaml --letor a.txt --segment arm=A,B -o t.msg
cmp s.msg t.msg
if cmp -s s.msg h.msg; then fail "no segment was written"; fi
"$EK" convert --manifest hotel.yaml --letor a.txt --segment arm=A,B --fault price=x2,arm=C \
	-o u.msg 2>err
grep -qF "changed no list" err || fail "no warning: $(cat err)"
quiet "$EK" convert --manifest hotel.yaml --letor a.txt --segment arm=A,B --fault price=x2,arm=B \
	-o v.msg
if grep -qF "changed no list" chatter; then fail "arm B was not hit"; fi
quiet "$EK" convert --manifest hotel.yaml --letor a.txt --fault price=+1median -o w.msg
refused 2 "a fault that depends on the values of the lists reads them twice: name a file instead of '-'" \
	convert --manifest hotel.yaml --letor - --fault price=+1median -o x.msg <a.txt

# Sources: one per item at random; a fault is limited to its source, and lists without sources stay unchanged.
quiet "$EK" convert --manifest hotel.yaml --letor a.txt --sources 2 -o mixed.msg
quiet "$EK" generate hotel --lists 40 --seed 3 -f messages --sources 2 -o made.msg
grep -aqF source mixed.msg || fail "no source was written"
grep -aqF source made.msg || fail "gen writes no source"
quiet "$EK" convert --manifest hotel.yaml --letor a.txt --sources 2 --fault price=x2,source=1 -o v.msg
if grep -qF "changed no list" chatter; then fail "source 1 was not hit"; fi
if cmp -s v.msg mixed.msg; then fail "the fault changed nothing"; fi
quiet "$EK" convert --manifest hotel.yaml --letor a.txt --fault price=x2,source=1 -o v.msg
grep -qF "changed no list" chatter || fail "no warning: $(cat chatter)"
refused 2 "--sources needs a number from 2 to 16, not 'A,B'" convert --manifest hotel.yaml --letor a.txt --sources A,B
refused 2 "LETOR text has no sources" generate hotel --sources 2

# The upstream model scores the faulty values, so a fault also moves the scores.
quiet "$EK" generate hotel --lists 200 --seed 5 -o train.txt
quiet "$EK" train --manifest hotel.yaml --train train.txt --vali a.txt --epochs 1 --routing none \
	--log-input none -o m.safetensors
quiet "$EK" convert --manifest hotel.yaml --letor a.txt --upstream-model m.safetensors -o clean.msg
quiet "$EK" convert --manifest hotel.yaml --letor a.txt --fault price=x2 -o unscored.msg
quiet "$EK" convert --manifest hotel.yaml --letor a.txt --upstream-model m.safetensors \
	--fault price=x2 -o scored.msg
zeros=$(cmp -l h.msg unscored.msg | wc -l)
both=$(cmp -l clean.msg scored.msg | wc -l)
[ "$zeros" -gt 0 ] && [ "$both" -gt $((2 * zeros)) ] || fail "scores did not move: $zeros $both"

refused 2 "--manifest is needed" convert --letor a.txt
refused 2 "--letor is needed" convert --manifest hotel.yaml
refused 2 "segment 'arm': expected NAME=VALUE,VALUE..." convert --manifest hotel.yaml --segment arm
refused 2 "segment 'arm=A,,B': an empty value" convert --manifest hotel.yaml --segment arm=A,,B
refused 2 "did you mean 'taxes'?" convert --manifest hotel.yaml --letor a.txt --fault taxe=x2 -o x.msg
refused 1 "missing.txt" convert --manifest hotel.yaml --letor missing.txt -o x.msg
echo "1 qid:1 2:3 1:4" >falling.txt
refused 1 "falling.txt:1" convert --manifest hotel.yaml --letor falling.txt -o x.msg
[ ! -e x.msg ] || fail "a refused run left a file"

: >empty.txt
refused 1 "empty.txt: the file has no lists" convert --manifest hotel.yaml --letor empty.txt -o nothing.msg
[ ! -e nothing.msg ] || fail "an empty file became messages"
