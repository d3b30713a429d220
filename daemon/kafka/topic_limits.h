/* How large a batch the brokers take into each topic that is written.
 *
 * A message that is too large must not reach the broker: in a transaction it would void all the
 * others, come again, and void them again. So the brokers are asked for `max.message.bytes` of each
 * topic, at the start and now and then, and who sends holds each message against the answer. Where
 * they may not be asked (no right to DescribeConfigs, an old broker) their default is assumed,
 * which is told once.
 * Units: bytes of a batch as the broker counts it, before compression: a batch that only
 * compression would make fit counts as too large.
 * Owner: the caller. Threads: one that asks; ek_topic_limits_get from any.
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

/* The names must outlive it. EK_ENOMEM. */
int ek_topic_limits_new(struct ek_topic_limits **out, const char *const *topics, size_t count,
                        struct ek_log *log, struct ek_error *e);
void ek_topic_limits_free(struct ek_topic_limits *l);

/* Asks this broker, any will do, or when -1 the one that the client holds for the controller;
 * nothing while a question is on its way. */
void ek_topic_limits_request(struct ek_topic_limits *l, rd_kafka_t *client, int broker);
/* Takes the answer when it comes within wait_ms. True once there was one, or is none to be had. */
bool ek_topic_limits_poll(struct ek_topic_limits *l, int wait_ms);
/* Of topic `number`; and the least of all. */
size_t ek_topic_limits_get(const struct ek_topic_limits *l, size_t number);
size_t ek_topic_limits_min(const struct ek_topic_limits *l);

/* Whether topic `number` is compacted; -1: not known. */
int ek_topic_limits_compacted(const struct ek_topic_limits *l, size_t number);

/* The bytes that a batch of this one message has. headers may be NULL. */
size_t ek_topic_limits_batch_bytes(size_t key, size_t value, const rd_kafka_headers_t *headers);

#endif
