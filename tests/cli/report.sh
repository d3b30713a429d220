# evenkeel report: one HTML file of recorded messages, with the incident, without requests, and below 1 MB for 200 features.
. "$(dirname "$0")/prelude"

cat >read.py <<'END'
"""Print the responses of a report as JSON: read.py FILE [PATH]"""
import base64
import gzip
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    page = file.read()
assert len(page) < 1_000_000, len(page)
assert not re.search(r"(https?:)?//[a-z0-9]+\.[a-z]", re.sub(r"base64,[^\"]*|http://www.w3.org/2000/svg", "", page)), "another host"
assert not re.search(r'(src|href)="(?!#)', page), "a file next to it"
for module in re.findall(r'data:text/javascript;base64,([^"]*)"', page):
    text = base64.b64decode(module).decode().replace("http://www.w3.org/2000/svg", "")
    assert 'from "./' not in text and not re.search(r"https?://[a-z]", text), text[:200]
data = json.loads(gzip.decompress(base64.b64decode(re.search(r'id="report">([^<]*)<', page).group(1))))
responses = data.pop("responses")
print(json.dumps(responses[sys.argv[2]] if len(sys.argv) > 2 else {**data, "paths": len(responses)}))
END
said_by() { # file, path: expected text of a response
	python3 read.py "$1" "$2" >said || fail "$1 $2"
	grep -qF -- "$3" said || fail "'$3' is not in: $(head -c 3000 said)"
}

quiet "$EK" generate hotel --lists 1500 --seed 3 --manifest-out hotel.yaml -o train.txt
quiet "$EK" profile --manifest hotel.yaml --letor train.txt -o p.ekp
quiet "$EK" train --manifest hotel.yaml --train train.txt --vali train.txt --epochs 1 -o m.safetensors
quiet "$EK" generate hotel --lists 2500 --seed 4 --format messages --upstream-model m.safetensors \
	--fault price=x100,from=300,to=900 -o in.msg
printf 'version: 1\ndefaults: {mode: enforce}\n' >rules.yaml
cat >run.yaml <<'END'
input: {brokers: "localhost:1", topics: [scored], group: g}
output: {topic: ranked}
assets: {manifest: hotel.yaml, profile: p.ekp, rules: rules.yaml, model: m.safetensors}
END
quiet "$EK" report -m hotel.yaml -p p.ekp -r rules.yaml -M m.safetensors -i in.msg -o week.html
[ "$(stat -c %a week.html)" = 600 ] || fail "others can read it"
said_by week.html api/v1/incidents '"state": "recovered", "feature": "price", "segment": null'
said_by week.html api/v1/incidents '"unit": "cents", "ratio": 100'
said_by week.html api/v1/incidents '"mitigation": "route", "mode": "enforce"'
said_by week.html api/v1/incidents '"plan_vs_upstream": {"lists": '
said_by week.html api/v1/features/price '"history": {"alarm_ln"'
said_by week.html "api/v1/samples?feature=price" '"upstream_rank": 1'
said_by week.html api/v1/status '"observed_lists": 2500'
# With the assets of a configuration, and from standard input: the same but for its name.
quiet "$EK" report -c run.yaml -i - -o - <in.msg
mv said piped.html
said_by piped.html api/v1/incidents '"state": "recovered", "feature": "price", "segment": null'

refused 2 "--output is needed" report -c run.yaml
refused 2 "--config, --url or --messages is needed" report -o x.html
refused 2 "assets need --messages" report -c run.yaml -m hotel.yaml -o x.html
refused 2 "--messages excludes --url" report -i in.msg --url http://127.0.0.1:1 -m hotel.yaml -p p.ekp -o x.html
refused 1 "http://127.0.0.1:1" report --url http://127.0.0.1:1 -o x.html
printf 'nonsense\n' >nonsense.msg
refused 1 "nonsense.msg" report -m hotel.yaml -p p.ekp -i nonsense.msg -o x.html
refused 78 "gone.yaml" report -m gone.yaml -p p.ekp -i in.msg -o x.html
[ ! -e x.html ] || fail "a report of a failure"

# 200 features in all traffic and two arms.
awk 'BEGIN {
	print "features:" >"wide.yaml"
	for (f = 1; f <= 200; f++) printf "  - {name: feature_%d, index: %d, role: item}\n", f, f >"wide.yaml"
	srand(7)
	for (q = 1; q <= 400; q++) for (i = 0; i < 5; i++) {
		printf "%d qid:%d", i == 0, q
		for (f = 1; f <= 200; f++) printf " %d:%.3f", f, exp(2 * rand() + 1)
		print ""
	}
}' >wide.txt
quiet "$EK" profile --manifest wide.yaml --letor wide.txt -o wide.ekp
quiet "$EK" convert --manifest wide.yaml --letor wide.txt --segment arm=A,B --fault feature_7=x100,from=100 -o wide.msg
printf 'version: 1\nsegments: [arm]\n' >arms.yaml
quiet "$EK" report -m wide.yaml -p wide.ekp -r arms.yaml -i wide.msg -o wide.html
said_by wide.html api/v1/incidents '"feature": "feature_7"'
said_by wide.html api/v1/features/feature_7 '"history": {"alarm_ln"'
said_by wide.html api/v1/features/feature_200 '"bins": [{"low"'
