#!/bin/sh
# Installs what is missing to build and test evenkeel on Debian 12.
#
#   deploy/deps.sh          what the program and its tests need
#   deploy/deps.sh broker   what the test broker (Apache Kafka, tests only) needs
#   deploy/deps.sh watch    what watches others (Alertmanager, Prometheus' promtool; tests only)
#   deploy/deps.sh tests    programs and Python modules of the other tests
#   deploy/deps.sh lint     what the gates check layout, spelling and code with (tests only)
#   deploy/deps.sh exchange what the exchange of models with PyTorch and ONNX (tests only) needs
#   deploy/deps.sh page     what the tests of the page in the browser need
#   deploy/deps.sh bench    what the peers of the benchmarks (sketches in Rust, Java and Python) need besides
#   deploy/deps.sh wheel    what `make wheel` needs (Python packages are installed by version in build)
#   deploy/deps.sh analyze  what `make analyze` looks with
#   deploy/deps.sh deb      what `make deb` needs
#   deploy/deps.sh dist     what `make dist` needs
#   deploy/deps.sh arm64    what the cross build of `make dist` for 64-bit ARM needs
#   deploy/deps.sh package  what the tests of packages (only they) need besides
#   deploy/deps.sh fuzz     what looks for new inputs (clang with libFuzzer, AFL++; `make check` needs none of it)
#   deploy/deps.sh --libraries  prints the packages of the libraries, with a comma between
#   deploy/deps.sh --check  says what is missing, installs nothing
#
# What counts is what can be used, not what was once installed: each library is asked for its
# version through pkg-config, each program is called. Nothing is done, and no root needed, when all
# is there.
set -eu

# pkg-config name (alternatives after |), lowest version, Debian package
BUILD_LIBRARIES='
rdkafka 2.0 librdkafka-dev
msgpack-c|msgpack 3.3 libmsgpack-dev
yaml-0.1 0.2.2 libyaml-dev
simdjson 3.0 libsimdjson-dev
libzstd 1.4.8 libzstd-dev
zlib 1.2.11 zlib1g-dev
libxxhash 0.8.0 libxxhash-dev
libmicrohttpd 0.9.72 libmicrohttpd-dev
libcurl 7.85 libcurl4-openssl-dev
libcrypto 3.0 libssl-dev
libutf8proc 2.6 libutf8proc-dev
libzip 1.7 libzip-dev
check 0.15 check
'
# Of tests alone.
TEST_LIBRARIES='
jansson 2.13 libjansson-dev
'
# program, Debian package
BUILD_PROGRAMS='
pkg-config pkg-config
gcc gcc
g++ g++
make make
python3 python3
'
# A header stands for libc6-dev: gcc alone comes without it when recommendations are off. The others have no pkg-config file.
BUILD_HEADERS='
stdio.h libc6-dev
libstemmer.h libstemmer-dev
streamvbyte.h libstreamvbyte-dev
'
BENCH_PROGRAMS='
cargo cargo
javac openjdk-17-jdk-headless
'
PAGE_PROGRAMS='
python3 python3
chromium chromium
chromedriver chromium-driver
'
ANALYZE_PROGRAMS='
gcc gcc
clang-tidy clang-tidy
cppcheck cppcheck
'
TESTS_PROGRAMS='
curl curl
git git
zstd zstd
'
TESTS_MODULES='
numpy python3-numpy
yaml python3-yaml
'
LINT_PROGRAMS='
clang-format clang-format
codespell codespell
cppcheck cppcheck
'
DEB_PROGRAMS='
dpkg-buildpackage dpkg-dev
dh debhelper
fakeroot fakeroot
'
DIST_PROGRAMS='
git git
rpmbuild rpm
'
ARM64_PROGRAMS='
aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
mmdebstrap mmdebstrap
'
PACKAGE_PROGRAMS='
lintian lintian
systemd-analyze systemd
strace strace
debootstrap debootstrap
mmdebstrap mmdebstrap
umoci umoci
qemu-aarch64-static qemu-user-static
systemd-nspawn systemd-container
groff groff
bash bash
zsh zsh
mandoc mandoc
'
FUZZ_PROGRAMS='
clang clang
llvm-cov llvm
afl-fuzz afl++
'
WATCH_PROGRAMS='
prometheus-alertmanager prometheus-alertmanager
promtool prometheus
'
JAVA_LOWEST=17
# Python module, Debian package. They are for Debian's own interpreter, whatever comes first in the path.
EXCHANGE_MODULES='
torch python3-torch
numpy python3-numpy
yaml python3-yaml
ensurepip python3-venv
'
WHEEL_MODULES='
ensurepip python3-venv
'

