# Named limits of options: the maximum number is accepted, one more is rejected by its number.
. "$(dirname "$0")/prelude"

list() { # count, format of each (%d: its number), separator
	seq 1 "$1" | awk -v form="$2" -v between="$3" '{ printf "%s" form, (NR > 1 ? between : ""), $1 }'
}
says() { # expected error, arguments of evenkeel...
	want=$1 status=0
	shift
	"$EK" "$@" >out 2>err </dev/null || status=$?
	[ $status != 0 ] && [ ! -s out ] && grep -qF -- "$want" err
}
# The maximum gets as far as the missing files; one more does not.
limit() { # maximum, expected error, format of each, arguments of evenkeel...
	most=$1 words=$2 form=$3
	shift 3
	for n in $((most - 1)) "$most"; do
		# shellcheck disable=SC2046 # a list of words
		says 'gone: cannot open' "$@" $(list "$n" "$form" ' ') || fail "$n of $most: $form: $(cat err)"
	done
	# shellcheck disable=SC2046
	says "$words" "$@" $(list $((most + 1)) "$form" ' ') || fail "more than $most: $form: $(cat err)"
}
among() { # maximum, expected error, format of each, option with =, arguments of evenkeel...
	most=$1 words=$2 form=$3 option=$4
	shift 4
	for n in $((most - 1)) "$most"; do
		says 'gone: cannot open' "$@" "$option$(list "$n" "$form" ,)" || fail "$n of $most: $option: $(cat err)"
	done
	says "$words" "$@" "$option$(list $((most + 1)) "$form" ,)" || fail "more than $most: $option: $(cat err)"
}
number() { # maximum, expected error, unit, option with =, arguments of evenkeel...
	most=$1 words=$2 unit=$3 option=$4
	shift 4
	for n in $((most - 1)) "$most"; do
		says 'gone: cannot open' "$@" "$option$n$unit" || fail "$option$n$unit: $(cat err)"
	done
	says "$words" "$@" "$option$((most + 1))$unit" || fail "$option, more than $most: $(cat err)"
}

watch='select -m gone --model gone --data gone --watch' choose='select -m gone --train gone --vali gone'
measure='eval -m gone --model gone --data gone' learn='train -m gone --train gone --vali gone -o out.st'
# shellcheck disable=SC2086 # lists of words
{
	limit 256 'more than 256 times --prior' '--prior=f%d=0.1' $watch
	among 16 '--share has at most 16 numbers' '%d' --share= $choose
	number 64 '--threads' '' --threads= $choose
	limit 256 'more than 256 files' 'gone' eval -m gone --model gone --data
	limit 64 'more than 64 faults' '--fault=f%d=x2' $measure
	among 32 'more than 32 metrics' 'ndcg@%d' --metric= $measure
	among 7 '--hidden takes at most 7 layers' '%d' --hidden= $learn
	number 65536 '--hidden needs numbers of units' '' --hidden= $learn
	number 64 '--threads' '' --threads= $learn
	among 64 'more than 64 values' 'v%d' --segment=arm= convert -m gone --letor gone -o out.msg
	limit 16 'more than 16 segments' '--segment=s%d=a' convert -m gone --letor gone -o out.msg
	number 64 '--memory needs bytes from 1MiB to 64GiB' GiB --memory= extract --collection gone --index out.index
	number 100000 '--top' '' --top= extract --index gone --queries gone -o out.txt
}

# A partial fault doubles the number of arms, so 12 of them make 4,096.
quiet "$EK" generate hotel --lists 60 --seed 1 --manifest-out hotel.yaml -o lists.txt
quiet "$EK" train -m hotel.yaml --train lists.txt --vali lists.txt --epochs 1 --hidden 4 -o model.st
# shellcheck disable=SC2046
quiet "$EK" eval -m hotel.yaml --model model.st --data lists.txt $(list 12 '--fault=price=x100@0.%d' ' ')
# shellcheck disable=SC2046
refused 2 'the faults have more than 4096 arms' \
	eval -m hotel.yaml --model model.st --data lists.txt $(list 13 '--fault=price=x100@0.%d' ' ')
