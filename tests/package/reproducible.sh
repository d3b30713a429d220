#!/bin/sh
# Reproducible builds: in folders of different lengths, one after the other, with another umask, locale, time zone,
# home, number of jobs, order of files and, as root, another user. diffoscope, if available, describes differences.
set -u
: "${MAKE:=make}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
one=$scratch/one other=$scratch/quite/another/folder
# No settings of the caller's make, compiler cache or time reach the builds.
unset MAKEFLAGS MFLAGS MAKELEVEL SOURCE_DATE_EPOCH
export CCACHE_DISABLE=1

copy() { # folder, order of its files
	mkdir -p "$1" && find . \( -path ./build -o -name .git \) -prune -o ! -type d -print | LC_ALL=C sort $2 |
		tar -c --no-recursion -T - | tar -x -C "$1"
}
# shellcheck disable=SC2086 # words
build() { # folder, jobs, command before make...
	folder=$1 jobs=$2
	shift 2
	(cd "$folder" && "$@" $MAKE --no-print-directory -j"$jobs" all deb dist-archives dist-source $rpm) >"$folder.log" 2>&1 || {
		tail -n 20 "$folder.log"
		echo "0 passed, 1 failed"
		exit 1
	}
}
jobs=${JOBS:-$(nproc)}
rpm=
! command -v rpmbuild >/dev/null || rpm=dist-rpm
copy "$one" && copy "$other" -r
(umask 022 && LC_ALL=C TZ=UTC HOME=$scratch && export LC_ALL TZ HOME && build "$one" "$jobs") || exit 1
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chown -R 65534:65534 "$scratch/quite"
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
fi
# shellcheck disable=SC2086 # words
(umask 077 && LC_ALL=C.UTF-8 TZ=Asia/Kathmandu HOME=/ && export LC_ALL TZ HOME &&
	build "$other" "$((jobs + 1))" ${as:-env}) || exit 1

passed=0 failed=0
for file in $(cd "$one/build" && ls evenkeel evenkeel-tools libevenkeel.so libevenkeel.a evenkeel.spdx.json deb/*.deb dist/*); do
	if cmp -s "$one/build/$file" "$other/build/$file"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $file: two builds of the same sources differ"
		! command -v diffoscope >/dev/null || diffoscope "$one/build/$file" "$other/build/$file" | head -n 60
	fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 5 ]
