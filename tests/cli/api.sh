# The responses of an instance have the content that docs/openapi.json describes.
. "$(dirname "$0")/prelude"

port=$(python3 "$tests/ports.py")
: >demo.log # before the other process opens it
"$EK" demo --page=127.0.0.1:$port >demo.log 2>&1 &
demo=$!
trap 'kill $demo 2>/dev/null || true; rm -rf "$work"' EXIT
until grep -q "http://" demo.log; do # after it has trained two models, however long that takes
	kill -0 $demo 2>/dev/null || fail "the demo has ended: $(cat demo.log)"
	sleep 0.1
done
PYTHONDONTWRITEBYTECODE=1 python3 "$tests/cli/api_check.py" "$tests/../docs/openapi.json" "http://127.0.0.1:$port" price >faults ||
	fail "$(head -20 faults)"
