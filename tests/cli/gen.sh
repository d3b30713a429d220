# evenkeel generate: identical runs, consistent parts, faults in their segments.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 60 --seed 3 --manifest-out hotel.yaml -o all.txt
quiet "$EK" generate hotel --lists 60 --seed 3 -o again.txt
cmp all.txt again.txt
quiet "$EK" generate hotel --lists 60 --seed 4 -o other.txt
if cmp -s all.txt other.txt; then fail "two seeds, one text"; fi

quiet "$EK" generate hotel --lists 25 --seed 3 -o first.txt
quiet "$EK" generate hotel --lists 35 --seed 3 --from 25 -o rest.txt
cat first.txt rest.txt | cmp - all.txt

[ "$(cut -d' ' -f2 all.txt | sort -u | wc -l)" = 60 ] || fail "not 60 queries"
[ "$(grep -c '^2 ' all.txt)" = 60 ] || fail "not one booking a query"

quiet "$EK" generate hotel --lists 60 --seed 3 --fault price=x100,from=20,to=40 -o fault.txt
diff all.txt fault.txt | grep '^>' | cut -d' ' -f3 | sort -u >hit
seq 21 40 | sed 's/^/qid:/' | sort | cmp - hit
awk '$2 == "qid:30" { split($3, a, ":"); print a[2] }' all.txt >before
awk '$2 == "qid:30" { split($3, a, ":"); print a[2] }' fault.txt | paste before - |
	awk '{ r = $2 / $1; if (r < 99.999 || r > 100.001) exit 1 }' || fail "not x100"

quiet "$EK" generate hotel --lists 60 --seed 3 --format messages -o all.msg
"$EK" generate hotel --lists 60 --seed 3 --format messages -o - >out.msg 2>chatter
cmp all.msg out.msg
for encoding in array bin map; do
	quiet "$EK" generate hotel --lists 5 --format messages --encoding $encoding -o $encoding.msg
	[ -s $encoding.msg ] || fail "nothing as $encoding"
done
quiet "$EK" generate hotel --lists 60 --seed 3 -o all.txt.gz
gzip -dc all.txt.gz | cmp - all.txt

"$EK" generate hotel --lists 5 --fault price=x100,arm=Z -o idle.txt 2>err
grep -qF "fault 'price=x100,arm=Z' changed no list" err || fail "no warning: $(cat err)"

refused 2 "did you mean 'price'?" generate hotel --fault prise=x100 -o bad.txt
refused 2 "unknown generator 'motel'" generate motel
refused 2 "a generator is needed: 'hotel'" generate
refused 2 "--lists needs a whole number" generate hotel --lists many
refused 2 "unknown format 'json'" generate hotel --format json
refused 2 "LETOR text has one encoding; --encoding needs --format messages" generate hotel --encoding json
refused 2 "'same.txt' cannot be both -o and --manifest-out" generate hotel --manifest-out same.txt -o same.txt
refused 2 "unknown encoding 'text'" generate hotel --encoding text
refused 2 "LETOR text has no scores" generate hotel --upstream-model m.safetensors
[ ! -e bad.txt ] || fail "a refused run left a file"
