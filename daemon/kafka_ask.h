/* Questions about a topic, each with an answer to wait for. Threads: as librdkafka says. */
#ifndef EK_DAEMON_KAFKA_ASK_H
#define EK_DAEMON_KAFKA_ASK_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>

/* How many partitions the topic has; *answered tells whether a broker said anything at all. 0, or
 * why it is not known: RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART when it is not there. */
rd_kafka_resp_err_t ek_kafka_ask_partitions(rd_kafka_t *client, const char *topic, int wait_ms,
                                            int *count, bool *answered);
/* A property of the topic; false when brokers do not tell (no right to DescribeConfigs, no answer
 * in time). */
bool ek_kafka_ask_property(rd_kafka_t *client, const char *topic, const char *name, int wait_ms,
                           char *value, size_t size);

#endif
