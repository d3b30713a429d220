# evenkeel profile: built in parts and merged, and rejected merges.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 900 --seed 1 --manifest-out features.yaml -o all.txt
for part in 0 300 600; do
	quiet "$EK" generate hotel --lists 300 --from $part --seed 1 -o $part.txt
	quiet "$EK" profile -m features.yaml --letor $part.txt --keep-lists -o $part.ekp
done
quiet "$EK" profile -m features.yaml --letor all.txt -o all.ekp
quiet "$EK" profile -m features.yaml --merge 0.ekp 300.ekp 600.ekp --json -o joined.ekp
grep -q '"lists":900' said || fail "not all lists: $(cat said)"
"$EK" inspect all.ekp | grep -v '^file' >all
"$EK" inspect joined.ekp | grep -v '^file' >joined
cmp all joined || fail "another profile: $(diff all joined)"
[ "$(wc -c <joined.ekp)" = "$(wc -c <all.ekp)" ] || fail "the lists are kept though nobody asked"

# Lists can be added to profiles; stored lists change no other result.
quiet "$EK" profile -m features.yaml --merge 0.ekp 300.ekp --letor 600.txt -o added.ekp
"$EK" inspect added.ekp | grep -v '^file' | cmp - all || fail "another profile with lists added"
quiet "$EK" normalize -m features.yaml --profile 0.ekp

# The parts contain the field of strata, so the option may be omitted.
for part in 0 300; do
	quiet "$EK" profile -m features.yaml --letor $part.txt --stratify-by weekday --keep-lists -o b$part.ekp
done
quiet "$EK" profile -m features.yaml --merge b0.ekp b300.ekp --json -o b.ekp
grep -q '"lists":600,.*"stratify_by":"weekday","strata":2' said || fail "another baseline: $(cat said)"
quiet "$EK" profile -m features.yaml --merge b0.ekp --letor 300.txt --json -o b.ekp
grep -q '"lists":600,.*"stratify_by":"weekday","strata":2' said || fail "another baseline: $(cat said)"

# Markets differ: they have levels, which rules that name them use, and the strata do not.
quiet "$EK" generate hotel --lists 3000 --seed 1 --format messages -o messages.ekc
quiet "$EK" profile -m features.yaml --messages messages.ekc -o markets.ekp
grep -q "levels by segment: market ([0-9]* features); they are used if 'segments'" chatter || fail "no markets: $(cat chatter)"
grep -qE "lower the spread between lists of '[a-z_]+' from [0-9.]+ to [0-9.]+ \(ln\)" chatter || fail "no gain: $(cat chatter)"
"$EK" inspect markets.ekp | grep -q '^levels by segment, if the rules name it: market (' || fail "no markets shown"
"$EK" inspect --json markets.ekp | grep -q '"by_segment":\["market"\]' || fail "no markets in JSON"
quiet "$EK" profile -m features.yaml --messages messages.ekc --stratify-by market -o strata.ekp
"$EK" inspect strata.ekp | grep -q 'levels by segment' && fail "levels by segment of the strata"

refused 1 "all.ekp: the profile keeps no lists: make it with 'profile --keep-lists'" profile -m features.yaml --merge 0.ekp all.ekp -o no.ekp
refused 1 "all.txt: this is LETOR text, not a profile" profile -m features.yaml --merge all.txt -o no.ekp
refused 1 "absent.ekp: cannot open: no such file" profile -m features.yaml --merge absent.ekp -o no.ekp
refused 1 "0.ekp: the profile was made without the baseline 'stay_nights'" profile -m features.yaml --merge 0.ekp --stratify-by stay_nights -o no.ekp
refused 2 "--manifest or --config, --letor, --messages or --merge, and -o are needed" profile -m features.yaml -o no.ekp
sed 's/taxes/tax/' features.yaml >other.yaml
refused 1 "0.ekp: the profile is of another manifest: item feature" profile -m other.yaml --merge 0.ekp -o no.ekp
[ ! -e no.ekp ] || fail "a profile was written"

# A fault that begins within the training lists is reported: the profile would take it for normal.
# Lists that can be read only once are not compared.
quiet "$EK" generate hotel --lists 9000 --seed 1 -o healthy.txt
quiet "$EK" generate hotel --lists 9000 --seed 1 --fault price=x100,from=7000,share=0.5,arm=B -o faulty.txt
quiet "$EK" profile -m features.yaml --letor healthy.txt --json -o halves.ekp
grep -q '"changed":\[\]' said || fail "healthy lists changed: $(cat said)"
grep -q 'changes within' chatter && fail "healthy lists changed: $(cat chatter)"
quiet "$EK" profile -m features.yaml --letor faulty.txt --json -o halves.ekp
grep -q '"changed":\["price"\]' said || fail "no change of the price: $(cat said)"
grep -qE '^  price: scale x[0-9.]+ since list (69|70)[0-9]{2}$' chatter || fail "no change of the price: $(cat chatter)"
quiet "$EK" generate hotel --lists 9000 --seed 1 --format messages --encoding json -o late.json
awk 'NR <= 5000 { sub(/"market"/, "\"country\"") } 1' late.json >later.json
quiet "$EK" profile -m features.yaml --messages later.json --stratify-by market --json -o halves.ekp
grep -q '"changed"' said && fail "compared: $(cat said)"
grep -q "the halves of the lists were not compared: no list of the first has market" chatter || fail "$(cat chatter)"
mkfifo once
cat faulty.txt >once &
quiet "$EK" profile -m features.yaml --letor once --json -o halves.ekp
grep -q 'changes within\|"changed"' said chatter && fail "read twice: $(cat chatter)"
wait
