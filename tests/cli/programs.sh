# Commands of evenkeel-tools: from either program, from any installation path, and without it.
. "$(dirname "$0")/prelude"

commands=$("$EK-tools" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | tr '\n' ' ')
[ "$commands" = "generate convert normalize select extract " ] || fail "commands: $commands"
for command in $commands; do
	"$EK" --help | grep -q "^  $command " || fail "evenkeel --help lacks $command"
	"$EK" "$command" --help >one 2>&1
	"$EK-tools" "$command" --help >other 2>&1
	"$EK" help "$command" >third 2>&1
	cmp one other && cmp one third || fail "two helps of $command"
	grep -q "^Usage: evenkeel $command" one || fail "usage of $command: $(head -n 1 one)"
done
[ "$("$EK-tools" --version)" = "$("$EK" --version | sed 's/evenkeel/evenkeel-tools/')" ] || fail "versions differ"

mkdir bin
cp "$EK" bin/evenkeel
here=$EK
EK=$work/bin/evenkeel
refused 1 "evenkeel: no program 'evenkeel-tools' in '$work/bin'; 'generate' needs the package evenkeel-tools" generate hotel
mkdir -p libexec/evenkeel
cp "$here-tools" libexec/evenkeel/
quiet "$EK" generate hotel --lists 2 -o libexec.txt
mv libexec/evenkeel/evenkeel-tools bin/
quiet "$EK" generate hotel --lists 2 -o bin.txt
cmp bin.txt libexec.txt
refused 2 "evenkeel generate: " generate
# Through a symbolic link, such as in /usr/local/bin.
ln -s "$EK" link
quiet ./link generate hotel --lists 2 -o link.txt
chmod a-r,a-w,a-x bin/evenkeel-tools
refused 1 "evenkeel: cannot execute 'evenkeel-tools': Permission denied" generate hotel
