# evenkeel extract --collection: equal indexes for any memory and compression; errors have a position.
. "$(dirname "$0")/prelude"

cat >docs.jsonl <<'END'
{"id": "d1", "title": "The quick fox", "body": ["jumps over", "the lazy dog"], "url": "http://a/b", "year": 1999}
{"id": 2, "body": "Foxes and dogs", "anchor": "more foxes"}
END
cat >docs.trec <<'END'
<DOC>
<DOCNO> d1 </DOCNO><URL>http://a/b</URL>
<TITLE>The quick fox</TITLE>
<TEXT>jumps over <b>the lazy</b> dog</TEXT>
</DOC>
<DOC><DOCNO>2</DOCNO>Foxes &#97;nd dogs<ANCHOR>more foxes</ANCHOR></DOC>
END

quiet "$EK" extract --collection docs.jsonl --index a.ekx
grep -q '^2 documents, 11 terms' said || fail "$(cat said)"
grep -Eq '^title +3 +1 +3$' said || fail "$(cat said)"
quiet "$EK" extract --collection docs.trec --index b.ekx
cmp a.ekx b.ekx || fail "two formats, two indexes"

# A key that is no field is reported, and so is a collection without words.
echo '{"id": 1, "text": "red fish"}' >text.jsonl
quiet "$EK" extract --collection text.jsonl --index text.ekx --json
grep -qx "text.jsonl: 1 unknown keys were ignored, the first is 'text'; rename it to 'body'" chatter || fail "$(cat chatter)"
grep -qx "text.ekx: no document has a word" chatter || fail "$(cat chatter)"
grep -q '"unknown_keys":1,' said || fail "$(cat said)"

gzip -k docs.jsonl
quiet "$EK" extract --collection docs.jsonl.gz --index c.ekx --memory 1MiB
cmp a.ekx c.ekx || fail "packing or memory changed the index"
"$EK" extract --collection - --index d.ekx <docs.jsonl >said 2>chatter
cmp a.ekx d.ekx

quiet "$EK" extract --collection docs.jsonl --index s.ekx --stem english --json
grep -q '"stem":"english","documents":2,"terms":9,' said || fail "$(cat said)"
grep -q '"anchor":{"tokens":2,"documents":1,"longest":2}' said || fail "$(cat said)"

# Large enough to fill a MiB several times.
awk 'BEGIN { srand(1); for (i = 0; i < 6000; i++) { printf "{\"id\":\"%d\",\"body\":\"", i
	for (j = 0; j < 60; j++) printf "w%d ", int(500 * rand() * rand()); print "\"}" } }' >many.jsonl
quiet "$EK" extract --collection many.jsonl --index many.ekx --json
grep -q '"spills":0,' said || fail "$(cat said)"
quiet "$EK" extract --collection many.jsonl --index tight.ekx --memory 1MiB --json
if grep -q '"spills":0,' said; then fail "nothing went to disk: $(cat said)"; fi
cmp many.ekx tight.ekx || fail "what went to disk made another index"

# An error keeps the existing index and leaves no other files.
{
	cat docs.jsonl
	echo '{"id": "d1"}'
} >twice.jsonl
refused 1 "twice.jsonl:3: there is a document 'd1' already" extract --collection twice.jsonl --index a.ekx
cmp a.ekx b.ekx || fail "a fault changed the index"
ls >now
if grep -Eq 'tmp|run$' now; then fail "something was left: $(cat now)"; fi

echo '{"title": "x"}' >no-id.jsonl
refused 1 "no-id.jsonl:1: a document without 'id'" extract --collection no-id.jsonl --index x.ekx
printf '{"id": "a"}\n{"id": "b", "body": }\n' >broken.jsonl
refused 1 "broken.jsonl:2:" extract --collection broken.jsonl --index x.ekx
printf '<DOC><DOCNO>1</DOCNO>\ntext\n' >open.trec
refused 1 "open.trec:1: a document that does not end" extract --collection open.trec --index x.ekx
echo 'hello' >neither.txt
refused 1 "neither.txt:1: neither JSON lines" extract --collection neither.txt --index x.ekx
refused 1 "no-such" extract --collection no-such --index x.ekx
[ ! -e x.ekx ] || fail "an index of a broken collection"

refused 2 "did you mean 'english'?" extract --collection docs.jsonl --index x.ekx --stem englsh
refused 2 "cannot be compressed" extract --collection docs.jsonl --index x.ekx.gz
refused 2 "needs bytes from 1MiB to 64GiB" extract --collection docs.jsonl --index x.ekx --memory 5
refused 2 "--index is needed" extract --collection docs.jsonl
refused 2 "--collection (build an index)" extract --index x.ekx
refused 2 "--stem needs --collection" extract --index a.ekx --queries q --stem english
