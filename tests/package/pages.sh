# Man pages: valid for a formatter, and complete for every key of the program.
lints() (
	needs mandoc
	mandoc -T lint -W warning "$B"/man/*
)
formats() (
	needs groff
	for page in "$B"/man/*; do
		LC_ALL=C.UTF-8 groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null | sed "s|^|$page: |"
	done >"$scratch/warnings"
	cat "$scratch/warnings"
	[ ! -s "$scratch/warnings" ]
)
has_keys() ( # page, keys...
	page=$1
	shift
	plain=$(tr -d '\\' <"$B/man/$page")
	for key in "$@"; do
		case $plain in *"fB${key}fR"*) ;; *) echo "$page lacks $key" && exit 1 ;; esac
	done
)
# shellcheck disable=SC2046 # words
t "man pages are sound" lints
t "man pages are shown without a warning" formats
t "evenkeel.yaml(5) has every key" has_keys evenkeel.yaml.5 $("$B/reference" config.md | sed -nE 's/^\| `([^`]+)`.*/\1/p')
t "evenkeel-rules(5) has every key" has_keys evenkeel-rules.5 $("$B/reference" rules.md | sed -nE 's/^\| `([^`]+)`.*/\1/p')
