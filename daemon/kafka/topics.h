/* Blocking topic metadata requests, and detection of missing input topics. */
#ifndef EK_DAEMON_KAFKA_TOPICS_H
#define EK_DAEMON_KAFKA_TOPICS_H

#include "daemon/base/log.h"
#include "daemon/config/config.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>

struct ek_topic_info {
    bool responded; /* a broker responded; otherwise all fields are 0 */
    int partitions;
    int broker; /* a live broker, -1: none */
};

/* Set *out to the partition count of a topic and whether a broker responded, within wait_ms. Return
 * 0 or the error: RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART if the topic does not exist. */
rd_kafka_resp_err_t ek_kafka_get_topic(rd_kafka_t *client, const char *topic, int wait_ms,
                                       struct ek_topic_info *out);
/* Request the partition leaders of a topic within wait_ms. librdkafka 2.0.2 keeps using a cached
 * leader, even after a timeout. */
void ek_kafka_refresh_leaders(rd_kafka_t *client, const char *topic, int wait_ms);
/* Write a topic property to value [size], within wait_ms. Return false, with `value` undefined,
 * without a response (no DescribeConfigs permission, timeout). */
bool ek_kafka_get_topic_property(rd_kafka_t *client, const char *topic, const char *name,
                                 int wait_ms, char *value, size_t size);

/* Input topics that do not exist: a subscription waits for them silently.
 *
 * Topics are requested every few seconds until all exist, and again after ek_topics_recheck. A
 * missing topic is logged at once and then every ten minutes. names and log must outlive the
 * object. One thread, except ek_topics_missing.
 */
struct ek_topics;

/* Create a watch of topics, all assumed to exist. `names` and `log` must outlive it. Return NULL if
 * out of memory. */
struct ek_topics *ek_topics_new(const struct ek_text_list *names, struct ek_log *log);
void ek_topics_free(struct ek_topics *t);

/* Check topics not known to exist if the interval has passed; up to 1 s each. Return true if a
 * missing one has appeared, which the client itself detects only minutes later. */
bool ek_topics_poll(struct ek_topics *t, rd_kafka_t *client);
/* Check all topics at the next poll, after the client reports one missing. */
void ek_topics_recheck(struct ek_topics *t);
/* Return true if topic `number` was missing at the last check. Any thread. */
bool ek_topics_missing(const struct ek_topics *t, size_t number);

enum { EK_TOPIC_WAIT_MS = 15000 };
/* Return true while a missing topic may still appear, because not all brokers know a new topic at
 * once: for EK_TOPIC_WAIT_MS since the first call, which logs it and sets *since_ms (0 before). */
bool ek_topic_is_awaited(int64_t *since_ms, const char *topic, struct ek_log *log);

#endif
