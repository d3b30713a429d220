#!/usr/bin/env bash
# Test brokers: Apache Kafka (KRaft) on the loopback interface, by PID file. Node N of a cluster
# (from 1) uses the ports from PORT + 10 * (N - 1): plain text +0, controller +1.
#
#   broker.sh up   DIR PORT [NODE]   start the nodes that do not run; wait until they respond
#   broker.sh down DIR [-9] [NODE]   stop (-9: crash); data is kept
#   broker.sh wipe DIR               stop all and remove the folder
#
# BROKER_NODES is the size of the cluster (1). BROKER_SECURE=1 enables ACLs (StandardAuthorizer;
# plain text is the administrator) and more listeners: SASL_PLAINTEXT +2, SASL_SSL +3, SSL with client
# certificates +4, SSL with the certificate of another host +5 and with an expired one +6. Users alice
# and bob, whose passwords are in ALICE_PASSWORD and BOB_PASSWORD, for PLAIN and SCRAM.
# SASL_PLAINTEXT also accepts OAUTHBEARER tokens, unsigned ones and those of Amazon MSK (AwsTokens.java).
# KAFKA_LIBS is the folder of its jars, EKTOOL the program that checks for a response. BROKER_MORE has
# more lines of properties, BROKER_JAVA replaces the Java options, which are for a fast start.
set -euo pipefail
verb=$1 dir=$2
here=$(dirname "$0")
libs=${KAFKA_LIBS:-build/kafka/libs}
ektool=${EKTOOL:-build/tests/kafka/ektool}
nodes=${BROKER_NODES:-1} secure=${BROKER_SECURE:-0}
cluster=ZXZlbmtlZWwtdGVzdHMtMQ # any 16 bytes, base64url
seconds=120
heap='-Xms128m -Xmx512m'
[ "$nodes" = 1 ] || heap='-Xms64m -Xmx256m'

running() { # node
  local pid=$dir/node-$1/pid
  [ -f "$pid" ] && grep -qa kafka.Kafka "/proc/$(cat "$pid")/cmdline" 2>/dev/null
}

voters() { # first-port
  local i list=
  for ((i = 1; i <= nodes; i++)); do list+=,$i@127.0.0.1:$(($1 + 10 * (i - 1) + 1)); done
  printf %s "${list#,}"
}

configure() { # node port first-port
  local listeners=PLAINTEXT://127.0.0.1:$2 map=PLAINTEXT:PLAINTEXT copies=1 least=1
  [ "$nodes" -lt 3 ] || copies=3 least=2
  if [ "$secure" = 1 ]; then
    listeners+=,SASL_PLAINTEXT://127.0.0.1:$(($2 + 2)),SASL_SSL://127.0.0.1:$(($2 + 3))
    listeners+=,SSL://127.0.0.1:$(($2 + 4)),ELSEWHERE://127.0.0.1:$(($2 + 5)),EXPIRED://127.0.0.1:$(($2 + 6))
    map+=,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL,ELSEWHERE:SSL,EXPIRED:SSL
  fi
  cat <<EOF
process.roles=broker,controller
node.id=$1
controller.quorum.voters=$(voters "$3")
controller.listener.names=CONTROLLER
listeners=$listeners,CONTROLLER://127.0.0.1:$(($2 + 1))
advertised.listeners=$listeners
listener.security.protocol.map=$map,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs=$dir/node-$1/data
auto.create.topics.enable=false
default.replication.factor=$copies
min.insync.replicas=$least
offsets.topic.replication.factor=$copies
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=$copies
transaction.state.log.min.isr=$least
transaction.state.log.num.partitions=2
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
group.consumer.session.timeout.ms=6000
group.consumer.min.session.timeout.ms=1000
group.consumer.heartbeat.interval.ms=500
group.consumer.min.heartbeat.interval.ms=100
num.network.threads=2
num.io.threads=2
num.recovery.threads.per.data.dir=1
log.cleaner.dedupe.buffer.size=4194304
log.cleaner.backoff.ms=1000
log.segment.bytes=134217728
log.retention.ms=-1
message.max.bytes=4194304
EOF
  [ "$secure" = 1 ] && configure_security
  printf '%s\n' "${BROKER_MORE:-}"
}

