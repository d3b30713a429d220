# Images and manifests; prints its own counts.
tools=$PYTHON
[ ! -x "${TOOLS:-none}/bin/python" ] || tools=$TOOLS/bin/python
"$tools" "$here/manifests.py" "$B/evenkeel" >"$scratch/images"
case $? in
77) skipped=$((skipped + 1)) && echo "skipped images and manifests: $(cat "$scratch/images")" ;;
0 | 1) cat "$scratch/images" ;;
*) failed=$((failed + 1)) && echo "FAILED images and manifests" && cat "$scratch/images" ;;
esac
