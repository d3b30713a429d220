# Checkpoints in a capture of their records, as a table and as JSON; without records the output is empty.
. "$(dirname "$0")/prelude"
golden=$tests/format/golden/state-1.ekc

"$EK" inspect "$golden" >table
for line in 'capture' 'state of scored/0' '  checkpoint      1' '  lists           150' '  plan            version 1'; do
	grep -qxF "$line" table || fail "no '$line' in $(cat table)"
done
"$EK" inspect --json "$golden" >json
grep -q '"checkpoints":\[{"prefix":"scored/0","checkpoint":1,"complete":true,' json || fail "$(cat json)"

"$EK" inspect --json "$tests/format/golden/capture-1.ekc" >json
grep -q checkpoints json && fail "checkpoints in a capture that has none"

# a missing record: a header without a complete checkpoint
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$tests/format python3 - "$golden" >less <<'END'
import sys
import read_capture
data, at = open(sys.argv[1], "rb").read(), 0
while at < len(data):
    (_, _, _, key, size), end = read_capture.unpack(data, at)
    if key != b"scored/0:plan.000":
        sys.stdout.buffer.write(data[at:end + size])
    at = end + size
END
quiet "$EK" inspect less
grep -qxF '  full            none is complete' said || fail "$(cat said)"
quiet "$EK" inspect --json less
grep -q '"checkpoints":\[{"prefix":"scored/0","checkpoint":0,"complete":false}\]' said || fail "$(cat said)"