missing= why=

lacks() { # package, reason
	case " $missing " in
	*" $1 "*) ;;
	*) missing="$missing $1" ;;
	esac
	why="$why
  $2"
}

check_programs() {
	while read -r program package; do
		[ -n "$program" ] || continue
		command -v "$program" >/dev/null 2>&1 || lacks "$package" "$program: not found"
	done <<END
$1
END
}

check_headers() {
	while read -r header package; do
		[ -n "$header" ] || continue
		echo "#include <$header>" | gcc -E -x c - >/dev/null 2>&1 ||
			lacks "$package" "$header: not found, or no gcc to ask"
	done <<END
$BUILD_HEADERS
END
}

check_library() { # names, lowest version, package
	found=
	for name in $(echo "$1" | tr '|' ' '); do
		found=$(pkg-config --modversion "$name" 2>/dev/null) || continue
		pkg-config --atleast-version="$2" "$name" && return 0
	done
	if [ -n "$found" ]; then
		lacks "$3" "$1: $found is older than $2"
	else
		lacks "$3" "$1: not found, wanted $2"
	fi
}

check_libraries() {
	while read -r names lowest package; do
		[ -n "$names" ] || continue
		if command -v pkg-config >/dev/null 2>&1; then
			check_library "$names" "$lowest" "$package"
		else
			lacks "$package" "$names: no pkg-config to ask"
		fi
	done <<END
$BUILD_LIBRARIES
$TEST_LIBRARIES
END
}

java_release() {
	java -version 2>&1 | sed -nE '1s/.* version "([0-9]+).*/\1/p'
}

check_broker() {
	release=$(command -v java >/dev/null 2>&1 && java_release || true)
	[ "${release:-0}" -ge "$JAVA_LOWEST" ] ||
		lacks "openjdk-$JAVA_LOWEST-jdk-headless" "java: ${release:-not found}, wanted $JAVA_LOWEST"
	check_programs "javac openjdk-$JAVA_LOWEST-jdk-headless
mvn maven
openssl openssl"
}

check_modules() { # lines of module, package
	interpreter=/usr/bin/python3
	[ -x "$interpreter" ] || interpreter=python3
	while read -r module package; do
		[ -n "$module" ] || continue
		"$interpreter" -c "import importlib.util, sys; sys.exit(not importlib.util.find_spec('$module'))" ||
			lacks "$package" "Python module $module: not found"
	done <<END
$1
END
}

check_exchange() {
	check_programs 'python3 python3'
	check_modules "$EXCHANGE_MODULES"
	# Without it PyTorch multiplies matrices by plain loops, and no comparison would be fair.
	PATH=$PATH:/sbin ldconfig -p 2>/dev/null | grep -q libopenblas ||
		lacks libopenblas0-pthread "OpenBLAS: not found"
}

# Debian's interpreter unless the caller has another one, which has its own header.
check_wheel() {
	check_modules "$WHEEL_MODULES"
	"${SYSTEM_PYTHON:-/usr/bin/python3}" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
		lacks python3-dev "Python.h: not found"
}

