#!/bin/sh
# Installable artifacts: man pages, packages, the systemd unit. Checks without their tools are skipped
# visibly; `deploy/deps.sh package` installs the tools.
set -u
: "${MAKE:=make}" "${PYTHON:=python3}" "${B:=build}"
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0

t() { # name, command...; 77: skipped, with a reason
	name=$1
	shift
	"$@" >"$scratch/out" 2>&1
	case $? in
	0) passed=$((passed + 1)) ;;
	77)
		skipped=$((skipped + 1))
		echo "skipped $name: $(tail -n 1 "$scratch/out")"
		;;
	*)
		failed=$((failed + 1))
		echo "FAILED $name"
		sed 's/^/  /' "$scratch/out"
		;;
	esac
}
needs() { # program...
	for program in "$@"; do
		command -v "$program" >/dev/null && continue
		echo "no $program"
		exit 77
	done
}

. "$here/pages.sh"
. "$here/completions.sh"
. "$here/unit.sh"
. "$here/deb.sh"
. "$here/sbom.sh"
. "$here/images.sh"
. "$here/dist.sh"

echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ] && ! grep -q "^FAILED" "$scratch/images"
