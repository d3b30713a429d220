#!/bin/sh
# feed.sh BROKERS FILE: a line of the file is a message; 50 in a second.
set -eu
awk -v every=50 '{ print } NR % every == 0 { fflush(); system("sleep 1") }' "$2" |
	"${KAFKA_HOME:-/opt/kafka}/bin/kafka-console-producer.sh" --bootstrap-server "$1" --topic scored
