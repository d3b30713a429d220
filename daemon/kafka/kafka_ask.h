/* Questions about a topic, each with an answer to wait for. Threads: as librdkafka says. */
#ifndef EK_DAEMON_KAFKA_ASK_H
#define EK_DAEMON_KAFKA_ASK_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>

struct ek_topic_answer {
    bool heard; /* a broker said something; the rest is 0 when none did */
    int partitions;
    int broker; /* one that is there; -1: none */
};

/* How many partitions the topic has. 0, or why it is not known:
 * RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART when it is not there. */
rd_kafka_resp_err_t ek_kafka_ask_topic(rd_kafka_t *client, const char *topic, int wait_ms,
                                       struct ek_topic_answer *out);
/* Makes the client hear who leads the partitions now. librdkafka 2.0.2 puts a question about one to
 * whoever led it when it heard last, also after that one gave no answer. */
void ek_kafka_hear_leaders(rd_kafka_t *client, const char *topic, int wait_ms);
/* A property of the topic; false when brokers do not tell (no right to DescribeConfigs, no answer
 * in time). */
bool ek_kafka_ask_property(rd_kafka_t *client, const char *topic, const char *name, int wait_ms,
                           char *value, size_t size);

#endif