configure_security() {
  local login=org.apache.kafka.common.security listener
  cat <<EOF
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
ssl.keystore.type=PEM
ssl.keystore.location=$dir/tls/server.pem
ssl.truststore.type=PEM
ssl.truststore.location=$dir/tls/ca.pem
listener.name.ssl.ssl.client.auth=required
listener.name.elsewhere.ssl.keystore.type=PEM
listener.name.elsewhere.ssl.keystore.location=$dir/tls/elsewhere.pem
listener.name.expired.ssl.keystore.type=PEM
listener.name.expired.ssl.keystore.location=$dir/tls/expired.pem
EOF
  for listener in sasl_plaintext sasl_ssl; do
    cat <<EOF
listener.name.$listener.plain.sasl.jaas.config=$login.plain.PlainLoginModule required user_alice="$ALICE_PASSWORD" user_bob="$BOB_PASSWORD";
listener.name.$listener.scram-sha-256.sasl.jaas.config=$login.scram.ScramLoginModule required;
listener.name.$listener.scram-sha-512.sasl.jaas.config=$login.scram.ScramLoginModule required;
EOF
  done
  cat <<EOF
listener.name.sasl_plaintext.sasl.enabled.mechanisms=PLAIN,OAUTHBEARER
listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config=$login.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";
listener.name.sasl_plaintext.oauthbearer.sasl.server.callback.handler.class=AwsTokens
EOF
}

# shellcheck disable=SC2206 # a list of words
java_flags=(${BROKER_JAVA:-$heap -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto}
  -Djava.awt.headless=true -Dorg.slf4j.simpleLogger.defaultLogLevel=warn
  -Dorg.slf4j.simpleLogger.showDateTime=true)

format() { # folder
  local users=() hash
  if [ "$secure" = 1 ]; then
    for hash in 256 512; do
      users+=(--add-scram "SCRAM-SHA-$hash=[name=alice,password=$ALICE_PASSWORD]")
    done
  fi
  java "${java_flags[@]}" -cp "$libs/*" kafka.tools.StorageTool format -t "$cluster" \
    -c "$1/server.properties" --ignore-formatted "${users[@]}" >"$1/format.log" 2>&1 ||
    { cat "$1/format.log" >&2; exit 1; }
}

start() { # node first-port
  local folder=$dir/node-$1
  running "$1" && return 0
  mkdir -p "$folder"
  configure "$1" $(($2 + 10 * ($1 - 1))) "$2" >"$folder/server.properties"
  [ -f "$folder/data/meta.properties" ] || format "$folder"
  setsid nohup java "${java_flags[@]}" -cp "$libs/*:$libs-classes" kafka.Kafka "$folder/server.properties" \
    >>"$folder/server.log" 2>&1 </dev/null &
  echo $! >"$folder/pid"
}

up() { # first-port [node]
  local i state first=${2:-1} last=${2:-$nodes}
  [ "$secure" = 0 ] || [ -d "$dir/tls" ] || "$here/certificates.sh" "$dir/tls"
  for ((i = first; i <= last; i++)); do start "$i" "$1"; done
  for ((i = first; i <= last; i++)); do
    "$ektool" wait "127.0.0.1:$(($1 + 10 * (i - 1)))" "$seconds" && continue
    tail -20 "$dir/node-$i/server.log" >&2
    if running "$i"; then state='does not respond'; else state='has ended'; fi
    echo "broker.sh: node $i $state" >&2
    exit 1
  done
}

stop() { # node signal
  local pid tenths=0
  running "$1" || return 0
  pid=$(cat "$dir/node-$1/pid")
  kill "$2" "$pid"
  while kill -0 "$pid" 2>/dev/null && [ $tenths -lt $((seconds * 10)) ]; do
    sleep 0.1
    tenths=$((tenths + 1))
  done
  ! kill -0 "$pid" 2>/dev/null || kill -KILL "$pid"
  rm -f "$dir/node-$1/pid"
}

down() { # [-9] [node]
  local signal=-TERM folder
  if [ "${1:-}" = -9 ]; then
    signal=-KILL
    shift
  fi
  for folder in "$dir"/node-*; do
    [ -d "$folder" ] || continue
    [ -z "${1:-}" ] || [ "$folder" = "$dir/node-$1" ] || continue
    stop "${folder##*-}" "$signal"
  done
}

case $verb in
up) up "$3" "${4:-}" ;;
down) shift 2 && down "$@" ;;
wipe) down -9 && rm -rf "$dir" ;;
*) sed -n '2,18p' "$0" >&2; exit 2 ;;
esac