# The sanitizers and libFuzzer are a package of their own, by the version of clang.
check_fuzz() {
	check_programs "$FUZZ_PROGRAMS"
	release=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
	[ -e "$(clang -print-runtime-dir 2>/dev/null)/libclang_rt.fuzzer-$(uname -m).a" ] ||
		lacks "libclang-rt-${release:-14}-dev" "libFuzzer: not found"
}

check_all() {
	missing= why=
	if [ "$1" = broker ]; then
		check_broker
	elif [ "$1" = watch ]; then
		check_programs "$WATCH_PROGRAMS"
	elif [ "$1" = tests ]; then
		check_programs "$TESTS_PROGRAMS"
		check_modules "$TESTS_MODULES"
	elif [ "$1" = lint ]; then
		check_programs "$LINT_PROGRAMS"
	elif [ "$1" = exchange ]; then
		check_exchange
	elif [ "$1" = page ]; then
		check_programs "$PAGE_PROGRAMS"
		check_modules 'ensurepip python3-venv'
	elif [ "$1" = wheel ]; then
		check_wheel
	elif [ "$1" = analyze ]; then
		check_programs "$ANALYZE_PROGRAMS"
	elif [ "$1" = deb ]; then
		check_programs "$DEB_PROGRAMS"
	elif [ "$1" = dist ]; then
		check_programs "$DEB_PROGRAMS"
		check_programs "$DIST_PROGRAMS"
	elif [ "$1" = arm64 ]; then
		check_programs "$ARM64_PROGRAMS"
	elif [ "$1" = package ]; then
		check_programs "$DEB_PROGRAMS"
		check_programs "$PACKAGE_PROGRAMS"
	elif [ "$1" = fuzz ]; then
		check_fuzz
	elif [ "$1" = bench ]; then
		check_broker
		check_programs "$BENCH_PROGRAMS"
	else
		check_programs "$BUILD_PROGRAMS"
		check_headers
		check_libraries
	fi
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo env DEBIAN_FRONTEND=noninteractive "$@"
	else
		return 127
	fi
}

give_up() {
	echo "deps: $1" >&2
	echo "deps: needed:$why" >&2
	echo "deps: as root: apt-get install$missing" >&2
	exit 1
}

install_missing() {
	command -v apt-get >/dev/null 2>&1 ||
		give_up "this is not Debian or a child of it; please install by hand"
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null 2>&1; then
		give_up "not root, and there is no sudo"
	fi
	echo "deps: installing$missing" >&2
	export DEBIAN_FRONTEND=noninteractive
	# shellcheck disable=SC2086 # a list of words
	as_root apt-get install -y -q --no-install-recommends $missing >/dev/null 2>&1 || {
		as_root apt-get update -q >&2
		as_root apt-get install -y -q --no-install-recommends $missing >&2
	} || give_up "apt-get failed"
}

set_name=build only_check=
for word in "$@"; do
	case $word in
	build | broker | watch | tests | lint | exchange | page | bench | wheel | analyze | deb | dist | arm64 | package | fuzz) set_name=$word ;;
	--check) only_check=1 ;;
	--libraries)
		echo "$BUILD_LIBRARIES$BUILD_HEADERS" | awk 'NF { printf "%s%s", n++ ? "," : "", $NF }'
		exit
		;;
	*)
		echo "usage: deploy/deps.sh [build|broker|watch|tests|lint|exchange|page|bench|wheel|analyze|deb|dist|arm64|package|fuzz] [--check|--libraries]" >&2
		exit 2
		;;
	esac
done

check_all "$set_name"
[ -n "$missing" ] || exit 0
if [ -n "$only_check" ]; then
	echo "missing:$why" >&2
	echo "remedy: make deps, or as root: apt-get install$missing" >&2
	exit 1
fi
install_missing
check_all "$set_name"
[ -z "$missing" ] || give_up "still missing after the installation"
echo "deps: all there" >&2
