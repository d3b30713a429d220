# evenkeel check: the kind of a file follows from its content; errors have a position; the exit status is 78.
. "$(dirname "$0")/prelude"

says() { # status, complete output, arguments...
	want_status=$1 want=$2
	shift 2
	status=0
	got=$("$EK" check "$@" 2>err) || status=$?
	[ $status = "$want_status" ] || fail "status $status instead of $want_status: check $*: $got"
	[ "$got" = "$want" ] || fail "check $* says '$got' instead of '$want'"
}

cp "$tests/bad/features.yaml" manifest.yaml
printf 'version: 1\ndefaults: {mode: observe}\nfeatures: {price: {mode: enforce}}\n' >a
printf 'defaults:\n  mode: observe\n  dedup_ky: []\n' >b.yaml
printf 'feature:\n  - {name: x, index: 1, role: item}\n' >c.yaml
printf 'limts: {max_routed_features: 3}\n' >d.yaml

says 0 'manifest.yaml: manifest, ok' manifest.yaml
says 0 'a: rules, ok (names of features not checked, because no manifest is given)' a
says 0 'a: rules, ok' --manifest manifest.yaml a
says 0 'a: rules, ok
manifest.yaml: manifest, ok' a manifest.yaml
says 78 "b.yaml:3:3: unknown key 'dedup_ky', did you mean 'dedup_key'?" b.yaml
says 78 "d.yaml:1:1: unknown key 'limts', did you mean 'limits'?" d.yaml
says 78 "b.yaml:3:3: unknown key 'dedup_ky', did you mean 'dedup_key'?
manifest.yaml: manifest, ok" b.yaml manifest.yaml
says 78 'gone.yaml: cannot open: no such file or directory
a: rules, ok' gone.yaml a -m manifest.yaml
says 78 'a: not a manifest, but a rules file' -m a
says 78 "$tests/bad/rules/feature-unknown.yaml:3:3: unknown feature 'prise', did you mean 'price'?" \
	-m manifest.yaml "$tests/bad/rules/feature-unknown.yaml"
says 78 '{"file":"b.yaml","kind":"rules","ok":false,"note":"","errors":[{"file":"b.yaml","line":3,"column":3,"message":"unknown key '"'dedup_ky', did you mean 'dedup_key'?"'"}]}' \
	--json b.yaml

# All errors of a file are listed in order of position.
cat >many.yaml <<'END'
version: 2
features:
  prise: {mode: enforce}
  price: {mode: enforcd, units: [cent, cents], watch: maybe, actions: {scale: root, missing: repair}}
limits: {max_routed_features: -1, max_routed_shares: 1}
defaults:
  min_duration: 10
  report_threshold: 1
  false_alarms: never
pins:
  - {feature: price}
  - {feature: rating, action: nothing}
END
status=0
"$EK" check -m manifest.yaml many.yaml >out || status=$?
[ $status = 78 ] || fail "status $status for many faults"
cut -d: -f2,3 out | tr '\n' ' ' >places
[ "$(cat places)" = '1:10 3:3 4:17 4:34 4:55 4:79 4:94 5:31 5:35 7:17 8:21 9:17 11:5 12:31 ' ] ||
	fail "faults are missed or out of order: $(cat out)"
cat >two.yaml <<'END'
version: 3
features:
  - {name: price, index: 0, role: item}
  - {name: price, rank: 2, index: 1, role: item, type: text}
training: {epochs: none, hidden: 3}
END
status=0
"$EK" check two.yaml >out || status=$?
cut -d: -f2,3 out | tr '\n' ' ' >places
[ "$(cat places)" = '1:10 3:26 4:19 4:56 5:20 5:34 ' ] ||
	fail "faults of a manifest are missed: $(cat out)"

# An unknown feature hides no other error.
cat >hidden.yaml <<'END'
features:
  prise: {mode: enforcd, report_threshold: 0}
pins:
  - {feature: prise, action: nothing, until: someday}
tests:
  - {name: a, inject: {feature: prise, scale: 0}, expect: {class: scal, action: rout}}
END
status=0
"$EK" check -m manifest.yaml hidden.yaml >out || status=$?
cut -d: -f2,3 out | tr '\n' ' ' >places
[ "$(cat places)" = '2:3 2:17 2:44 4:15 4:30 4:46 6:33 6:47 6:67 6:81 ' ] ||
	fail "faults hide behind an unknown feature: $(cat out)"

# Warnings: the first one, and the number of others.
cat >odd.yaml <<'END'
defaults: {mode: enforce}
limits: {max_routed_features: 0}
features:
  rating: {watch: false, mode: enforce, actions: {scale: route}}
tests:
  - {name: none, inject: none, expect: none, lists: 1}
END
odd="odd.yaml:2:31: 'max_routed_features' is 0, so 'enforce' at 1:18 has no effect, and 2 more"
says 0 "odd.yaml: rules, ok ($odd; 1 test passed on synthetic lists)" -m manifest.yaml odd.yaml
says 0 "odd.yaml: rules, ok ($odd; names of features not checked, because no manifest is given; 1 test valid, not run)" \
	--no-tests odd.yaml

