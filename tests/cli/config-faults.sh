# Errors in the configuration or a file named by it exit with 78, invalid options with 2.
. "$(dirname "$0")/prelude"

fail() {
	echo "$1"
	cat said
	exit 1
}
ends() { # status, expected text, command...
	want=$1 words=$2 status=0
	shift 2
	timeout 20 "$EK" "$@" >said 2>&1 </dev/null || status=$?
	[ $status = "$want" ] || fail "status $status instead of $want: $*"
	grep -qF -- "$words" said || fail "does not say '$words': $*"
}
config() { # manifest, profile
	cat >run.yaml <<END
input:  {brokers: "127.0.0.1:1", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
assets: {manifest: $1, profile: $2}
END
}

"$EK" generate hotel --lists 200 --manifest-out hotel.yaml -o lists.txt 2>said
"$EK" profile --manifest hotel.yaml --letor lists.txt -o profile.ekp 2>said
head -c 2000 profile.ekp >cut.ekp
printf 'no model at all' >model

ends 2 "did you mean 'evenkeel run -c run.yaml'?" run run.yaml
ends 78 'cannot open' run -c gone.yaml
ends 78 'cannot read: is a directory' run -c .
config gone.yaml profile.ekp
ends 78 'gone.yaml: cannot open' run -c run.yaml
config hotel.yaml gone.ekp
ends 78 'gone.ekp: cannot open' run -c run.yaml
config hotel.yaml cut.ekp
ends 78 'cut.ekp' run -c run.yaml
ends 78 'gone.yaml: cannot open' replay -m gone.yaml -p profile.ekp
ends 78 'cut.ekp' replay -m hotel.yaml -p cut.ekp
ends 78 'gone.rules: cannot open' replay -m hotel.yaml -p profile.ekp -r gone.rules
ends 78 'model' replay -m hotel.yaml -p profile.ekp -M model
ends 1 'gone.msg: cannot open' replay -m hotel.yaml -p profile.ekp -i gone.msg
for tokens in gone.txt empty.txt short.txt; do
	config hotel.yaml profile.ekp
	echo 'http: {token_file: '$tokens'}' >>run.yaml
	: >empty.txt
	echo 'ana tooshort' >short.txt
	case $tokens in
	gone.txt) said="run.yaml:4:8: 'http.token_file': gone.txt: cannot open" ;;
	empty.txt) said="'http.token_file': empty.txt: the file has no token" ;;
	short.txt) said="'http.token_file': short.txt:1: a token must have 16 to 200 characters" ;;
	esac
	ends 78 "$said" run -c run.yaml
	ends 78 "$said" check run.yaml
	ends 78 "$said" pause -c run.yaml
done
ends 2 '--config or --url is needed' pause
ends 2 'is not like http://127.0.0.1:9464' status --url ftp://127.0.0.1:9464
ends 1 '127.0.0.1:1: connection refused' status --url http://127.0.0.1:1
config hotel.yaml profile.ekp
echo 'http: {listen: off}' >>run.yaml
ends 78 "'http.listen' is off, so the instance has no API" status -c run.yaml
# A port that another has is no fault of the file: it may be free the next time.
config hotel.yaml profile.ekp
python3 - "$EK" <<'END' || fail 'a busy port is not told'
import socket, subprocess, sys
with socket.socket() as busy:
    busy.bind(("127.0.0.1", 0))
    busy.listen()
    at = "127.0.0.1:%d" % busy.getsockname()[1]
    with open("run.yaml", "a") as out:
        out.write('http: {listen: "%s"}\n' % at)
    done = subprocess.run([sys.argv[1], "run", "-c", "run.yaml"], stderr=subprocess.PIPE, timeout=20)
    said = done.stderr.decode()
    sys.exit(done.returncode != 1 or f"'http.listen': cannot listen on {at}: address already in use" not in said)
END
