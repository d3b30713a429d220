#!/bin/sh
# portable_deb.sh TREE ARCHITECTURE FOLDER: pack the files of a portable archive as a Debian package. It contains
# all libraries except glibc and libstdc++, so one file suits Debian 12 and 13, Ubuntu 22.04 and 24.04.
# Scripts and version are those of the packages that `make deb` builds, which it replaces.
set -eu
tree=$1 arch=$2 out=$3
debian=$(dirname "$0")/debian
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$debian/changelog")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
umask 022
mkdir -p "$root/usr" "$root/etc/evenkeel" "$root/DEBIAN"
cp -R "$tree/." "$root/usr/"
mv "$root/usr/share/evenkeel/example" "$root/etc/evenkeel/"
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
sed -i 's|/usr/local/bin/|/usr/bin/|' "$root/usr/lib/systemd/system/evenkeel@.service"
mkdir -p "$root/usr/share/doc/evenkeel-portable"
cp "$debian/copyright" "$root/usr/share/doc/evenkeel-portable/"
chmod -R u=rwX,go=rX "$root"

for script in postinst prerm postrm; do
	# The helper's part: systemd rereads its units.
	sed 's/^#DEBHELPER#$/[ ! -d \/run\/systemd\/system ] || systemctl daemon-reload || true/' "$debian/evenkeel.$script" >"$root/DEBIAN/$script"
	chmod 755 "$root/DEBIAN/$script"
done
(cd "$root" && find etc -type f -printf '/%p\n' | LC_ALL=C sort >DEBIAN/conffiles &&
	find usr -type f -printf '%P\0' | LC_ALL=C sort -z | (cd usr && xargs -0 md5sum) | sed 's|  |  usr/|' >DEBIAN/md5sums)
cat >"$root/DEBIAN/control" <<END
Package: evenkeel-portable
Version: $version
Architecture: $arch
Maintainer: $(sed -n 's/^Maintainer: //p' "$debian/control")
Section: net
Priority: optional
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f 1)
Depends: adduser, libc6 (>= 2.34), libstdc++6 (>= 11)
Provides: evenkeel (= $version), evenkeel-tools (= $version)
Conflicts: evenkeel, evenkeel-tools
Replaces: evenkeel, evenkeel-tools
$(sed -n '/^Package: evenkeel$/,/^$/{/^Description:/,/^ \.$/{/^ \.$/!p}}' "$debian/control")
 .
 This package has its own copies of all libraries except those of the C and C++
 languages: replace it when one of them has a security fix.
END
# Dates of the packaging, not of the build.
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb -Zxz --root-owner-group --build "$root" "$out" >/dev/null
