#!/bin/sh
# dist_trial.sh DIST: the portable archives and packages, the image and the wheel on a minimal Debian of RELEASE,
# downloaded for it, and the other Debian packages if they are of this release. Takes minutes and root: `make dist-trial`.
# An Ubuntu needs its source: RELEASE=noble MIRROR='deb [trusted=yes] http://archive.ubuntu.com/ubuntu noble main universe'.
# An archive for 64-bit ARM runs in an emulator. With KAFKA_LIBS and EKTOOL, messages pass each one through a broker.
set -eu
here=$(realpath "$(dirname "$0")")
dist=$(realpath "$1") release=${RELEASE:-trixie}
scratch=$(mktemp -d)
trap '[ -z "$broker" ] || "$here/../kafka/broker.sh" wipe "$scratch/broker"; rm -rf --one-file-system "$scratch"' EXIT
passed=0 failed=0 skipped=0
root=$scratch/root broker=

t() { # name, command...
	name=$1
	shift
	if "$@" >"$scratch/log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $name"
		tail -n 20 "$scratch/log"
	fi
}
as_user() { # command..., as a user without rights
	"${PYTHON:-python3}" "$here/in_image.py" "$root" "$@"
}
in_root() {
	chroot "$root" "$@"
}
works() { # program
	as_user "$1" --version && as_user "$1" generate hotel --lists 50 -o /tmp/lists.txt && as_user "$1" demo && forwards "$1"
}
forwards() { # program: all of 300 messages within a minute; stopped as the child of in_image.py
	[ -n "$broker" ] || return 0
	topic=trial-$passed
	for name in "$topic" "$topic.ranked" "$topic.dead"; do "$EKTOOL" create "$broker" "$name" 1 || return 1; done
	as_user "$1" generate hotel --lists 300 --format messages --encoding json --manifest-out /tmp/features.yaml -o /tmp/lists.json &&
		as_user "$1" profile --manifest /tmp/features.yaml --messages /tmp/lists.json -o /tmp/profile.ekp || return 1
	cat >"$root/tmp/run.yaml" <<-END
		input: {brokers: "$broker", topics: [$topic], group: $topic}
		output: {topic: $topic.ranked, dead_letter_topic: $topic.dead}
		assets: {manifest: /tmp/features.yaml, profile: /tmp/profile.ekp}
		message: {encoding: json}
		http: {listen: "off"}
	END
	"$EKTOOL" lines "$broker" "$topic" "$root/tmp/lists.json" 0 0 || return 1
	"${PYTHON:-python3}" "$here/in_image.py" "$root" "$1" run -c /tmp/run.yaml &
	runs=$! sent=
	for _ in $(seq 60); do
		sent=$("$EKTOOL" count "$broker" "$topic.ranked")
		[ "$sent" != 300 ] || break
		sleep 1
	done
	pkill -TERM -P "$runs"
	wait "$runs" && echo "$sent messages" && [ "$sent" = 300 ]
}
unpacks() {
	tar -xzf "$dist"/evenkeel-*-linux-amd64.tar.gz -C "$root/usr/local" --strip-components=1 && works /usr/local/bin/evenkeel
}
# Names of packages are those of other distributions, and plugins of rpm need more than a chroot.
installs() {
	cp "$dist"/evenkeel-*.x86_64.rpm "$root/tmp/evenkeel.rpm"
	in_root rpm -i --nodeps --noplugins /tmp/evenkeel.rpm && in_root getent passwd evenkeel && works /usr/bin/evenkeel &&
		in_root rpm -V --nodeps evenkeel && as_user /usr/bin/evenkeel check /usr/share/evenkeel/rules/travel.yaml
}
removes() {
	in_root rpm -e --noplugins evenkeel && [ -z "$(find "$root/usr/bin" "$root/usr/lib" "$root/usr/share" "$root/etc" -name '*evenkeel*')" ]
}
apt() {
	in_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends "$@"
}
debian() { # packages to purge, files...
	purged=$1
	shift
	rm -rf "$root/tmp/debs" && mkdir "$root/tmp/debs" && cp "$@" "$root/tmp/debs/"
	# shellcheck disable=SC2046,SC2086 # lists of words
	apt install $(cd "$root" && printf '/%s ' tmp/debs/*.deb) && works /usr/bin/evenkeel &&
		as_user /usr/bin/evenkeel check /usr/share/evenkeel/rules/travel.yaml && apt purge $purged &&
		[ ! -e "$root/usr/bin/evenkeel" ] && [ ! -e "$root/etc/evenkeel/example" ] && ! in_root getent passwd evenkeel
}
imports() { # wheel
	"${PYTHON:-python3}" -m zipfile -e "$1" "$root/tmp/wheel" && chmod -R a+rX "$root/tmp/wheel" &&
		as_user /usr/bin/env PYTHONPATH=/tmp/wheel python3 -c 'import numpy, evenkeel
wide = evenkeel.wide_columns(numpy.exp(numpy.arange(6.0)).reshape(3, 2), numpy.array([0, 3]), evenkeel.WideColumns([0], [], []))
assert abs(wide[:, 0].mean()) < 1e-6 and wide[2, 0] > 1, wide'
}
# Of this version of Python, or from 3.12 on of an earlier one.
fitting_wheel() {
	version=$(in_root python3 -c 'import sys; print("%d%d" % sys.version_info[:2])')
	ls "$dist"/evenkeel-*-cp"$version"-cp"$version"-*x86_64.whl 2>/dev/null && return
	[ "$version" -lt 312 ] || ls "$dist"/evenkeel-*-abi3-*x86_64.whl 2>/dev/null
}
try_if() { # whether it suits this release, name, command...
	if [ -n "$1" ]; then
		shift
		t "$@"
	else
		skipped=$((skipped + 1))
	fi
}
image() {
	root=$scratch/image
	"${PYTHON:-python3}" "$here/oci_read.py" "$dist"/evenkeel-*-oci.tar "$root" && works /usr/bin/evenkeel
}
native() {
	program=$1
	shift
	"$(dirname "$dist")/$program" "$@"
}
makes() { # way to run, name of the files; the demo would take hours in an emulator
	"$1" evenkeel-tools generate hotel --lists 300 --seed 1 --manifest-out features.yaml -o "$2.txt" &&
		"$1" evenkeel profile --manifest features.yaml --letor "$2.txt" -o "$2.ekp"
}
emulated() {
	program=$1
	shift
	qemu-aarch64-static -L "$arm_root" "$scratch/arm/bin/$program" "$@"
}
arm() {
	mkdir "$scratch/arm" && tar -xzf "$dist"/evenkeel-*-linux-arm64.tar.gz -C "$scratch/arm" --strip-components=1
	cd "$scratch"
	emulated evenkeel --version && makes emulated arm && makes native amd && cmp arm.txt amd.txt && cmp arm.ekp amd.ekp
}

if [ -d "${KAFKA_LIBS:-}" ] && [ -x "${EKTOOL:-}" ]; then
	port=$("${PYTHON:-python3}" "$here/../ports.py" 2) # and of the controller
	broker=127.0.0.1:$port
	"$here/../kafka/broker.sh" up "$scratch/broker" "$port"
else
	echo "no broker here (make deps-broker): no message is sent"
fi
mmdebstrap --quiet --variant=minbase --include=apt,rpm "$release" "$root" ${MIRROR:+"$MIRROR"}
t "the portable archive on a bare $release" unpacks
rm -rf "$root/usr/local/bin" "$root/usr/local/lib/evenkeel"
t "the rpm package on a bare $release" installs
t "its removal" removes
cp /etc/resolv.conf "$root/etc/"
t "the package lists of $release" apt update
t "the portable Debian package on a bare $release" debian evenkeel-portable "$dist"/evenkeel-portable_*_amd64.deb
try_if "$(. /etc/os-release && [ "$VERSION_CODENAME" != "$release" ] || echo same)" "the Debian packages on a bare $release" \
	debian "evenkeel evenkeel-tools" "$dist"/evenkeel_*.deb "$dist"/evenkeel-tools_*.deb "$dist"/libevenkeel*.deb
t "NumPy of $release" apt install python3-numpy
wheel=$(fitting_wheel || true)
try_if "$wheel" "the wheel on a bare $release" imports "$wheel"
t "the image" image
arm_root=$(dirname "$dist")/sysroot-arm64
arm_archive=$([ ! -d "$arm_root" ] || ls "$dist"/*-linux-arm64.tar.gz 2>/dev/null || true)
try_if "$arm_archive" "the archive for 64-bit ARM in an emulator" arm
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
