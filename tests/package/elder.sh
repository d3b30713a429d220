#!/bin/sh
# elder.sh NEW.deb OLD.deb: create an older version of a package, with other examples, to upgrade from.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
dpkg-deb -R "$1" "$scratch/tree"
sed -i 's/^Version: .*/Version: 0.0.9-1/' "$scratch/tree/DEBIAN/control"
for example in evenkeel.yaml rules.yaml; do
	echo "# an elder example" >>"$scratch/tree/etc/evenkeel/example/$example"
done
mkdir -p "$(dirname "$2")"
dpkg-deb -Zgzip -z1 --root-owner-group -b "$scratch/tree" "$2" >/dev/null
