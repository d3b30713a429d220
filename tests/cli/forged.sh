# What a producer reaches that forges lists: docs/security.md has the table.
. "$(dirname "$0")/prelude"

quiet "$EK" gen hotel --queries 4000 --seed 1 --manifest-out h.yaml -o train.txt
quiet "$EK" gen hotel --queries 400 --from 4000 --seed 1 -o vali.txt
quiet "$EK" profile --manifest h.yaml --letor train.txt -o p.ekp
quiet "$EK" train --manifest h.yaml --train train.txt --vali vali.txt --epochs 3 -o m.safetensors
rules() { # name, keys of defaults
	printf 'version: 1\ndefaults: {%s}\nsegments: [arm]\n' "$2" >"$1.yaml"
}
forge() { # share or place of the forged lists
	quiet "$EK" gen hotel --queries 4000 --from 20000 --seed 3 --format messages --score-model m.safetensors --fault "price=x100,$1" -o t.msgpack
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
rules slower "mode: enforce, confirm_queries: 500"
rules canary "mode: canary"
rules share "mode: enforce, act_share: 0.2"

# Less than act_share of the traffic acts on nothing, however long it goes on.
for share in 0.001 0.01 0.03; do
	forge "from=20500,share=$share"
	is 0 0 "$(anew enforce)" "$share forged"
done
forge "from=20500,share=0.1"
is 2500 3500 "$(anew enforce)" "a tenth forged"
for rules in observe shadow share; do
	is 0 0 "$(anew $rules)" "a tenth forged, $rules"
done
# A burst makes a route for one hold, ten minutes of the stream; a share of it in a canary.
forge "from=21000,to=21005"
is 500 700 "$(anew enforce)" "five at once"
is 5 70 "$(anew canary)" "five at once, canary"
for rules in observe shadow share slower; do
	is 0 0 "$(anew $rules)" "five at once, $rules"
done
forge "from=21000,to=21003"
is 0 0 "$(anew enforce)" "three at once"
