# Effect of a producer with forged lists (table in docs/dev/forged-lists.md).
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 4000 --seed 1 --manifest-out h.yaml -o train.txt
quiet "$EK" generate hotel --lists 400 --from 4000 --seed 1 -o vali.txt
quiet "$EK" profile --manifest h.yaml --letor train.txt -o p.ekp
quiet "$EK" train --manifest h.yaml --train train.txt --vali vali.txt --epochs 3 -o m.safetensors
rules() { # name, keys of defaults
	printf 'version: 1\ndefaults: {%s}\nsegments: [arm]\n' "$2" >"$1.yaml"
}
forge() { # fraction or position of the forged lists, more arguments of gen
	first=$1
	shift
	quiet "$EK" generate hotel --lists 4000 --from 20000 --seed 3 --format messages --upstream-model m.safetensors --fault "price=x100,$first" "$@" -o t.msgpack
}
again() { # lists per burst, lists between bursts
	set -- "$1" "$2" 21000 "from=21000,to=$((21000 + $1))"
	while [ "$3" -lt 23500 ]; do
		lists=$1 every=$2 at=$(($3 + $2))
		shift 3
		set -- "$lists" "$every" $at "$@" --fault "price=x100,from=$at,to=$((at + lists))"
	done
	shift 3
	forge "$@"
}
anew() { # rules: prints the number of routed lists
	"$EK" replay -m h.yaml -p p.ekp -M m.safetensors -r "$1.yaml" -i t.msgpack --json 2>/dev/null | sed -n 's/.*"rescored":\([0-9]*\).*/\1/p'
}
is() { # minimum, maximum, value, name
	[ "$3" -ge "$1" ] && [ "$3" -le "$2" ] || fail "$4: $3 lists scored anew, not $1 to $2"
}
rules observe "mode: observe"
rules shadow "mode: shadow"
rules enforce "mode: enforce"
rules slower "mode: enforce, confirmation_lists: 5000"
rules canary "mode: canary"
rules share "mode: enforce, action_min_fraction: 0.2"
rules long "mode: enforce, min_duration: 10h"
rules dear "mode: enforce, min_duration: 10h, action_min_fraction: 0.2"

# Less than action_min_fraction of the traffic routes nothing, for any duration.
for share in 0.001 0.01 0.03; do
	forge "from=20500,share=$share"
	is 0 0 "$(anew enforce)" "$share forged"
done
forge "from=20500,share=0.1"
is 2500 3500 "$(anew enforce)" "a tenth forged"
for rules in observe shadow share; do
	is 0 0 "$(anew $rules)" "a tenth forged, $rules"
done
# A burst that ended before its confirmation starts no route, for any number of bursts.
for to in 21003 21005; do
	forge "from=21000,to=$to"
	is 0 0 "$(anew enforce)" "up to $to"
done
# One that is confirmed while it lasts makes a route for as many lists as it earned: 20 each.
for lists in 10 20 30; do
	forge "from=21000,to=$((21000 + lists))"
	is 0 $((20 * lists)) "$(anew enforce)" "$lists at once"
done
again 5 400
is 0 0 "$(anew enforce)" "five at once, again every 400"
# A burst present in the newest lists is routed for one minimum duration, ten minutes of event time; a part of it in a
# canary.
forge "from=21000,to=21070"
is 600 700 "$(anew enforce)" "seventy at once"
is 5 70 "$(anew canary)" "seventy at once, canary"
for rules in observe shadow slower; do
	is 0 0 "$(anew $rules)" "seventy at once, $rules"
done
# With an unlimited minimum duration, each forged list routes at most 1 / action_min_fraction lists.
is 1330 1500 "$(anew long)" "seventy at once, no end of the hold"
is 300 360 "$(anew dear)" "seventy at once, action_min_fraction 0.2"
# Knowing the time of the diagnosis gains nothing.
forge "from=21000,to=21005" --fault "price=x100,from=21045,to=21048"
is 1 170 "$(anew long)" "five, and three later"
# A level that overlaps with others matches more lists than were forged, and starts no route.
small() { # seed
	quiet "$EK" generate hotel --lists 4500 --from 20000 --seed "$1" --format messages --upstream-model m.safetensors --fault price=+500,from=20500,share=0.03 -o t.msgpack
	is 0 0 "$(anew long)" "a small level, seed $1"
}
small 3
small 7

# Lists without scores cannot be routed, and end no genuine route.
gen() { # first list, lists, output; prices in cents in arm B from 21000 on
	quiet "$EK" generate hotel --lists "$2" --from "$1" --seed 3 --format messages --upstream-model m.safetensors --fault price=x100,from=21000,arm=B -o "$3"
}
gen 20000 1500 before.msgpack
gen 21500 80 forged.msgpack
gen 21580 1420 after.msgpack
lacking() { # sed script: changes of the forged lists
	LC_ALL=C sed "$1" forged.msgpack >lacking.msgpack
	cat before.msgpack lacking.msgpack after.msgpack >t.msgpack
	is "$2" "$3" "$(anew enforce)" "lists that lack something ($1)"
}
lacking "" 940 990
lacking "s/score/sc0re/g" 900 950
