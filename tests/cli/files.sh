# Files that are missing, empty, folders or unwritable: each has an error and a status, and no partial file remains.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 40 --manifest-out h.yaml -o t.txt
quiet "$EK" generate hotel --lists 40 --format messages -o m.msgpack
quiet "$EK" profile --manifest h.yaml --letor t.txt -o p.ekp
quiet "$EK" train --manifest h.yaml --train t.txt --vali t.txt --epochs 1 --hidden 4 -o m.safetensors
mkdir folder
: >empty

# All inputs. Configuration files exit with 78.
with() { # text, file: every command that reads, with that file as each input
	for words in "1 profile -m h.yaml -l $2 -o x" "1 convert -m h.yaml --letor $2 -o x" "1 train -m h.yaml --train $2 --vali t.txt -o x" \
		"1 eval -m h.yaml --model $2 --data t.txt" "1 eval -m h.yaml --model m.safetensors --data $2" "1 export --onnx $2 -o x" \
		"1 inspect $2" "78 run -c $2" "78 status -c $2" "78 capture -c $2 -t x -o x" "78 replay -m h.yaml -p $2 -i m.msgpack" \
		"78 replay -m h.yaml -p p.ekp -r $2 -i m.msgpack" "1 replay -m h.yaml -p p.ekp -i $2"; do
		# shellcheck disable=SC2086 # words
		refused ${words%% *} "$1" ${words#* }
		[ ! -e x ] || fail "left a file: $words"
	done
}
with "gone: cannot open: no such file or directory" gone
with "folder: cannot read: is a directory" folder
# Inputs that may be empty.
for words in "profile -m empty -l t.txt -o x" "convert -m empty --letor t.txt -o x" "run -c empty" "status -c empty" \
	"capture -c empty -t x -o x" "replay -m h.yaml -p p.ekp -r empty -i m.msgpack"; do
	# shellcheck disable=SC2086 # words
	refused 78 "empty:1:1: the file is empty" $words
done
refused 78 "empty: too short for a safetensors file" replay -m h.yaml -p empty -i m.msgpack
refused 1 "empty: too short for a safetensors file" eval -m h.yaml --model empty --data t.txt
refused 1 "no list with items" profile -m h.yaml -l empty -o x
refused 1 "empty: the file has no lists" eval -m h.yaml --model m.safetensors --data empty
# A pipe, whose begin would be lost.
mkfifo pipe
refused 2 "pipe: not a file, and its lists are read twice; write them to a file" eval -m h.yaml --model m.safetensors --data pipe

# All outputs: an existing folder, a missing folder, a full disk. Existing files stay unchanged.
for words in "generate hotel -n 5" "convert -m h.yaml --letor t.txt" "profile -m h.yaml -l t.txt" "export --onnx m.safetensors" \
	"train -m h.yaml --train t.txt --vali t.txt --epochs 1 --hidden 4" "replay -m h.yaml -p p.ekp -i m.msgpack"; do
	# shellcheck disable=SC2086 # words
	refused 1 "folder: cannot open for writing: is a directory" $words -o folder
	# shellcheck disable=SC2086 # words
	refused 1 "away/x: cannot create: no such file or directory" $words -o away/x
	# shellcheck disable=SC2086 # words
	refused 1 "/dev/full: cannot write: no space left on device" $words -o /dev/full
done
refused 1 "folder: cannot open for writing" generate hotel -n 5 --manifest-out folder -o x
[ ! -e x ] || fail "lists without their manifest"
cp p.ekp before
refused 1 "gone: cannot open" profile -m h.yaml -l gone -o p.ekp
cmp p.ekp before
quiet "$EK" profile -m h.yaml -l t.txt -o p.ekp
cmp p.ekp before # overwritten

# A failed write to standard output is an error, except for a closed pipe.
for words in "--help" "generate --help" "inspect p.ekp" "inspect p.ekp --json" "inspect p.ekp --plot price" "check h.yaml" \
	"generate hotel -n 5" "eval -m h.yaml --model m.safetensors --data t.txt --json" "profile -m h.yaml -l t.txt -o x.ekp --json"; do
	status=0
	# shellcheck disable=SC2086 # words
	"$EK" $words >/dev/full 2>err || status=$?
	[ $status = 1 ] || fail "status $status on a full disk: $words"
	grep -qE 'cannot write' err || fail "not told: $words $(cat err)"
	# shellcheck disable=SC2086 # words
	python3 -c 'import os, subprocess, sys
r, w = os.pipe()
os.close(r)
done = subprocess.run(sys.argv[1:], stdout=w, stderr=subprocess.PIPE, text=True)
assert done.returncode == 141, done
assert "write" not in done.stderr and "pipe" not in done.stderr, done' "$EK" $words || fail "into a closed pipe: $words"
done

# Standard output named as a file is appended to, not replaced.
echo kept >log
"$EK" generate hotel --lists 5 --seed 1 -o /dev/stdout >>log 2>chatter
[ "$(head -n 1 log)" = kept ] || fail "what was in the file is gone"
[ "$(wc -l <log)" -gt 1 ] || fail "nothing was written behind it"
refused 2 "standard output" generate hotel --lists 5 --seed 1 --json -o /dev/stdout
refused 78 "gone.yaml" profile -c gone.yaml -m h.yaml -i t.mp -o x.ekp