# Unit catalogs: the default one, and those named by rules, relative to the rules.
cp "$tests/../rules/units.yaml" copy.yaml
says 0 'copy.yaml: units, ok' copy.yaml
says 78 "$tests/bad/units/key-near.yaml:4:27: unknown key 'faktor', did you mean 'factor'?
$tests/bad/units/key-near.yaml:4:47: 'factor' is 1: that changes nothing" "$tests/bad/units/key-near.yaml"
mkdir own
printf 'units: [{id: points, factor: 250, text: points}]\n' >own/units.yaml
printf 'units: [units.yaml]\nfeatures: {price: {units: [points]}}\n' >own/rules.yaml
says 0 'own/rules.yaml: rules, ok' -m manifest.yaml own/rules.yaml
printf 'units: [{id: points, factor: 0, text: points}, {id: Points, factor: 2}]\n' >own/units.yaml
says 78 "own/rules.yaml:1:9: 'units': own/units.yaml:1:30: 'factor' must be between 1e-12 and 1e+12, not '0'
own/rules.yaml:1:9: 'units': own/units.yaml:1:48: the unit has no 'text'
own/rules.yaml:1:9: 'units': own/units.yaml:1:53: an id is 1 to 60 small letters, digits and underscores, a letter first, not 'Points'" -m manifest.yaml own/rules.yaml

