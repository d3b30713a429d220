#!/bin/sh
# Build the numeric kernels for 64-bit ARM and compare them with the portable ones in an emulator.
# Needs gcc-aarch64-linux-gnu and qemu-user; skipped with a message without them.
set -eu
cd "$(dirname "$0")/.."
: "${ARM_CC:=aarch64-linux-gnu-gcc}" "${ARM_RUN:=qemu-aarch64}" "${B:=build}"
if ! command -v "$ARM_CC" >/dev/null || ! command -v "$ARM_RUN" >/dev/null; then
	echo "skipped: no $ARM_CC or no $ARM_RUN"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
mkdir -p "$B"
# Excludes tests that need libraries for ARM: hashes, and serialized sketches and windows.
base="lib/base/alloc.c lib/base/buf.c lib/base/error.c lib/base/rng.c"
num=$(ls lib/num/*.c | grep -v -e sketch_io -e windows)
# shellcheck disable=SC2086 # lists of files
"$ARM_CC" -std=c11 -D_GNU_SOURCE -O3 -Ilib -I. -fno-math-errno -ffp-contract=off -Wall -Wextra -Wpedantic \
	-Werror -Wno-psabi -static -o "$B/arm-compare" tests/arm/compare.c $base $num -lm
"$ARM_RUN" "$B/arm-compare"
