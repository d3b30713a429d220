# Run `evenkeel check` on every bad file, alone and with the manifest: run.sh PROGRAM. It must exit with status 78 and
# write nothing to stderr. The few files that are valid as another kind may exit with 0.
set -u
ek=$1
cd "$(dirname "$0")/../.." || exit 1
passed=0 failed=0
for file in tests/bad/*/*.*; do
	for words in '' '-m tests/bad/features.yaml'; do
		status=0
		# shellcheck disable=SC2086 # a list of words
		said=$("$ek" check $words "$file" 2>&1 >/dev/null) || status=$?
		case $status-$said in
		0- | 78-) passed=$((passed + 1)) ;;
		*)
			failed=$((failed + 1))
			echo "status $status: check $words $file: $said"
			;;
		esac
	done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 400 ]
