# Command lines: help for each command, hints for misspellings, and valid combinations of arguments.
. "$(dirname "$0")/prelude"

"$EK" --help >help
commands=$(sed -nE 's/^  ([a-z]+) .*/\1/p' help)
[ "$(echo "$commands" | wc -l)" -ge 22 ] || fail "few commands: $commands"
for command in $commands; do
	quiet "$EK" "$command" --help
	[ -s said ] && [ ! -s chatter ] || fail "$command: no help, or some of it on stderr"
	! LC_ALL=C.UTF-8 grep -E '^.{80}' said | grep -v '^FEATURE' || fail "$command: too wide"
	"$EK" help "$command" | cmp - said || fail "help $command is another one"
	refused 2 "unknown option '--helo', did you mean '--help'?" "$command" --helo
	refused 2 "Try 'evenkeel $command --help'." "$command" --no-such-thing
done
for word in -h -? help; do
	"$EK" $word | cmp - help || fail "$word is no help"
done
[ "$("$EK" -V)" = "$("$EK" --version)" ] || fail "two versions"
refused 2 "unknown command 'stauts', did you mean 'status'?" stauts
refused 2 "unknown command 'stauts', did you mean 'status'?" help stauts
refused 2 "expected a command before '--json'" --json
refused 2 "Usage: evenkeel COMMAND"

# Every example in a help text is valid: only its files are missing.
for command in $commands; do
	"$EK" "$command" --help | sed -nE 's/^  evenkeel //p'
done >examples
[ "$(wc -l <examples)" -ge 12 ] || fail "few examples: $(cat examples)"
while read -r words; do
	status=0
	case $words in
	"watch "*) set -- timeout 5 "$EK" ;; # it waits for a broker
	*) set -- "$EK" ;;
	esac
	# shellcheck disable=SC2086 # words
	"$@" $words >out 2>err </dev/null || status=$?
	case $words:$status in
	"watch "*:124 | "generate "*:0) ;;
	*:1 | *:78) grep -qE 'no such file' err out || fail "$words: $(cat err)" ;;
	*) fail "status $status of $words: $(cat err)" ;;
	esac
done <examples

# A short option has one meaning in all commands.
for command in $commands; do
	"$EK" "$command" --help | sed -nE 's/^ +-([a-zA-Z]), --([a-z-]+).*/\1 \2/p'
done | sort -u >short
twice=$(cut -d' ' -f1 short | uniq -d)
[ -z "$twice" ] || fail "short options with two meanings: $twice"
[ "$(wc -l <short)" -ge 15 ] || fail "few short options: $(cat short)"

# Near misses; what an option takes is no option, abbreviations are, and nothing is behind --.
refused 2 "unknown option '--lsts', did you mean '--lists'?" generate hotel --lsts 4
refused 2 "unknown option '--lsts', did you mean '--lists'?" generate hotel --lsts=4
refused 2 "fault '--quries'" generate hotel --fault --quries
refused 2 "fault '--quries'" generate hotel -n1 -s 2 --fault --quries --fault=x
refused 2 "--seed needs a whole number, not '--quries'" generate hotel -n 1 -s --quries
refused 2 "unexpected argument '--quries'" generate hotel -- --quries
quiet "$EK" generate hotel --list 2 --out few.txt
refused 2 "invalid option -- 'z'" generate hotel -z
refused 2 "--loss: unknown value 'listnt' (listnet, listmle, approxndcg)" train --loss listnt

# One stream may be used once.
for words in "generate hotel" "generate hotel -o x --manifest-out -" "convert --manifest h --letor t" "export --onnx m -o -" \
	"capture -b 127.0.0.1:1 -t x -o -" "profile --manifest h --letor t -o -"; do
	# shellcheck disable=SC2086 # words
	refused 2 "standard output" $words --json
done
refused 2 "standard output" generate hotel --manifest-out -
