# Commands for a running instance: they need no broker, and the errors of the instance are printed unchanged.
pid=
. "$(dirname "$0")/prelude"
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT

quiet "$EK" generate hotel --lists 300 --seed 1 --manifest-out features.yaml -o train.txt
quiet "$EK" profile --manifest features.yaml --letor train.txt -o profile.ekp
printf 'version: 1\nsegments: [arm]\n' >rules.yaml
echo 'ana 0123456789-a-token-of-ana' >tokens.txt
chmod 600 tokens.txt
port=$(python3 "$tests/ports.py")
cat >run.yaml <<END
input: {brokers: "127.0.0.1:1", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
assets: {manifest: features.yaml, profile: profile.ekp, rules: rules.yaml}
http: {listen: "127.0.0.1:$port", token_file: tokens.txt}
END
refused 1 "connection refused" accept price -c run.yaml
"$EK" run -c run.yaml 2>log &
pid=$!
for i in $(seq 300); do
	"$EK" status -c run.yaml >said 2>chatter && break
	kill -0 $pid 2>/dev/null || fail "it ended: $(cat log)"
	sleep 0.1
done
tr '\n' ' ' <said | grep -q '^evenkeel not ready, .*, open findings 0, plan 0 ' || fail "$(cat said chatter)"
for i in $(seq 150); do # the reason that it is not ready, as soon as it is known
	grep -q '^ready  *no: no_broker, .' said && break
	sleep 0.1
	"$EK" status -c run.yaml >said
done
grep -q '^ready  *no: no_broker, .' said || fail "$(cat said)"
grep -qx 'no open findings' said || fail "$(cat said)"
grep -qx 'no active mitigations' said || fail "$(cat said)"
"$EK" status -c run.yaml --json | python3 -c 'import json, sys; json.load(sys.stdin)["plan_version"]'

refused 1 "no item feature 'prise', did you mean 'price'?" accept prise -c run.yaml
refused 1 "no segment 'arn', did you mean 'arm'?" accept price --segment arn=B -c run.yaml
refused 1 "no change of 'price' is confirmed in" accept price -c run.yaml --reason "a new tariff"
refused 1 "gone.txt" accept price --url "http://127.0.0.1:$port" --token-file gone.txt
refused 1 "a token is required" revert 7 --url "http://127.0.0.1:$port"
refused 1 "nothing was accepted that could be reverted" revert 7 -c run.yaml
refused 2 "a feature is needed" accept -c run.yaml
refused 2 "unexpected 'rating'" accept price rating -c run.yaml
refused 2 "--segment must be like arm=B" accept price --segment B -c run.yaml
refused 2 "invalid version 'one'" revert one -c run.yaml
refused 2 "a version is needed" revert -c run.yaml
refused 2 "--config or --url is needed" revert 1
month=$(date -u +%Y-%m)
quiet "$EK" pause -c run.yaml --reason "looks odd"
"$EK" status -c run.yaml | grep -Eqx "paused             yes, since ($month|$(date -u +%Y-%m))-.. ..:.. UTC, by ana: looks odd" || fail "not paused"
refused 2 "--action is needed" pin price -c run.yaml
refused 2 "--segment needs --feature" resume --segment arm=B -c run.yaml
refused 1 "unknown action 'rout', did you mean 'route'?" pin price --action rout -c run.yaml
refused 1 "'until' must be a date like 2027-01-31" pin price --action none --until soon -c run.yaml
refused 1 "did you mean 'price'?" resume --feature prise -c run.yaml
refused 1 "there is no model for action 'route'" pin price --action route -c run.yaml
[ "$("$EK" pin price --segment arm=B --action none --until 2999-01-31 --reason "miles in B" -c run.yaml)" = \
	"price, arm=B: pinned to none
note: arm=B has no separate statistics yet; check the spelling" ] || fail "not pinned"
[ "$("$EK" unpin price --segment arm=B -c run.yaml)" = "price, arm=B: unpinned" ] || fail "not unpinned"
refused 1 "price" unpin price --segment arm=B -c run.yaml

# Only commands that change state require the variables of the unit.
sed 's/tokens.txt/"${CREDENTIALS_DIRECTORY}\/tokens.txt"/' run.yaml >unit.yaml
cat >>unit.yaml <<END
alerts: [webhook: {url: "\${file:/gone/url}"}, kafka: {topic: news}]
END
sed -i "s/group: g/group: g, librdkafka: {sasl.password: '\${EK_NOT_SET}'}/" unit.yaml
"$EK" status -c unit.yaml | grep -q '^paused             yes' || fail "asked for a secret"
sed 's/input: {/&delivery: exactly_once, commit_interval: 8s, /' unit.yaml >part.yaml # omitted values are not compared
cat >>part.yaml <<'END'
fleet: {topic: fl, report_interval: "${EK_NOT_SET}", leader_timeout: 2s}
limits: {transaction_timeout: "${EK_NOT_SET}"}
END
"$EK" status -c part.yaml | grep -q '^paused             yes' || fail "asked for a tick"
refused 78 "environment variable 'CREDENTIALS_DIRECTORY' is not set; systemd sets it only for the unit" resume -c unit.yaml
CREDENTIALS_DIRECTORY=. quiet "$EK" resume -c unit.yaml
quiet "$EK" pause -c unit.yaml --token-file tokens.txt
quiet "$EK" resume -c unit.yaml --token-file tokens.txt
quiet "$EK" pause -c run.yaml
sed 's/127.0.0.1:'$port'/${EK_NOT_SET}/' unit.yaml >nowhere.yaml
refused 78 "nowhere.yaml:4:16: environment variable 'EK_NOT_SET' is not set" status -c nowhere.yaml
printf 'version: 1\ndefaults: {mod: observe}\n' >wrong.yaml
sed 's/rules.yaml/wrong.yaml/' unit.yaml >faults.yaml
status=0
"$EK" check faults.yaml >said 2>chatter || status=$?
[ $status = 78 ] && [ "$(wc -l <said)" = 4 ] || fail "status $status: $(cat said chatter)"
for fault in "faults.yaml:1:.*'EK_NOT_SET' is not set" "faults.yaml:3:.*wrong.yaml:2:12: .*'mode'" "faults.yaml:4:.*CREDENTIALS_DIRECTORY" "faults.yaml:5:.*/gone/url"; do
	grep -q "$fault" said || fail "no '$fault' in $(cat said)"
done
quiet "$EK" profile --manifest features.yaml --letor train.txt -c faults.yaml -o other.ekp
chmod 644 tokens.txt # others can read it: no fault, but told
"$EK" check run.yaml | grep -qE "^run.yaml: configuration, ok \(run.yaml:4:[0-9]+: all users of this machine can read 'tokens.txt'; run chmod o-r\)" || fail "not told: $("$EK" check run.yaml)"
chmod 600 tokens.txt

"$EK" history -c run.yaml >said
grep -qE '^ +1  [0-9-]+ [0-9:]+  ana: pause; looks odd; plan 1$' said || fail "$(cat said)"
grep -qE '^ +2  [0-9-]+ [0-9:]+  ana: pin price, arm=B; none; miles in B$' said || fail "$(cat said)"
"$EK" history -c run.yaml --details >said
grep -q '^NO  *STREAM TIME, UTC  *WHAT' said || fail "$(cat said)"
grep -qE '^2 +[0-9-]+ [0-9:]+ +pin +price, arm=B +ana +none; miles in B$' said || fail "$(cat said)"
[ "$("$EK" history -c run.yaml --last 5 --feature taxes)" = "no decisions" ] || fail "of a feature"
refused 1 "no item feature 'a b&n=1'" history -c run.yaml --feature 'a b&n=1'
refused 1 "'n' must be a positive integer" history -c run.yaml --last x
[ "$("$EK" incidents -c run.yaml)" = "no incidents" ] || fail "$("$EK" incidents -c run.yaml)"
[ "$("$EK" incidents -c run.yaml --json --last 3 --feature taxes)" = "[]" ] || fail "incidents of a feature"
refused 1 "no item feature 'prise', did you mean 'price'?" incidents -c run.yaml --feature prise
# Files are read again, or refused as a whole with every fault at its place.
[ "$("$EK" reload -c run.yaml)" = "reloaded: evidence, findings and routes go on" ] || fail "not reloaded"
printf 'version: 1\nsegments: [arm]\ndefaults: {mod: observe, min_duration: 10}\n' >rules.yaml
status=0
"$EK" reload -c run.yaml >said 2>chatter || status=$?
[ $status = 78 ] || fail "status $status: $(cat said chatter)"
grep -q "rules.yaml:3:.*did you mean 'mode'" said || fail "$(cat said chatter)"
grep -q "rules.yaml:3:.*'min_duration'" said || fail "$(cat said chatter)"
printf 'version: 1\nsegments: [app]\n' >rules.yaml
status=0
"$EK" reload -c run.yaml >said 2>chatter || status=$?
[ $status = 78 ] || fail "status $status: $(cat said chatter)"
[ "$("$EK" reload -c run.yaml --reset-state)" = "reloaded: evidence, findings and routes are reset" ] || fail "not reset"
"$EK" reload -c run.yaml --reset-state --json | grep -q '"state":"done","reload":5,.*"actor":"ana"' || fail "no JSON"
refused 1 "a token is required" reload --url "http://127.0.0.1:$port"
kill -TERM $pid
wait $pid || fail "$(cat log)"
pid=
! grep -q 0123456789-a-token log || fail "a token is in the log"
