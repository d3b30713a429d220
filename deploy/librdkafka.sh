#!/usr/bin/env bash
# Builds a librdkafka newer than the system's into a folder, for tests against it:
#
#   deploy/librdkafka.sh DIR      afterwards DIR/lib/pkgconfig/rdkafka.pc
#
# The source is that in the crate rdkafka-sys, which cargo fetches. Ends with 77, after a word, where it
# cannot be had or built: without cargo, network, or the headers of OpenSSL, zstd and zlib.
set -euo pipefail
crate=rdkafka-sys version=4.10.0+2.12.1
prefix=$(realpath -m "$1")
work=$prefix/source

cannot() {
  echo "librdkafka $version cannot be built here: $1" >&2
  exit 77
}

fetch() {
  command -v cargo >/dev/null || cannot "there is no cargo"
  mkdir -p "$work/src"
  : >"$work/src/lib.rs"
  cat >"$work/Cargo.toml" <<EOF
[package]
name = "fetch"
version = "0.0.0"
edition = "2021"
[dependencies]
$crate = { version = "=$version", default-features = false }
[workspace]
EOF
  (cd "$work" && cargo vendor -q vendor >cargo.log 2>&1) || cannot "cargo did not fetch it ($work/cargo.log)"
}

# A feature whose library is not there is left out by its configure without an error.
need_headers() {
  local header
  for header in openssl/ssl.h zstd.h zlib.h; do
    echo "#include <$header>" | "${CC:-cc}" -E -x c - >/dev/null 2>&1 || cannot "$header is missing"
  done
}

build() {
  cd "$work/vendor/$crate/librdkafka"
  ./configure --prefix="$prefix" --disable-lz4-ext --enable-ssl --enable-zstd --disable-curl >"$work/configure.log" 2>&1 ||
    cannot "configure fails ($work/configure.log)"
  make -j2 -C src >"$work/make.log" 2>&1 || cannot "make fails ($work/make.log)"
  make -C src install >>"$work/make.log" 2>&1 || cannot "its installation fails ($work/make.log)"
}

[ -f "$prefix/lib/pkgconfig/rdkafka.pc" ] && exit 0
need_headers
fetch
build
