# evenkeel extract: features equal their formulas, in three formats, and a model trained on them.
. "$(dirname "$0")/prelude"

# Sixty documents of few distinct words, so that terms, pairs and repeats are common; some fields and one document are
# empty.
python3 - <<'END'
import json
import random
r = random.Random(7)
words = "the of red fish blue pond cat sea ship sails north and wind a".split()
text = lambda most: " ".join(r.choices(words, k=r.randint(0, most)))
with open("docs.jsonl", "w") as docs, open("qrels.txt", "w") as qrels:
    for i in range(60):
        doc = {"id": f"d{i}", "body": text(40) + (" red fish" if i % 3 == 0 else "")}
        for field, most in (("title", 4), ("heading", 6), ("inlink", 8), ("anchor", 5)):
            if r.random() < 0.6:
                doc[field] = [text(most), text(most)] if r.random() < 0.3 else text(most)
        if r.random() < 0.7:
            doc["url"] = f"https://x.org/{'a/' * r.randint(0, 3)}p{i}?q={i}&r=1#top"
        docs.write(json.dumps({"id": "empty"} if i == 13 else doc) + "\n")
        for q in range(1, 31):
            if i % 3 == q % 3:
                qrels.write(f"t{q} 0 d{i} {1 + i % 2}\n")
with open("more.tsv", "w") as queries:
    for q in range(1, 31):
        queries.write(f"t{q}\t{' '.join(r.choices(words[2:12], k=3))}\n")
END
printf 'q1\tred fish\nq2\tblue\nq3\tRed fish, pond fish unicorn!\nq4\tthe red and the blue\nq5\tfish fish\nq6\tunicorn\nq7\t\nq8\twho should sail the ships\n' >queries.tsv
for q in q1 q2 q3 q4 q5 q6 q7; do echo "$q d1"; echo "$q empty"; echo "$q d7 2.5"; echo "$q gone 1"; done >run.txt
echo 'features: [all]' >all.yaml
quiet "$EK" extract --collection docs.jsonl --index docs.ekx
extract="extract --index docs.ekx"

# Every value of every feature equals that of an independent implementation.
oracle="python3 $tests/format/read_text_features.py docs.jsonl"
quiet "$EK" $extract --queries queries.tsv --top 4 --features all.yaml -o top.csv
quiet $oracle queries.tsv top.csv
grep -qx '[0-9]* values, 0 differ' said || fail "$(cat said)"
quiet "$EK" $extract --queries queries.tsv --candidates run.txt --features all.yaml -o run.csv
grep -qx 'run.txt: 7 candidates that are not in the index were skipped' chatter || fail "$(cat chatter)"
[ "$(wc -l <run.csv)" = 22 ] || fail "$(wc -l <run.csv) lines"
quiet $oracle queries.tsv run.csv
sed '2s/,[0-9.]*$/,77/' run.csv >broken.csv
if $oracle queries.tsv broken.csv >said; then fail "a wrong value is not seen: $(cat said)"; fi

