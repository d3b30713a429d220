# Debian packages: built, checked by lintian, and used in a copy of this machine.
makes_deb() (
	needs dpkg-buildpackage dh dpkg-shlibdeps fakeroot
	$MAKE --no-print-directory deb
)
one_version() (
	program=$("$B/evenkeel" --version | cut -d' ' -f2)
	package=$(sed -nE '1s/^evenkeel \(([^-]+)-.*/\1/p' deploy/debian/changelog)
	echo "the program is $program, the package $package"
	[ "$program" = "$package" ]
)
debs=$B/deb
no_errors() (
	needs lintian
	lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$debs"/*.changes
)
depends() ( # package, expected dependencies...
	package=$1
	shift
	told=$(dpkg-deb -f "$debs/$package"_*.deb Depends)
	for word in "$@"; do
		case " $told" in *" $word"*) ;; *) echo "$package: no $word in $told" && exit 1 ;; esac
	done
)
depends_not() ( # package, word
	! depends "$@"
)
# A build from the source package needs the same libraries as `make deps` installs.
build_depends() (
	for package in $(sed -nE "/^BUILD_LIBRARIES=/,/^'/s/^[^ ]+ [0-9.]+ ([a-z0-9.-]+)$/\\1/p" deploy/deps.sh); do
		grep -qE "^ $package( |,)" deploy/debian/control || {
			echo "Build-Depends lacks $package"
			exit 1
		}
	done
)
lives() (
	needs dpkg setpriv mount
	if dpkg -s evenkeel >/dev/null 2>&1; then echo "it is installed on this machine" && exit 77; fi
	rm -rf "$debs/life" && mkdir -p "$debs/life/new"
	cp "$here/life.sh" "$debs/life/"
	for package in evenkeel evenkeel-tools libevenkeel0 libevenkeel-dev; do
		cp "$debs/${package}"_*.deb "$debs/life/new/"
	done
	sh "$here/elder.sh" "$debs"/evenkeel_*.deb "$debs/life/old/evenkeel.deb" &&
		sh "$here/copy.sh" "$debs/life" sh /debs/life.sh /debs
)
t "program and package have one version" one_version
t "a build needs the libraries of make deps" build_depends
t "make deb" makes_deb
if ls "$debs"/evenkeel_*.deb >/dev/null 2>&1; then
	t "lintian has nothing to say" no_errors
	t "the program depends on the libraries that it calls" depends evenkeel librdkafka1 libmicrohttpd12 libyaml-0-2 libcurl4 libssl3
	t "the tools depend on the libraries of texts" depends evenkeel-tools libstemmer0d libstreamvbyte libutf8proc libzip4
	for library in libstemmer libstreamvbyte libutf8proc libzip; do
		t "the program does without $library" depends_not evenkeel $library
	done
	t "headers come with the library of their version" depends libevenkeel-dev "libevenkeel0 (= "
	t "installed, upgraded, removed, purged" lives
fi
