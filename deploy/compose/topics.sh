#!/bin/sh
# topics.sh BROKERS: the topics of evenkeel.yaml, where they are not there yet.
set -eu
create() { # topic, partitions, words...
	topic=$1 partitions=$2
	shift 2
	"${KAFKA_HOME:-/opt/kafka}/bin/kafka-topics.sh" --bootstrap-server "$brokers" --create --if-not-exists \
		--topic "$topic" --partitions "$partitions" --replication-factor 1 "$@"
}
brokers=$1
for topic in scored ranked ranked.dead; do
	create "$topic" 2
done
create evenkeel-state 2 --config cleanup.policy=compact --config min.compaction.lag.ms=600000 --config segment.bytes=67108864
