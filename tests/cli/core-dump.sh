# A process with any kind of secret writes no core dump.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 100 --manifest-out features.yaml -o train.txt
quiet "$EK" profile --manifest features.yaml --letor train.txt -o profile.ekp
echo 'ana 0123456789-a-token-of-ana' >tokens.txt
chmod 600 tokens.txt
cat >aborted.py <<'END'
"""aborted.py WORDS...: whether the system would dump the process that these start, ended by SIGABRT when it has started."""
import os, resource, signal, subprocess, sys

most = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (most, most))
process = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, text=True)
started = any("event=service_started" in line for line in process.stderr)
process.send_signal(signal.SIGABRT)
status = os.waitpid(process.pid, 0)[1]
print("dumped" if started and os.WCOREDUMP(status) else "none" if started else "not started")
END
says() { # expected, configuration lines...
	want=$1
	shift
	printf '%s\n' 'assets: {manifest: features.yaml, profile: profile.ekp}' 'output: {topic: b, dead_letter_topic: c}' "$@" >run.yaml
	said=$(python3 -B aborted.py "$EK" run -c run.yaml)
	[ "$said" = "$want" ] || fail "$said instead of $want: $*"
}
plain='input: {brokers: "127.0.0.1:1", topics: [a], group: g}'
password='input: {brokers: "127.0.0.1:1", topics: [a], group: g, librdkafka: {sasl.password: one-of-mine}}'
off='http: {listen: "off"}'
if ! (says dumped "$plain" "$off") >why; then
	grep -q '^none' why || fail "$(cat why)"
	echo "nothing is dumped here in any case"
	exit 77
fi
says none "$password" "$off"
says none "$plain" 'http: {listen: "off", token_file: tokens.txt}'
says none "$plain" "$off" 'alerts: [{webhook: {url: "http://127.0.0.1:1/a-secret"}}]'
says dumped "$password" "$off" 'service: {core_dumps: on}'
