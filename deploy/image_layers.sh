#!/bin/sh
# image_layers.sh ROOT TRIPLET PORTABLE TREE FOLDER: create the layers of the image in FOLDER: files of the system
# from ROOT, libraries and programs from PORTABLE, shared files from TREE. Certificates are those of Debian's package.
set -eu
: "${PYTHON:=python3}"
root=$1 triplet=$2 portable=$3 tree=$4 folder=$5
authorities=/usr/share/ca-certificates/mozilla
[ -d $authorities ] || {
	echo "image_layers.sh: no $authorities; install ca-certificates" >&2
	exit 1
}
rm -rf "$folder"

system=$folder/1-system
mkdir -p "$system/lib/$triplet" "$system/etc/ssl/certs" "$system/usr/lib/ssl" "$system/tmp"
chmod 1777 "$system/tmp"
# shellcheck disable=SC2046 # words
cp -L $("$PYTHON" deploy/libraries.py --of-system "$root" "$triplet" "$portable"/bin/*) "$system/lib/$triplet/"
loader=$(readelf -p .interp "$portable/bin/evenkeel" | grep -o '/.*')
mkdir -p "$(dirname "$system$loader")"
mv "$system/lib/$triplet/$(basename "$loader")" "$system$loader"
cat $authorities/*.crt >"$system/etc/ssl/certs/ca-certificates.crt"
ln -s ../../../etc/ssl/certs/ca-certificates.crt "$system/usr/lib/ssl/cert.pem"
printf 'root:x:0:0:root:/root:/sbin/nologin\nevenkeel:x:10001:10001::/nonexistent:/sbin/nologin\n' >"$system/etc/passwd"
printf 'root:x:0:\nevenkeel:x:10001:\n' >"$system/etc/group"
echo 'hosts: files dns' >"$system/etc/nsswitch.conf"

mkdir -p "$folder/2-libraries/usr/lib" "$folder/3-evenkeel/etc/evenkeel" "$folder/3-evenkeel/usr/share/doc"
cp -r "$portable/lib/evenkeel" "$folder/2-libraries/usr/lib/"
cp -r "$portable/bin" "$folder/3-evenkeel/usr/"
cp -r "$tree/share/evenkeel" "$folder/3-evenkeel/usr/share/"
cp -r "$tree/share/doc/evenkeel" "$folder/3-evenkeel/usr/share/doc/"
