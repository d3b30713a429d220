# Tests in rules files, run by check: failures have a position; those of the shipped rules pass.
. "$(dirname "$0")/prelude"
rules=$tests/../rules

checks() { # status, arguments of check...
	want=$1
	shift
	status=0
	"$EK" check "$@" >out 2>err || status=$?
	[ $status = "$want" ] || fail "status $status instead of $want: check $*: $(cat out err)"
}
has() {
	grep -qF -- "$1" out || fail "'$1' is not in: $(cat out)"
}

cat >rules.yaml <<'END2'
version: 1
segments: [arm]
features:
  price: {units: [cents]}
tests:
  - {name: cents, inject: {feature: price, scale: 100}, expect: {class: scale, factor: 100, within_percent: 3, action: route, after_lists: 200}}
  - {name: quiet, inject: none, expect: none, lists: 1000}
END2
printf 'features:\n  - {name: price, index: 1, role: item, routable: true}\n  - {name: nights, index: 2, role: query}\n' >features.yaml
checks 0 rules.yaml
[ "$(cat out)" = 'rules.yaml: rules, ok (names of features not checked, because no manifest is given; 2 tests passed on synthetic lists)' ] || fail "$(cat out)"
checks 0 -m features.yaml rules.yaml
[ "$(cat out)" = 'rules.yaml: rules, ok (2 tests passed on synthetic lists)' ] || fail "$(cat out)"
checks 0 -m features.yaml --no-tests rules.yaml
[ "$(cat out)" = 'rules.yaml: rules, ok (2 tests valid, not run)' ] || fail "$(cat out)"

# A failed test is an error at its position, identical in each run; without running tests there is no error.
sed 's/after_lists: 200/after_lists: 2/; s/lists: 1000/lists: 1000}\n  - {name: half, inject: {feature: price, scale: 0.5, segment: {arm: B}}, expect: {class: power, segment: {arm: B}}/' rules.yaml >fails.yaml
checks 78 -m features.yaml fails.yaml
cp out first
grep -qE "^fails.yaml:6:5: test 'cents': .*wanted within 2$" out || fail "$(cat out)"
grep -qE "^fails.yaml:8:5: test 'half': class 'scale', wanted 'power' \(after [0-9]+ lists\)$" out || fail "$(cat out)"
[ "$(wc -l <out)" = 2 ] || fail "$(cat out)"
checks 78 -m features.yaml fails.yaml
cmp -s out first || fail "not the same again: $(cat first out)"
checks 78 -m features.yaml --json fails.yaml
has '"errors":[{"file":"fails.yaml","line":6,"column":5,"message":"test '"'cents'"': '
checks 0 --no-tests fails.yaml

# A file with another error does not run its tests.
sed 's/segments: \[arm\]/segments: [arm]\nlimts: {}/' fails.yaml >worse.yaml
checks 78 worse.yaml
[ "$(cat out)" = "worse.yaml:3:1: unknown key 'limts', did you mean 'limits'?" ] || fail "$(cat out)"
printf 'version: 1\ntests: [{name: quiet, inject: none, expect: none}]\n' >none.yaml
checks 78 none.yaml
has 'the rules name no feature'
checks 0 -m features.yaml none.yaml

# On recorded lists.
quiet "$EK" generate hotel --lists 4000 --seed 3 --format messages --manifest-out hotel.yaml -o train.msg
quiet "$EK" profile --manifest hotel.yaml --messages train.msg --stratify-by market -o p.ekp
quiet "$EK" generate hotel --lists 3000 --seed 4 --format messages -o week.msg
cat >hotel-rules.yaml <<'END2'
version: 1
segments: [arm]
features:
  price: {units: [cents]}
tests:
  - {name: cents, inject: {feature: price, scale: 100}, expect: {class: scale, factor: 100, within_percent: 10, action: route, after_lists: 300}}
  - {name: cents in B, inject: {feature: price, scale: 100, segment: {arm: B}}, expect: {class: scale, action: route, segment: {arm: B}, after_lists: 600}}
  - {name: quiet, inject: none, expect: none, lists: 2000}
END2
checks 0 -m hotel.yaml --messages week.msg --profile p.ekp hotel-rules.yaml
has '(3 tests passed on recorded lists)'
sed 's/after_lists: 300/after_lists: 2/; s/lists: 2000/lists: 3000/' hotel-rules.yaml >late.yaml
checks 78 -m hotel.yaml --messages week.msg --profile p.ekp late.yaml
has "late.yaml:6:5: test 'cents': "
sed 's/lists: 2000/lists: 3000/' hotel-rules.yaml >long.yaml
checks 78 -m hotel.yaml --messages week.msg --profile p.ekp long.yaml
has 'week.msg: only 3000 lists, but a test needs more'
checks 78 -m hotel.yaml --messages gone.msg --profile p.ekp hotel-rules.yaml
has 'gone.msg: cannot open'
checks 78 -m features.yaml --messages week.msg --profile p.ekp rules.yaml
has 'p.ekp: '
checks 2 --messages week.msg hotel-rules.yaml

# The shipped rules.
for name in default travel retail search; do
	checks 0 "$rules/$name.yaml"
	grep -qE '; [0-9]+ tests passed on synthetic lists\)$' out || fail "$(cat out)"
done
changed() { # file, sed script, expected error
	sed "$2" "$rules/$1.yaml" >changed.yaml
	if cmp -s changed.yaml "$rules/$1.yaml"; then fail "$1: '$2' changes nothing"; fi
	checks 78 changed.yaml
	has "$3"
}
changed default 's/report_threshold: 1.10/report_threshold: 1.005/' "test 'traffic that moves a little is not spoken of': 'scale' was confirmed"
changed default 's/action_threshold: 1.25/action_threshold: 3/' "action 'alert', wanted 'route'"
changed default 's/action_min_fraction: 0.05/action_min_fraction: 0.5/' "test 'one in five is': action 'alert', wanted 'route'"
changed default 's/confirmation_lists: 64/confirmation_lists: 20000/' 'lists, wanted within 200'
changed travel 's/units: \[mi_to_km[^]]*\]/report_threshold: 1.15/' "test 'kilometers for miles are below action_threshold, and known': action 'alert', wanted 'route'"
changed travel 's/action_threshold: 2 /action_threshold: 3 /' "test 'a factor that nobody knows is routed from two and a half on': action 'alert'"
changed travel 's/report_threshold: 1.15/report_threshold: 1.005/' "test 'a season is not spoken of': 'scale' was confirmed on 'price'"
changed travel 's/confirmation_lists: 64/confirmation_lists: 20000/' 'lists, wanted within 200'
changed retail 's/with_tax, factor: 1.19/with_tax, factor: 1.25/' "test 'tax on top is known by its factor': action 'alert', wanted 'route'"
changed retail 's/report_threshold: 3,/report_threshold: 1.1,/' "test 'shelves that fill up are not spoken of': 'scale' was confirmed"
changed retail 's/confirmation_lists: 100/confirmation_lists: 20000/' 'lists, wanted within 250'
changed search 's/action_threshold: 1.3/action_threshold: 3/' "test 'a new analyser gives text scores half as large again': action 'alert'"
changed search 's/report_threshold: 2,/report_threshold: 1.1,/' "test 'clicks that grow are not spoken of': 'scale' was confirmed"
changed search 's/confirmation_lists: 64/confirmation_lists: 20000/' 'lists, wanted within 300'
