#!/usr/bin/env bash
# The test broker: one Apache Kafka node (KRaft) on the loopback interface, by pid file.
#
#   broker.sh up   DIR PORT     starts it if it is not running; waits until it answers
#   broker.sh down DIR [-9]     stops it (-9: crashes it); the data stays
#   broker.sh wipe DIR          stops it and removes its folder
#
# KAFKA_LIBS is the folder of its jars, EKTOOL the program that asks whether it answers. BROKER_MORE is
# more lines of its properties, BROKER_JAVA other options of Java than those of a broker that is to start fast.
set -euo pipefail
verb=$1 dir=$2
libs=${KAFKA_LIBS:-build/kafka/libs}
ektool=${EKTOOL:-build/tests/kafka/ektool}
cluster=ZXZlbmtlZWwtdGVzdHMtMQ # any 16 bytes, base64url
seconds=60

running() {
  [ -f "$dir/pid" ] && grep -qa kafka.Kafka "/proc/$(cat "$dir/pid")/cmdline" 2>/dev/null
}

configure() {
  cat >"$dir/server.properties" <<EOF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$2
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:$1,CONTROLLER://127.0.0.1:$2
advertised.listeners=PLAINTEXT://127.0.0.1:$1
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$dir/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
num.network.threads=2
num.io.threads=2
num.recovery.threads.per.data.dir=1
log.cleaner.dedupe.buffer.size=4194304
log.segment.bytes=134217728
log.retention.ms=-1
message.max.bytes=4194304
${BROKER_MORE:-}
EOF
}

# shellcheck disable=SC2206 # a list of words
java_flags=(${BROKER_JAVA:--Xms128m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto}
  -Djava.awt.headless=true -Dorg.slf4j.simpleLogger.defaultLogLevel=warn
  -Dorg.slf4j.simpleLogger.showDateTime=true)

up() {
  local port=$1
  mkdir -p "$dir"
  if ! running; then
    configure "$port" $((port + 1))
    if [ ! -f "$dir/data/meta.properties" ]; then
      java "${java_flags[@]}" -cp "$libs/*" kafka.tools.StorageTool format -t "$cluster" \
        -c "$dir/server.properties" --ignore-formatted >"$dir/format.log" 2>&1 ||
        { cat "$dir/format.log" >&2; exit 1; }
    fi
    setsid nohup java "${java_flags[@]}" -cp "$libs/*" kafka.Kafka "$dir/server.properties" \
      >>"$dir/server.log" 2>&1 </dev/null &
    echo $! >"$dir/pid"
  fi
  if ! "$ektool" wait "127.0.0.1:$port" "$seconds"; then
    tail -20 "$dir/server.log" >&2
    exit 1
  fi
}

down() {
  local pid tenths=0 signal=-TERM
  [ "${1:-}" = -9 ] && signal=-KILL
  running || return 0
  pid=$(cat "$dir/pid")
  kill "$signal" "$pid"
  while kill -0 "$pid" 2>/dev/null && [ $tenths -lt $((seconds * 10)) ]; do
    sleep 0.1
    tenths=$((tenths + 1))
  done
  kill -0 "$pid" 2>/dev/null && kill -KILL "$pid"
  rm -f "$dir/pid"
}

case $verb in
up) up "$3" ;;
down) down "${3:-}" ;;
wipe) down -9 && rm -rf "$dir" ;;
*) sed -n '2,10p' "$0" >&2; exit 2 ;;
esac
