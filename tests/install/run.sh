#!/bin/sh
# Install into scratch folders and use the installation like an external project.
set -u
: "${MAKE:=make}" "${CC:=cc}" "${CXX:=c++}"
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
home=$scratch/usr

t() { # name, command...
	name=$1
	shift
	if "$@" >"$scratch/out" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $name"
		sed 's/^/  /' "$scratch/out"
	fi
}

installs() {
	$MAKE -C "$top" --no-print-directory install "$@"
}
pkg() {
	PKG_CONFIG_PATH=$home/lib/pkgconfig pkg-config "$@" evenkeel
}
uses_shared() { # compiler, source
	# shellcheck disable=SC2046
	$1 -Wall -Werror "$2" -o "$scratch/client" $(pkg --cflags --libs) &&
		LD_LIBRARY_PATH=$home/lib "$scratch/client" &&
		ldd "$scratch/client" | grep -q 'libevenkeel\.so\.0'
}
uses_static() {
	# shellcheck disable=SC2046
	$CC "$here/client.c" -o "$scratch/client" $(pkg --cflags) "$home/lib/libevenkeel.a" \
		$(pkg --static --libs-only-l | sed 's/-levenkeel//') && "$scratch/client"
}
has_links() {
	[ "$(readlink "$home/lib/libevenkeel.so")" = libevenkeel.so.0 ] &&
		[ -f "$home/lib/$(readlink "$home/lib/libevenkeel.so.0")" ]
}
same_version() {
	[ "evenkeel $(pkg --modversion)" = "$("$home/bin/evenkeel" --version)" ]
}
stages() {
	installs DESTDIR="$scratch/stage" PREFIX=/usr &&
		[ -x "$scratch/stage/usr/bin/evenkeel" ] &&
		grep -qx 'prefix=/usr' "$scratch/stage/usr/lib/pkgconfig/evenkeel.pc"
}
has_pages() {
	for command in $("$home/bin/evenkeel" --help | sed -nE 's/^  ([a-z]+)  .*/\1/p'); do
		page=$home/share/man/man1/evenkeel-$command.1
		"$home/bin/evenkeel" "$command" --help | grep -oE '(^|[ ,])--[a-z][a-z-]+' | tr -d ' ,' | sort -u |
			while read -r option; do
				tr -d '\\' <"$page" | grep -qe "$option" || {
					echo "evenkeel-$command.1 lacks $option"
					exit 1
				}
			done || return 1
	done
}
completes() { # arguments, expected word
	command -v bash >/dev/null || return 0
	bash -c '. "$0/share/bash-completion/completions/evenkeel"
		read -ra COMP_WORDS <<<"$1"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _evenkeel
		printf "%s\n" "${COMPREPLY[@]}" | grep -qxe "$2"' "$home" "$1" "$2"
}
brings_units() {
	"$home/bin/evenkeel" check "$home/share/evenkeel/rules/units.yaml"
}
brings_schemas() {
	for kind in config rules; do
		grep -q '"additionalProperties":false' "$home/share/evenkeel/schema/$kind.schema.json" || return 1
	done
}
# For Prometheus and Grafana on this machine, or to copy there.
brings_watch() {
	rules=$home/share/evenkeel/prometheus/evenkeel.rules.yml
	cmp "$rules" "$top/deploy/prometheus/evenkeel.rules.yml" &&
		cmp "$home/share/evenkeel/grafana/evenkeel.json" "$top/deploy/grafana/evenkeel.json" &&
		cmp "$home/share/evenkeel/grafana/evenkeel-internals.json" "$top/deploy/grafana/evenkeel-internals.json" || return 1
	# Rules tests are no rules: a Prometheus with all files of the folder would not start.
	[ "$(ls "$home/share/evenkeel/prometheus")" = evenkeel.rules.yml ] || return 1
	command -v promtool >/dev/null || return 0
	promtool check rules "$rules"
}
names_all_packages() { # without a compiler that could look for headers
	! PATH=$scratch/nothing /bin/sh "$top/deploy/deps.sh" --check 2>"$scratch/missing" || return 1
	for package in $("$top/deploy/deps.sh" --libraries | tr , ' '); do
		grep -qE "^remedy: .* $package( |\$)" "$scratch/missing" || {
			echo "$package is not named" && return 1
		}
	done
}
leaves_nothing() {
	$MAKE -C "$top" --no-print-directory uninstall PREFIX="$home" &&
		[ -z "$(find "$home" ! -type d)" ]
}

t "make install" installs PREFIX="$home"
t "the links of the shared library" has_links
t "program and pkg-config tell one version" same_version
t "a C program with the shared library" uses_shared "$CC" "$here/client.c"
t "a C++ program with the shared library" uses_shared "$CXX" "$here/client.cc"
t "a C program with the static library" uses_static
t "a man page for every command, every option in it" has_pages
t "completion of a command" completes "evenkeel che" check
t "completion of an option" completes "evenkeel profile --man" --manifest
t "JSON Schemas of rules and configuration" brings_schemas
t "the catalog of units is there, and that of the program" brings_units
t "rules of Prometheus and the dashboard of Grafana" brings_watch
t "DESTDIR and PREFIX" stages
t "make uninstall leaves nothing" leaves_nothing
t "without a compiler every missing package is named" names_all_packages
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
