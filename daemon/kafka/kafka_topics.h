/* Which of the topics to read are not there: a subscription waits for them without a word. And for
 * how long a start waits for one.
 *
 * Asks the brokers every few seconds until all topics were seen, and again when the client doubts
 * one. A missing topic is told in the log at once and then every ten minutes.
 * Owner: the caller; names, client and log must outlive it. Threads: one, but for
 * ek_topics_missing, which any may call.
 */
#ifndef EK_DAEMON_KAFKA_TOPICS_H
#define EK_DAEMON_KAFKA_TOPICS_H

#include "daemon/config/config.h"
#include "daemon/base/log.h"

#include <librdkafka/rdkafka.h>

#include <stdbool.h>

struct ek_topics;

/* NULL without memory. */
struct ek_topics *ek_topics_new(const struct ek_text_list *names, struct ek_log *log);
void ek_topics_free(struct ek_topics *t);

/* Asks when it is time to; up to a second for each topic that is not known to be there.
 * True when one that was missing has come: the client learns it only minutes later by itself. */
bool ek_topics_look(struct ek_topics *t, rd_kafka_t *client);
/* The client says that a topic is gone: ask again at the next look. */
void ek_topics_doubt(struct ek_topics *t);
/* True when topic `number` was not there at the last look. */
bool ek_topics_missing(const struct ek_topics *t, size_t number);

/* At the start a topic that was just made is not known to all brokers at once. Whether one that was
 * not there may still come; the first is told in the log. *since_ms: when that was, 0 before. */
enum { EK_TOPIC_WAIT_MS = 15000 };
bool ek_topic_may_come(int64_t *since_ms, const char *topic, struct ek_log *log);

#endif