# A changed byte in postings (1) or documents (0) is detected before any output.
python3 - <<'END'
import struct
whole = open("docs.ekx", "rb").read()
sections = struct.iter_unpack("<3Q", whole[-352 + 56 + 96:][:192])
for n, (at, length, _) in enumerate(sections):
    damaged = bytearray(whole)
    damaged[at + length // 2] ^= 1
    open(f"damaged{n}.ekx", "wb").write(damaged)
version = bytearray(whole)
version[-352 + 8] ^= 2
open("damaged8.ekx", "wb").write(version)
END
for n in 0 1 2 3 4 5 6 7 8; do
	refused 1 "damaged$n.ekx: damaged index" extract --index damaged$n.ekx --queries queries.tsv -o damaged.csv
	[ ! -e damaged.csv ] || fail "features of a damaged index"
done

# The formats agree, and runs are identical.
quiet "$EK" $extract --queries queries.tsv --candidates run.txt --qrels qrels.txt -o a.csv --manifest-out m.yaml
quiet "$EK" $extract --queries queries.tsv --candidates run.txt --qrels qrels.txt -o a.letor.zst
quiet "$EK" $extract --queries queries.tsv --candidates run.txt --qrels qrels.txt -o a.npz
quiet "$EK" $extract --queries queries.tsv --candidates run.txt --qrels qrels.txt -o b.npz --json
grep -q '^{"output":"b.npz","lists":7,"rows":21,"relevant":0,"features":435,' said || fail "$(cat said)"
cmp a.npz b.npz
quiet "$EK" check m.yaml
"$EK" $extract --queries queries.tsv --candidates run.txt >plain.letor 2>chatter
python3 - <<'END'
import csv
import math
import struct
import zipfile
rows = list(csv.reader(open("a.csv", newline="")))
names, rows = rows[0][3:], rows[1:]
same = lambda a, b: (math.isnan(a) and math.isnan(b)) or a == b
single = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
table = [[single(float(x)) if x else math.nan for x in row[3:]] for row in rows]
with zipfile.ZipFile("a.npz") as z:
    def array(name):
        raw = z.read(name + ".npy")
        assert raw[:8] == b"\x93NUMPY\x01\x00" and raw[127:128] == b"\n", raw[:16]
        head = eval(raw[10:128])
        return head["descr"], head["shape"], raw[128:]
    kind, shape, raw = array("X")
    assert kind == "<f4" and shape == (len(rows), len(names)), shape
    got = list(struct.iter_unpack(f"<{len(names)}f", raw))
    assert all(same(a, b) for x, y in zip(got, table) for a, b in zip(x, y))
    kind, shape, raw = array("feature_names")
    width = int(kind[2:])
    assert [raw[i:i + width].rstrip(b"\0").decode() for i in range(0, len(raw), width)] == names
    assert struct.unpack("<7i", array("group")[2]) == (3,) * 7
    kind, shape, raw = array("query")
    assert (kind, raw) == ("|S2", b"q1q2q3q4q5q6q7"), (kind, raw)
for line, row, want in zip(open("plain.letor"), rows, table):
    parts, doc = line.split(" # ")
    values = {int(i): float(x) for i, x in (p.split(":") for p in parts.split()[2:])}
    assert doc.strip() == row[1] and parts.split()[1] == "qid:" + row[0], line
    assert all(same(single(values.get(i + 1, 0)), x) for i, x in enumerate(want)), line
END

# The output can be trained on.
echo 'features: ["bm25_atire.*", sdm.document, "stream_tf_*.body", query_length, query_idf_max]' >some.yaml
quiet "$EK" $extract --queries more.tsv --qrels qrels.txt --top 30 --features some.yaml -o train.letor --manifest-out some-m.yaml
quiet "$EK" train --manifest some-m.yaml --train train.letor --vali train.letor --epochs 2 --hidden 8 -o m.safetensors
quiet "$EK" eval --manifest some-m.yaml --model m.safetensors --data train.letor --json
grep -q '"lists":30' said || fail "$(cat said)"

# Queries as JSON lines, ids as numbers.
printf '{"id": 7, "text": "red fish"}\n\n{"id": "b", "text": "blue"}\n' >q.jsonl
"$EK" $extract --queries q.jsonl --top 1 --features some.yaml 2>chatter | cut -d' ' -f2 >said
[ "$(cat said)" = "$(printf 'qid:7\nqid:b')" ] || fail "$(cat said)"

# The catalog.
quiet "$EK" extract --list
[ "$(awk 'length($0) > 79' said | wc -l)" = 0 ] || fail "the list is too wide"
quiet "$EK" extract --list --json
grep -q '^{"count":592,"features":\[{"name":"bm25_atire.document","family":"unigram","field":"document","role":"item"' said ||
	fail "$(head -c 300 said)"

# Errors have a position and leave no files.
bad() { # status, text, name of the option, content
	printf "$4" >bad
	refused "$1" "$2" $extract --queries "${5:-queries.tsv}" "--$3" bad -o x.csv
	[ ! -e x.csv ] || fail "x.csv is there"
}
bad 78 "bad:1:12: no feature is named 'bm25_atier.title', did you mean 'bm25_atire.title'?" features 'features: [bm25_atier.title]'
bad 1 "bad:2: the line has 5 parts, expected" candidates 'q1 d1\nq1 Q0 d2 1 2\n'
bad 1 "bad:1: invalid score 'x'" candidates 'q1 d1 x\n'
bad 1 "bad:3: duplicate document 'd1' of query 'q1'" candidates 'q1 d1\nq1 d2\nq1 d1\n'
bad 1 "bad:1: invalid label 'high'" qrels 'q1 0 d1 high\n'
printf 'q1 red\n' >bad
refused 1 "bad:1: a query must be ID<TAB>TEXT, but the line has no tab" $extract --queries bad -o x.csv
printf 'q1\tred\nq1\tblue\n' >bad
refused 1 "bad:2: duplicate query 'q1'" $extract --queries bad -o x.csv
printf 'q 1\tred\n' >bad
refused 1 "bad:1: query id 'q 1' has a blank or a '#'" $extract --queries bad -o x.csv
printf '{"id": "a", "text": 3}\n' >bad
refused 1 "bad:1: a query needs a 'text'" $extract --queries bad -o x.csv
printf '{"id": "a", "text": "red"\n' >bad
refused 1 "bad:1: not a JSON object" $extract --queries bad -o x.csv
python3 -c 'print("q1\t" + "red " * 257)' >bad
refused 1 "bad:1: a query has at most 256 terms" $extract --queries bad -o x.csv
printf 'q1\tunicorn\n' >bad
refused 1 "bad: no query has a document" $extract --queries bad -o x.csv
refused 1 "nowhere/x.npz" $extract --queries queries.tsv -o nowhere/x.npz
[ "$(ls | grep -c 'npz\.')" = 0 ] || fail "left: $(ls)"

bad 1 "bad:1: label '1e300' is out of range for float32" qrels 'q1 0 d1 1e300\n'
bad 1 "bad:2: score '-1e39' is out of range for float32" candidates 'q1 d1 1\nq1 d2 -1e39\n'
bad 1 "bad:1: the line has a NUL byte" qrels 'q1 0 d1\0x 1\n'
printf 'q1\0x\tred\n' >bad
refused 1 "bad:1: a query id has a NUL byte" $extract --queries bad -o x.csv
printf '{"id": "a\\u0000", "text": "red"}\n' >bad
refused 1 "bad:1: a query id has a NUL byte" $extract --queries bad -o x.csv
for id in ' d1' 'd1 ' 'd\n1' 'd\u0000' 'd1\t' 'docid = z'; do
	printf '{"id": "ok"}\n{"id": "%s", "body": "red"}\n' "$id" >bad
	refused 1 "bad:2: an id that cannot be written with features" extract --collection bad --index x.ekx
done

# A byte order mark and blanks before the first line have no effect; a NUL byte separates words.
mark=$(printf '\357\273\277')
same="--features some.yaml --top 5"
"$EK" $extract $same --queries more.tsv --qrels qrels.txt >plain 2>chatter
for f in more.tsv qrels.txt run.txt; do { printf %s "$mark"; cat $f; } >marked-$f; done
"$EK" $extract $same --queries marked-more.tsv --qrels marked-qrels.txt >marked 2>chatter
cmp plain marked || fail "a mark of byte order changed the features"
"$EK" $extract --features some.yaml --queries queries.tsv --candidates run.txt >plain 2>chatter
"$EK" $extract --features some.yaml --queries queries.tsv --candidates marked-run.txt >marked 2>chatter
cmp plain marked || fail "a mark of byte order changed the candidates"
printf 'q\tred fish\n' >one
"$EK" $extract $same --queries one >plain 2>chatter
printf 'q\tred\0fish\n' >one
"$EK" $extract $same --queries one >nul 2>chatter
cmp plain nul || fail "a NUL byte cut a query"
printf '  {"id": "q", "text": "red\\u0000fish"}\n' >one
"$EK" $extract $same --queries one >nul 2>chatter
cmp plain nul || fail "a NUL byte cut a query of JSON"

# The manifest has the parameters in use, and only for features that use them.
printf 'features: [bm25_atire.title, tp_score.document, bm25_trec3.title, bm25_trec3_kmax.title, be.title, sdm.document, terms_bm25_atire_max_mean]\nparameters: {bm25_atire: {k1: 1.5, b: 0.25}, bm25_trec3: {b: 0.5}, dfr: {c: 7}, sdm: {mu: 99}}\n' >changed.yaml
quiet "$EK" $extract --queries queries.tsv --features changed.yaml -o x.letor --manifest-out changed-m.yaml
quiet "$EK" check changed-m.yaml
sed -n 's/.*name: \([a-z0-9_.]*\),.*; here \(.*\)"}/\1: \2/p' changed-m.yaml >said
printf '%s\n' 'bm25_atire.title: k1 = 1.5, b = 0.25' 'bm25_trec3.title: b = 0.5' 'be.title: c = 7' 'tp_score.document: k1 = 1.5, b = 0.25' \
	'sdm.document: mu = 99' 'terms_bm25_atire_max_mean: k1 = 1.5, b = 0.25' | sort >want
sort said | cmp - want || fail "$(cat said)"
bad 78 "'sdm' needs one weight above 0" features 'parameters: {sdm: {terms: 0, ordered: 0, unordered: 0}}'

# Unwritable paths are reported before any output; a symbolic link stays.
refused 1 "nowhere/m.yaml" $extract --queries queries.tsv -o x.csv --manifest-out nowhere/m.yaml
[ ! -e x.csv ] || fail "rows without their manifest"
if grep -q extracting err; then fail "told too late: $(cat err)"; fi
mkdir folder.npz
refused 1 "folder.npz: cannot write" $extract --queries queries.tsv -o folder.npz
if grep -q extracting err; then fail "told too late: $(cat err)"; fi
: >real.npz
ln -s real.npz link.npz
quiet "$EK" $extract --queries queries.tsv --candidates run.txt --qrels qrels.txt -o link.npz
[ -L link.npz ] || fail "a link was replaced"
cmp real.npz a.npz

# No file is both input and output, or two outputs, under any name.
mkdir -p d.csv
ln -sf queries.tsv link.tsv
cp docs.jsonl kept.jsonl
refused 2 "--output and --queries are the same file" $extract --queries queries.tsv -o ./queries.tsv
refused 2 "--output and --queries are the same file" $extract --queries queries.tsv -o link.tsv
refused 2 "--output and --index are the same file" $extract --queries queries.tsv -o d.csv/../docs.ekx
refused 2 "--output and --manifest-out are the same file" $extract --queries queries.tsv -o new.csv --manifest-out d.csv/../new.csv
refused 2 "--manifest-out and --features are the same file" $extract --queries queries.tsv --features some.yaml -o new.csv --manifest-out some.yaml
refused 2 "--manifest-out and --index are the same file" extract --collection docs.jsonl --index new --queries queries.tsv --manifest-out new -o x.csv
refused 2 "--index and --collection are the same file" extract --collection docs.jsonl --index docs.jsonl
cmp docs.jsonl kept.jsonl
refused 2 "only one output can use standard output" $extract --queries queries.tsv --manifest-out -
refused 2 "only one output can use standard output" $extract --queries queries.tsv --manifest-out - -o x.csv --json
refused 2 "--queries and --qrels cannot both be standard input" $extract --queries - --qrels -
refused 2 "--top is for BM25, so it excludes --candidates" $extract --queries queries.tsv --candidates run.txt --top 5
refused 2 "--memory and --collection-format need --collection" $extract --queries queries.tsv --memory 1MiB
refused 2 "to extract features, --queries is needed" extract --collection docs.jsonl --index x.ekx --top 5
quiet "$EK" $extract --queries queries.tsv -o /dev/null --manifest-out /dev/null

# The extension of the name selects the format, not that of its folder.
quiet "$EK" $extract --queries queries.tsv --top 1 -o d.csv/x.letor
head -n 1 d.csv/x.letor | grep -q '^0 qid:q1 ' || fail "$(head -c 80 d.csv/x.letor)"
quiet "$EK" $extract --queries queries.tsv --top 1 -o X.CSV
head -n 1 X.CSV | grep -q '^query,document,label,' || fail "$(head -c 80 X.CSV)"
