/* Maximum batch size (`max.message.bytes`) of each output topic.
 *
 * Senders check each message, because a message the broker rejects would void its transaction, and
 * again on each retry. Limits are requested at the start and periodically. Without a response (no
 * DescribeConfigs permission, an old broker) the broker's default is assumed and logged once. Sizes
 * are batch bytes before compression, so a batch that fits only when compressed counts as too
 * large. One thread requests; ek_topic_limits_get from any.
 */
#ifndef EK_DAEMON_KAFKA_TOPIC_LIMITS_H
#define EK_DAEMON_KAFKA_TOPIC_LIMITS_H

#include "base/error.h"
#include "daemon/base/log.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>

enum { EK_TOPIC_LIMITS_TOPICS = 4, EK_LIMIT_ASSUMED = 1048588 };

struct ek_topic_limits;

/* Create the table with default limits. `topics` must outlive it. Return 0 or EK_ENOMEM. */
int ek_topic_limits_new(struct ek_topic_limits **out, const char *const *topics, size_t count,
                        struct ek_log *log, struct ek_error *e);
void ek_topic_limits_free(struct ek_topic_limits *l);

/* Request the limits from `broker`, or from the controller if -1. No effect while a request is in
 * flight. */
void ek_topic_limits_request(struct ek_topic_limits *l, rd_kafka_t *client, int broker);
/* Drop the request in flight, if any. Call before its client is freed. */
void ek_topic_limits_cancel(struct ek_topic_limits *l);
/* Receive the response to a request within wait_ms. Return true once limits are known or known to
 * be unavailable. */
bool ek_topic_limits_poll(struct ek_topic_limits *l, int wait_ms);
/* Return the limit of topic `number` in bytes. Any thread. */
size_t ek_topic_limits_get(const struct ek_topic_limits *l, size_t number);
/* Return the smallest limit of all topics in bytes. Any thread. */
size_t ek_topic_limits_min(const struct ek_topic_limits *l);

/* Return 1 if topic `number` is compacted, 0 if not, -1 if unknown. */
int ek_topic_limits_compacted(const struct ek_topic_limits *l, size_t number);

/* Return the batch bytes of a single message. headers may be NULL. */
size_t ek_topic_limits_batch_bytes(size_t key, size_t value, const rd_kafka_headers_t *headers);

#endif