# Models, profiles and configurations.
quiet "$EK" generate hotel --lists 200 --manifest-out hotel.yaml -o lists.txt
quiet "$EK" profile --manifest hotel.yaml --letor lists.txt -o profile.ekp
says 0 'profile.ekp: profile, ok
hotel.yaml: manifest, ok' profile.ekp hotel.yaml
says 0 'profile.ekp: profile, ok (not checked against a manifest, because none is given)' profile.ekp
status=0
"$EK" check -m manifest.yaml profile.ekp >out || status=$?
[ $status = 78 ] || fail "status $status for a profile of another manifest"
grep -q '^profile.ekp: .*manifest' out || fail "not told why: $(cat out)"
head -c 2000 profile.ekp >cut.ekp
status=0
"$EK" check cut.ekp >out || status=$?
[ $status = 78 ] || fail "status $status for a profile that is cut short: $(cat out)"
cat >run.yaml <<'END'
input:  {brokers: "localhost:9092", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
assets: {manifest: hotel.yaml, profile: profile.ekp}
END
says 0 'run.yaml: configuration, ok' run.yaml

# With --config alone: the configuration.
says 0 'run.yaml: configuration, ok' --config run.yaml
sed '$a limts: {segments: 8}' run.yaml >broken.yaml
says 78 "broken.yaml:4:1: unknown key 'limts', did you mean 'limits'?" --config broken.yaml

# check rejects assets that run would reject, with the same messages.
mkdir sub
echo 'defaults: {mode: enforcd}' >wrong.yaml
cat >sub/run.yaml <<'END'
input:  {brokers: "localhost:9092", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
assets:
  manifest: ../manifest.yaml
  profile: ../profile.ekp
  rules: ../wrong.yaml
  model: gone.safetensors
END
status=0
"$EK" check sub/run.yaml >out || status=$?
[ $status = 78 ] || fail "status $status for assets that do not fit"
[ "$(cut -d: -f1-4 out)" = "sub/run.yaml:5:3: 'assets.profile'
sub/run.yaml:6:3: 'assets.rules'
sub/run.yaml:7:3: 'assets.model'" ] || fail "faults of the assets: $(cat out)"
grep -qF "'assets.rules': sub/../wrong.yaml:1:18: " out || fail "no place in the rules: $(cat out)"
grep -qF "'assets.model': sub/gone.safetensors: cannot open" out || fail "not told what is gone: $(cat out)"
status=0
"$EK" run -c sub/run.yaml 2>err || status=$?
[ $status = 78 ] || fail "run ends with $status for a configuration that cannot be used"
grep -qF "evenkeel: $(head -1 out)" err || fail "run says other words: $(cat err)"
sed -i 's/manifest.yaml/gone.yaml/; s/wrong.yaml/a/' sub/run.yaml
status=0
"$EK" check sub/run.yaml >out || status=$?
[ "$(cut -d: -f1-4 out)" = "sub/run.yaml:4:3: 'assets.manifest'
sub/run.yaml:7:3: 'assets.model'" ] || fail "a manifest that is gone: $(cat out)"

sed -i 's/dead_letter/dead_leter/' run.yaml
status=0
"$EK" check run.yaml >out || status=$?
[ $status = 78 ] || fail "status $status for a wrong configuration"
grep -q '^run.yaml:2:.*dead_letter' out || fail "no hint: $(cat out)"

# Rules whose features are a list, as in a manifest, are reported as invalid rules.
for key in 'defaults: {mode: observe}' 'limits: {max_routed_features: 1}' 'pins: []'; do
	printf 'features: [price]\n%s\n' "$key" >listed.yaml
	says 78 "listed.yaml:1:11: 'features' must be a mapping (key: value), not a list" listed.yaml
done

# All commands reject files of another kind with a clear message.
plain() { # expected text, arguments...
	want=$1
	shift
	status=0
	"$EK" "$@" >out 2>err || status=$?
	[ $status != 0 ] || fail "taken: $*"
	grep -qF -- "$want" err || fail "'$want' is not in: $(cat err)"
}
quiet "$EK" generate hotel --lists 20 --format messages -o bare.msg
quiet "$EK" generate hotel --lists 200 --from 200 -o vali.txt
"$EK" train --manifest hotel.yaml --train lists.txt --vali vali.txt --epochs 1 --hidden 2 -o m.safetensors >out 2>&1
plain 'bare.msg: these are messages, not LETOR text' profile -m hotel.yaml --letor bare.msg -o x
plain 'lists.txt: this is LETOR text, not messages' profile -m hotel.yaml --messages lists.txt -o x
plain 'profile.ekp: this is a profile, not a model' eval -m hotel.yaml --model profile.ekp --data lists.txt
plain 'a: these look like rules, not a manifest' eval -m a --model m.safetensors --data lists.txt
plain 'a: these look like rules, not a configuration' run -c a
plain 'm.safetensors: this is a model, not a profile' replay -m hotel.yaml -p m.safetensors -i bare.msg
plain 'profile.ekp: this is a profile, not a model' generate hotel --lists 1 --format messages --upstream-model profile.ekp -o x
plain 'a: these look like rules, not a manifest' convert --manifest a lists.txt -o x
plain 'hotel.yaml: this is a manifest, not a profile, model or capture' inspect hotel.yaml
plain 'lists.txt: this is LETOR text, not a profile, model or capture' inspect lists.txt
says 0 'lists.txt: LETOR text, ok (not checked against a manifest, because none is given)' lists.txt
says 0 'lists.txt: LETOR text, ok
bare.msg: messages, ok' -m hotel.yaml lists.txt bare.msg
sed '3s/^[0-9.]*/x/' lists.txt >wrong.txt
status=0
"$EK" check -m hotel.yaml wrong.txt >out || status=$?
[ $status = 78 ] || fail "status $status for LETOR text with a fault"
grep -q '^wrong.txt:3:' out || fail "no place: $(cat out)"
# A canary that cannot grow under the configuration.
printf 'features: {price: {mode: canary}}\n' >canary.yaml
cat >trials.yaml <<'END'
input:    {brokers: "localhost:9092", topics: [scored], group: g}
output:   {topic: ranked, dead_letter_topic: ranked.dead}
assets:   {manifest: hotel.yaml, profile: profile.ekp, rules: canary.yaml}
pipeline: {shadow_scoring_cpu_percent: 0}
END
says 0 "trials.yaml: configuration, ok (trials.yaml:4:40: 'pipeline.shadow_scoring_cpu_percent' is 0: without shadow scoring the canary of 'price' never grows and most of 'abort_if' has no effect; set it to 10, for example, and 1 more)" \
	trials.yaml
printf 'features: {price: {mode: canary, canary: {initial_percent: 10, max_percent: 10}}}\n' >canary.yaml
says 0 "trials.yaml: configuration, ok (trials.yaml:3:56: the rules act, but without a model all findings are only reported: set 'assets.model', or 'output.writes: features')" trials.yaml
sed 's/topic: ranked,/topic: ranked, writes: features,/' trials.yaml >features-out.yaml
says 0 'features-out.yaml: configuration, ok' features-out.yaml
# Without an output topic lists are only observed.
grep -v '^output:' trials.yaml >watching.yaml
says 78 "watching.yaml:2:56: 'assets.rules': canary.yaml:1:26: mode 'canary' changes lists, but there is no 'output.topic'; set it, or use 'observe' or 'shadow'" watching.yaml
printf 'features: {price: {mode: shadow}}\n' >canary.yaml
says 0 'watching.yaml: configuration, ok' watching.yaml
cat >swapped.yaml <<'END'
input:  {brokers: "localhost:9092", topics: [scored], group: g}
output: {topic: ranked, dead_letter_topic: ranked.dead}
assets: {manifest: hotel.yaml, profile: m.safetensors, model: profile.ekp}
END
status=0
"$EK" check swapped.yaml >out || status=$?
grep -qF "'assets.profile': m.safetensors: this is a model, not a profile" out || fail "swapped: $(cat out)"
grep -qF "'assets.model': profile.ekp: this is a profile, not a model" out || fail "swapped: $(cat out)"

status=0
"$EK" check c.yaml >out || status=$?
[ $status = 78 ] || fail "status $status for a file of no kind"
grep -qF 'c.yaml:1:1: not a manifest' out || fail "not told what c.yaml could be: $(cat out)"
[ "$("$EK" check -m manifest.yaml - <a)" = '-: rules, ok' ] || fail 'standard input is not read'
gzip -c b.yaml >b.gz
status=0
"$EK" check b.gz >out || status=$?
grep -qF 'b.gz:3:3: unknown key' out || fail "a packed file is not read: $(cat out)"
status=0
"$EK" check 2>err || status=$?
[ $status = 2 ] || fail "status $status without a file"
