# evenkeel inspect: errors for unreadable files, and valid JSON for any feature name.
. "$(dirname "$0")/prelude"
golden=$tests/golden/model.safetensors

# A model that cannot be loaded gives the error of the loader.
head -c 2000 "$golden" >cut.safetensors
refused 1 "cut.safetensors: not a safetensors file, or cut short" inspect cut.safetensors
size=$(wc -c <"$golden")
head -c $((size - 10)) "$golden" >short.safetensors
refused 1 "short.safetensors: tensor 'zero' lies outside of the file" inspect short.safetensors
LC_ALL=C sed 's/gate\.bias/gate.bigs/' "$golden" >gone.safetensors
refused 1 "gone.safetensors: no tensor 'gate.bias', expected F32 [4]" inspect gone.safetensors
LC_ALL=C sed 's/routable_sir/routable_car/' "$golden" >other.safetensors
refused 1 "other.safetensors: no model: metadata has no 'routable_sir'" inspect other.safetensors
printf '\202\256query_features\200\245items\221\201' >message.msg
refused 1 "message.msg: " inspect message.msg
if grep -q "not a profile" err; then fail "messages are no kind to inspect: $(cat err)"; fi

# Names with quotes: of a model (escaped twice in its header), of a profile and its field of strata.
LC_ALL=C sed 's/price/a\\\\\\"/g' "$golden" >quote.safetensors
quiet "$EK" inspect --json quote.safetensors
grep -qF '"routable":["a\"","taxes",' said || fail "a name in JSON: $(cat said)"
cat >quote.yaml <<'END'
features:
  - {name: 'pri"ce', index: 1, role: item, routable: true}
  - {name: nights, index: 2, role: query}
END
awk 'BEGIN { for (q = 1; q <= 60; q++) for (i = 1; i <= 5; i++) print 0, "qid:" q, "1:" q % 7 + i, "2:1" }' >lists.txt
quiet "$EK" convert --manifest quote.yaml --letor lists.txt --segment 'ma"rket=A,B' -o lists.msg
quiet "$EK" profile --manifest quote.yaml --messages lists.msg --stratify-by 'ma"rket' -o quote.ekp
quiet "$EK" inspect --json quote.ekp
grep -qF '"stratify_by":"ma\"rket"' said || fail "a field in JSON: $(cat said)"
grep -qF '{"name":"pri\"ce",' said || fail "a name in JSON: $(cat said)"

# Coverage: which fields of the configuration messages have.
quiet "$EK" generate hotel -n 60 --seed 1 --manifest-out hotel.yaml -f messages --encoding json -o hotel.json
cat >cover.yaml <<'END'
input: {brokers: "h:1", topics: [t], group: g}
output: {topic: r}
message: {encoding: json, segments: segment}
assets: {manifest: hotel.yaml, profile: none.ekp}
END
quiet "$EK" inspect -c cover.yaml hotel.json
grep -qF '  readable        100% of 60 messages' said || fail "coverage: $(cat said)"
grep -qF '  time            100%' said || fail "coverage: $(cat said)"
grep -qF '  segments        none' said || fail "a path that finds nothing: $(cat said)"
sed -i 's/segments: segment/segments: segments/' cover.yaml
quiet "$EK" inspect -c cover.yaml hotel.json
grep -qE '^  segments        .*arm 2 values in 100% \(' said || fail "segments: $(cat said)"

# Standard input and pipes are read once.
quiet "$EK" inspect hotel.json
cp said of-file
"$EK" inspect - <hotel.json >said 2>err || fail "standard input: $(cat err)"
grep -qE '^  messages +60$' said || fail "standard input: $(cat said)"
mkfifo pipe
cat hotel.json >pipe &
"$EK" inspect pipe >said 2>err || fail "a pipe: $(cat err)"
grep -qE '^  messages +60$' said || fail "a pipe: $(cat said)"
cmp said of-file
refused 2 "-: the fields of --config take a second pass; name a file" inspect -c cover.yaml - <hotel.json
