#!/usr/bin/env bash
# Broker for experiments, in the foreground: broker.sh on the loopback interface, with the topics of the quick
# start and hotel lists in the first of them, 4,000 at once and then 20 per second. Stops on Ctrl-C or SIGTERM and
# removes all its files.
#
#   serve.sh PORT
#
# EVENKEEL, EKTOOL and KAFKA_LIBS are the programs and the jars.
set -euo pipefail
port=$1 address=127.0.0.1:$1
here=$(dirname "$0")
evenkeel=${EVENKEEL:-build/evenkeel}
export EKTOOL=${EKTOOL:-build/tests/kafka/ektool}
# Retention of an hour; a day would take 10 GB.
export BROKER_MORE=$'log.retention.ms=3600000\nlog.segment.bytes=67108864'

end() {
  trap '' INT TERM HUP
  # shellcheck disable=SC2046 # there may be none
  kill $(jobs -p) 2>/dev/null || true # generator of lists; the sender ends with it
  wait
  "$here/broker.sh" wipe "$dir"
}

for taken in "$port" $((port + 1)); do # processes of the broker
  if (exec 3<>"/dev/tcp/127.0.0.1/$taken") 2>/dev/null; then
    echo "something listens on 127.0.0.1:$taken already: take another PORT" >&2
    exit 1
  fi
done
dir=$(mktemp -d)
trap end EXIT
trap 'exit 0' INT TERM HUP
"$here/broker.sh" up "$dir" "$port"
for topic in scored ranked ranked.dead; do
  "$EKTOOL" create "$address" "$topic" 2
done
echo "a broker on localhost:$port with the topics scored, ranked and ranked.dead, until Ctrl-C"
echo "scored gets hotel searches as JSON: 4,000 at once, then 20 a second"
# In the background, because only `wait` is interrupted by a signal.
"$evenkeel" generate hotel --lists 1000000 --seed 1 --format messages --encoding json-map 2>/dev/null |
  "$EKTOOL" lines "$address" scored /dev/stdin 20 4000 &
wait
echo "no more lists come; the broker stays until Ctrl-C"
sleep infinity &
wait
