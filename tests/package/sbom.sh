# SBOM: valid SPDX, complete, and contained in the package.
sbom=$B/evenkeel.spdx.json
spdx_takes_it() (
	[ -x "${TOOLS:-none}/bin/pyspdxtools" ] || {
		echo "no spdx-tools"
		exit 77
	}
	"$TOOLS/bin/pyspdxtools" -i "$sbom" --version SPDX-2.3
)
refuses_strangers() ( # a linked library missing from the table
	needs python3 readelf
	sed 's/"libyaml-0"/"libother"/' deploy/sbom.py >"$scratch/sbom.py"
	! "$PYTHON" "$scratch/sbom.py" 1 "$B/evenkeel" "$B/evenkeel-tools" "$B/libevenkeel.so" >/dev/null 2>"$scratch/refused" &&
		grep -q "is linked with 'libyaml-0', which is not in the table" "$scratch/refused"
)
sbom_packaged() (
	set -- "$debs"/evenkeel_*.deb
	dpkg-deb --fsys-tarfile "$1" | tar -xO ./usr/share/doc/evenkeel/evenkeel.spdx.json | cmp - "$sbom"
)
t "the SBOM is whole" "$PYTHON" "$here/sbom.py" "$sbom" "$B/evenkeel" "$B/evenkeel-tools" "$B/libevenkeel.so"
t "the SBOM of a release has the Python package" "$PYTHON" "$here/wheel_sbom.py" "$B/evenkeel" "$B/evenkeel-tools" "$B/libevenkeel.so"
t "the SBOM is one to the tools of SPDX" spdx_takes_it
t "a library that the SBOM does not know is noticed" refuses_strangers
if ls "$debs"/evenkeel_*.deb >/dev/null 2>&1; then
	t "the package brings its SBOM along" sbom_packaged
fi
