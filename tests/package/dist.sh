# Artifacts of `make dist`: archives, image, SBOM, checksums.
dist=$B/package-dist
stem=evenkeel-$("$B/evenkeel" --version | cut -d' ' -f2)
makes_archives() (
	needs dpkg
	[ -d /usr/share/ca-certificates/mozilla ] || {
		echo "no ca-certificates"
		exit 77
	}
	rpm=
	! command -v rpmbuild >/dev/null || rpm=dist-rpm
	$MAKE --no-print-directory dist-archives $rpm DIST="$dist" DIST_ARCHES="$(dpkg --print-architecture)" && [ -s "$dist/$stem.tgz" ]
)
unpacked=$scratch/$stem
unpacks() (
	tar -xzf "$dist/$stem"-linux-*.tar.gz -C "$scratch" && mv "$scratch/$stem"-linux-* "$unpacked"
)
runs_unpacked() ( # with all libraries but those of the system from its own folder
	[ "$("$unpacked/bin/evenkeel" --version)" = "evenkeel ${stem#*-}" ] &&
		"$unpacked/bin/evenkeel" generate hotel --lists 50 --manifest-out "$scratch/features.yaml" -o "$scratch/lists.txt" || exit 1
	ldd "$unpacked"/bin/* | sed -n 's/.* => \([^ ]*\) .*/\1/p' | grep -v -e "^$unpacked/" -e 'not found$' |
		sed 's|.*/||; s|\.so.*||' | sort -u | tr '\n' ' ' >"$scratch/system"
	cat "$scratch/system"
	[ "$(cat "$scratch/system")" = "libc libgcc_s libm libresolv libstdc++ " ]
)
# Enterprise Linux 9 and Ubuntu 22.04 are the oldest systems with these versions.
oldest() (
	needs objdump
	grep -qx 'VERSION_CODENAME=bookworm' /etc/os-release || {
		echo "a release is built on Debian 12"
		exit 77
	}
	objdump -T "$unpacked"/bin/* "$unpacked"/lib/evenkeel/* | sed -nE 's/.*\*UND\*.*\((GLIBC|GLIBCXX)_([0-9.]+)\).*/\1 \2/p' | sort -u >"$scratch/versions"
	for pair in "GLIBC 2.34" "GLIBCXX 3.4.29"; do
		highest=$(sed -n "s/^${pair% *} //p" "$scratch/versions" | sort -V | tail -n 1)
		echo "$pair: $highest"
		[ "$(printf '%s\n' "${pair#* }" "$highest" | sort -V | tail -n 1)" = "${pair#* }" ] || exit 1
	done
)
names_shipped() ( # each library that travels along is in the SBOM, with its license
	for library in "$unpacked"/lib/evenkeel/*; do
		package=$(dpkg -S "*/$(cc -dumpmachine)/${library##*/}" | sed 's/:.*//' | head -n 1)
		source=$(dpkg-query -W -f '${source:Package}' "$package")
		grep -q "pkg:deb/debian/$source@" "$unpacked/share/doc/evenkeel/evenkeel.spdx.json" &&
			[ -s "$unpacked/share/doc/evenkeel/licenses/$package" ] || {
			echo "no $source for $library"
			exit 1
		}
	done
	[ ! -x "${TOOLS:-none}/bin/pyspdxtools" ] || "$TOOLS/bin/pyspdxtools" -i "$dist/$stem.spdx.json" --version SPDX-2.3
)
is_an_rpm() (
	needs rpmbuild rpm
	rpm -qp --requires "$dist"/*.rpm | grep -qF 'libc.so.6(GLIBC_2.34)(64bit)' &&
		[ -z "$(rpm -qp --provides "$dist"/*.rpm | grep '\.so')" ] && rpm -qplv "$dist"/*.rpm >"$scratch/listed" || exit 1
	for line in '^-rwxr-xr-x .* root +root .* /usr/bin/evenkeel$' '^drwxr-x--- .* root +evenkeel .* /etc/evenkeel$' \
		'^-rw-r--r-- .* /usr/share/man/man1/evenkeel.1$'; do
		grep -qE "$line" "$scratch/listed" || {
			echo "no $line"
			exit 1
		}
	done
)
is_a_portable_deb() ( # one package for four distributions, instead of the two of this one
	deb=$(ls "$dist"/evenkeel-portable_*.deb) && [ "$(dpkg-deb -f "$deb" Depends)" = "adduser, libc6 (>= 2.34), libstdc++6 (>= 11)" ] &&
		[ "$(dpkg-deb -f "$deb" Conflicts)" = "evenkeel, evenkeel-tools" ] && dpkg-deb -x "$deb" "$scratch/portable" &&
		dpkg-deb -e "$deb" "$scratch/portable/DEBIAN" && cd "$scratch/portable" && md5sum --quiet -c DEBIAN/md5sums &&
		[ "$(usr/bin/evenkeel --version)" = "evenkeel ${stem#*-}" ] && grep -qx 'ExecStart=/usr/bin/evenkeel run.*' usr/lib/systemd/system/evenkeel@.service &&
		grep -qx /etc/evenkeel/example/evenkeel.yaml DEBIAN/conffiles && ! grep DEBHELPER DEBIAN/*
)
image=$scratch/image
is_an_image() (
	"$tools" "$here/oci_read.py" "$dist/$stem-oci.tar" "$image"
)
others_unpack_it() (
	needs umoci
	mkdir "$scratch/layout" && tar -xf "$dist/$stem-oci.tar" -C "$scratch/layout" &&
		umoci unpack --rootless --image "$scratch/layout:${stem#*-}" "$scratch/bundle" >/dev/null &&
		diff -r --no-dereference "$scratch/bundle/rootfs" "$image" && grep -q '"evenkeel' "$scratch/bundle/config.json"
)
image_runs() (
	"$PYTHON" "$here/in_image.py" "$image"
)
checksums() (
	needs gpg
	mkdir -m 700 "$scratch/gpg" && export GNUPGHOME="$scratch/gpg"
	gpg --batch --quiet --passphrase '' --quick-generate-key trial@evenkeel.invalid || exit 1
	mkdir "$scratch/dist" && cp "$dist/$stem.tgz" "$scratch/dist/" &&
		$MAKE --no-print-directory dist-sums DIST="$scratch/dist" GPG_KEY=trial@evenkeel.invalid MINISIGN_KEY= &&
		cd "$scratch/dist" && sha256sum --quiet -c SHA256SUMS && gpg --verify SHA256SUMS.asc SHA256SUMS
	status=$?
	gpgconf --kill all
	exit $status
)
makes_formula() (
	$MAKE --no-print-directory dist-source DIST="$dist" &&
		"$PYTHON" "$here/formula.py" "$dist/evenkeel.rb" "$dist/$stem-source.tar.gz" "${stem#*-}"
)
rm -rf "$dist"
t "the Homebrew formula fits the source archive" makes_formula
t "make dist-archives" makes_archives
if ls "$dist/$stem"-linux-*.tar.gz >/dev/null 2>&1; then
	t "the portable archive unpacks" unpacks
	t "portable programs bring their libraries" runs_unpacked
	t "portable programs run with glibc 2.34" oldest
	t "the SBOM has the libraries of the archive" names_shipped
	t "the rpm requires the system and owns its files" is_an_rpm
	t "the portable Debian package suits each distribution" is_a_portable_deb
	t "the image has the specified layout" is_an_image
	t "the image is one for umoci" others_unpack_it
	t "the image runs as its user" image_runs
	t "checksums are signed" checksums
fi
