/* Questions about a topic, each with an answer to wait for. Threads: as librdkafka says. */
#ifndef EK_DAEMON_KAFKA_TOPICS_H
#define EK_DAEMON_KAFKA_TOPICS_H

#include "daemon/base/log.h"
#include "daemon/config/config.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>

struct ek_topic_info {
    bool heard; /* a broker said something; the rest is 0 when none did */
    int partitions;
    int broker; /* one that is there; -1: none */
};

/* How many partitions the topic has. 0, or why it is not known:
 * RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART when it is not there. */
rd_kafka_resp_err_t ek_kafka_get_topic(rd_kafka_t *client, const char *topic, int wait_ms,
                                       struct ek_topic_info *out);
/* Makes the client hear who leads the partitions now. librdkafka 2.0.2 puts a question about one to
 * whoever led it when it heard last, also after that one gave no answer. */
void ek_kafka_refresh_leaders(rd_kafka_t *client, const char *topic, int wait_ms);
/* A property of the topic; false when brokers do not tell (no right to DescribeConfigs, no answer
 * in time). */
bool ek_kafka_get_topic_property(rd_kafka_t *client, const char *topic, const char *name,
                                 int wait_ms, char *value, size_t size);

/* Which of the topics to read are not there: a subscription waits for them without a word. And for
 * how long a start waits for one.
 *
 * Asks the brokers every few seconds until all topics were seen, and again when the client doubts
 * one. A missing topic is told in the log at once and then every ten minutes.
 * Owner: the caller; names, client and log must outlive it. Threads: one, but for
 * ek_topics_missing, which any may call.
 */
struct ek_topics;

/* NULL without memory. */
struct ek_topics *ek_topics_new(const struct ek_text_list *names, struct ek_log *log);
void ek_topics_free(struct ek_topics *t);

/* Asks when it is time to; up to a second for each topic that is not known to be there.
 * True when one that was missing has come: the client learns it only minutes later by itself. */
bool ek_topics_poll(struct ek_topics *t, rd_kafka_t *client);
/* The client says that a topic is gone: ask again at the next look. */
void ek_topics_recheck(struct ek_topics *t);
/* True when topic `number` was not there at the last look. */
bool ek_topics_missing(const struct ek_topics *t, size_t number);

/* At the start a topic that was just made is not known to all brokers at once. Whether one that was
 * not there may still come; the first is told in the log. *since_ms: when that was, 0 before. */
enum { EK_TOPIC_WAIT_MS = 15000 };
bool ek_topic_is_awaited(int64_t *since_ms, const char *topic, struct ek_log *log);

#endif
