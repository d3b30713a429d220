# Shell completions: commands, options, values, and files of the right kind.
mkdir "$scratch/files" "$scratch/files/folder.d"
(cd "$scratch/files" && touch a.yaml b.ekp "c d.yaml" e.safetensors f.txt)

in_bash() ( # words as in bash, one argument each; prints the completions, one per line
	needs bash
	want=$1
	shift
	script=$(realpath "$B/completions/evenkeel")
	given=$(cd "$scratch/files" && bash --norc -c '. "$0"
		COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _evenkeel
		printf "%s\n" "${COMPREPLY[@]}" | sort' "$script" "$@")
	echo "offered: $given"
	[ "$(echo "$given" | tr '\n' ,)" = "$want" ]
)
in_zsh() ( # typed text, line after a tab
	needs zsh
	"$PYTHON" "$here/zsh.py" "$B/completions" "$scratch/files" "$1" "$2"
)
# From --usage, which has another layout than the --help that completions are made from.
every_option() ( # command
	needs bash
	"$B/evenkeel" "$1" --usage | grep -oE -- '--?[a-zA-Z?][a-zA-Z-]*' | LC_ALL=C sort -u >"$scratch/usage"
	bash --norc -c '. "$0"; COMP_WORDS=(evenkeel "$1" -); COMP_CWORD=2; _evenkeel
		printf "%s\n" "${COMPREPLY[@]}"' "$B/completions/evenkeel" "$1" | LC_ALL=C sort -u >"$scratch/offered"
	diff "$scratch/usage" "$scratch/offered" || exit 1
	for option in $(cat "$scratch/usage"); do
		grep -E "^$1\) options=" "$B/completions/_evenkeel" | grep -qF "'$option'" || {
			echo "zsh: $1 lacks $option"
			exit 1
		}
	done
)
for command in $("$B/evenkeel" --help | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
	t "every option of $command is offered" every_option "$command"
done
t "bash: a word" in_bash "hotel," evenkeel generate ""
t "bash: what there is help on" in_bash "pause,pin,profile," evenkeel help p
t "zsh: a word" in_zsh "evenkeel generate hot" "evenkeel generate hotel"
t "bash: a command" in_bash "profile," evenkeel prof
t "bash: an option" in_bash "--manifest," evenkeel profile --mani
t "bash: a value of --action" in_bash "route,route_normalized,route_per_source," evenkeel pin price --action rou
t "bash: a value behind =" in_bash "listmle,listnet," evenkeel train --loss = list
t "bash: all values behind =" in_bash "beginning,end," evenkeel capture --from =
t "bash: files of a kind, and folders" in_bash "a.yaml,c d.yaml,folder.d," evenkeel run --config ""
t "bash: files of another kind" in_bash "b.ekp," evenkeel replay --profile b
t "zsh: a command" in_zsh "evenkeel prof" "evenkeel profile"
t "zsh: an option" in_zsh "evenkeel run --conf" "evenkeel run --config"
t "zsh: a value" in_zsh "evenkeel pin price --action bl" "evenkeel pin price --action blank"
t "zsh: a value behind =" in_zsh "evenkeel train --loss=approx" "evenkeel train --loss=approxndcg"
t "zsh: a file of a kind" in_zsh "evenkeel replay --profile b" "evenkeel replay --profile b.ekp"
