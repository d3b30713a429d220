# What a producer reaches that forges lists: docs/dev/forged-lists.md has the table.
. "$(dirname "$0")/prelude"

quiet "$EK" generate hotel --lists 4000 --seed 1 --manifest-out h.yaml -o train.txt
quiet "$EK" generate hotel --lists 400 --from 4000 --seed 1 -o vali.txt
quiet "$EK" profile --manifest h.yaml --letor train.txt -o p.ekp
quiet "$EK" train --manifest h.yaml --train train.txt --vali vali.txt --epochs 3 -o m.safetensors
rules() { # name, keys of defaults
	printf 'version: 1\ndefaults: {%s}\nsegments: [arm]\n' "$2" >"$1.yaml"
}
forge() { # share or place of the forged lists, more words of gen
	first=$1
	shift
	quiet "$EK" generate hotel --lists 4000 --from 20000 --seed 3 --format messages --upstream-model m.safetensors --fault "price=x100,$first" "$@" -o t.msgpack
}
again() { # lists at once, every so many
	set -- "$1" "$2" 21000 "from=21000,to=$((21000 + $1))"
	while [ "$3" -lt 23500 ]; do
		lists=$1 every=$2 at=$(($3 + $2))
		shift 3
		set -- "$lists" "$every" $at "$@" --fault "price=x100,from=$at,to=$((at + lists))"
	done
	shift 3
	forge "$@"
}
anew() { # rules: how many lists are scored anew
	"$EK" replay -m h.yaml -p p.ekp -M m.safetensors -r "$1.yaml" -i t.msgpack --json 2>/dev/null | sed -n 's/.*"scored_anew":\([0-9]*\).*/\1/p'
}
is() { # least, most, what, of what
	[ "$3" -ge "$1" ] && [ "$3" -le "$2" ] || fail "$4: $3 lists scored anew, not $1 to $2"
}
rules observe "mode: observe"
rules shadow "mode: shadow"
rules enforce "mode: enforce"
rules slower "mode: enforce, confirmation_lists: 500"
rules canary "mode: canary"
rules share "mode: enforce, action_min_fraction: 0.2"
rules long "mode: enforce, min_duration: 10h"
rules dear "mode: enforce, min_duration: 10h, action_min_fraction: 0.2"

# Less than action_min_fraction of the traffic acts on nothing, however long it goes on.
for share in 0.001 0.01 0.03; do
	forge "from=20500,share=$share"
	is 0 0 "$(anew enforce)" "$share forged"
done
forge "from=20500,share=0.1"
is 2500 3500 "$(anew enforce)" "a tenth forged"
for rules in observe shadow share; do
	is 0 0 "$(anew $rules)" "a tenth forged, $rules"
done
# A burst that is over when it is confirmed makes no route, however often it comes.
for to in 21003 21005 21030; do
	forge "from=21000,to=$to"
	is 0 0 "$(anew enforce)" "up to $to"
done
again 5 400
is 0 0 "$(anew enforce)" "five at once, again every 400"
# One that the newest lists show makes a route for one hold, ten minutes of the stream; a part of it in a canary.
forge "from=21000,to=21070"
is 600 700 "$(anew enforce)" "seventy at once"
is 5 70 "$(anew canary)" "seventy at once, canary"
for rules in observe shadow slower; do
	is 0 0 "$(anew $rules)" "seventy at once, $rules"
done
# With a hold that does not end, for as many lists as it earned: 1 / action_min_fraction each.
is 1330 1500 "$(anew long)" "seventy at once, no end of the hold"
is 300 360 "$(anew dear)" "seventy at once, action_min_fraction 0.2"
# Who knows when it is asked whether the fault lasts gets no more.
forge "from=21000,to=21005" --fault "price=x100,from=21045,to=21048"
is 1 170 "$(anew long)" "five, and three later"
# A level that overlaps with others fits more lists than were forged, and earns for no more of them than these: 20 each.
small() { # seed, how many lists are forged
	quiet "$EK" generate hotel --lists 4500 --from 20000 --seed "$1" --format messages --upstream-model m.safetensors --fault price=+500,from=20500,share=0.03 -o t.msgpack
	is 500 $((20 * $2)) "$(anew long)" "a small level, seed $1"
}
small 3 117
small 7 123

# Lists without scores cannot be scored, and take no genuine route away by that.
gen() { # first list, lists, where to; prices in cents in arm B from 21000 on
	quiet "$EK" generate hotel --lists "$2" --from "$1" --seed 3 --format messages --upstream-model m.safetensors --fault price=x100,from=21000,arm=B -o "$3"
}
gen 20000 1500 before.msgpack
gen 21500 80 forged.msgpack
gen 21580 1420 after.msgpack
lacking() { # script of sed: what the forged lists say in place of what they should
	LC_ALL=C sed "$1" forged.msgpack >lacking.msgpack
	cat before.msgpack lacking.msgpack after.msgpack >t.msgpack
	is "$2" "$3" "$(anew enforce)" "lists that lack something ($1)"
}
lacking "" 880 930
lacking "s/score/sc0re/g" 840 890
