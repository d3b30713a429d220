/* Headers of messages that go on.
 *
 * librdkafka gives out none at all of a message that has more than 100,000, and neither would a
 * reader of ours, so one that has not room for what the stage adds counts as having too many.
 * Values are text that ends with a nul. Threads: whoever has the message.
 */
#ifndef EK_DAEMON_KAFKA_CLIENT_H
#define EK_DAEMON_KAFKA_CLIENT_H

#include "base/error.h"
#include "daemon/base/wakeup.h"
#include "daemon/kafka/errors.h"
#include "daemon/kafka/tool_client.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_HEADERS_READ = 100000, EK_MESSAGE_HEADERS_MAX = EK_HEADERS_READ - 10 };

#define EK_HEADERS_UNREADABLE "headers: more than 99990, or they cannot be read"

/* Takes those of the message off it, for the caller to destroy, so that they are in memory for as
 * long as he has them; they can be had again. NULL: it has none. EK_ELIMIT: they cannot be had, or
 * are too many; then *headers is NULL, too. */
int ek_kafka_headers_get(rd_kafka_message_t *m, rd_kafka_headers_t **headers);
/* Whether there are any, readable or not. */
bool ek_kafka_has_headers(rd_kafka_message_t *m);
void ek_kafka_add_header(rd_kafka_headers_t *headers, const char *name, const char *value);

/* A plain client of Kafka, as the tools use it: it logs nothing. And what any client needs of
 * queues and messages.
 *
 * Owner: the caller, who ends it with rd_kafka_destroy. Threads: as librdkafka says.
 */
struct ek_kafka_setting {
    const char *name, *value;
};

typedef void ek_kafka_delivery_fn(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque);

/* What stands between a client and its brokers is told to `watch`, which outlives it and becomes
 * the opaque of its callbacks; `delivered` may be NULL. The properties of `brokers` come last.
 * EK_EIO when librdkafka refuses, EK_ECONFIG for a property of `brokers`. */
int ek_kafka_client(rd_kafka_t **out, rd_kafka_type_t type, const struct ek_brokers *brokers,
                    const struct ek_kafka_setting *settings, size_t count,
                    ek_kafka_delivery_fn *delivered, struct ek_kafka_watch *watch,
                    struct ek_error *e);

/* The client of a configuration, which is spent, also where librdkafka refuses: then `code`, and an
 * error that begins with `what`. What comes for a consumer, rd_kafka_consumer_poll gives. */
int ek_kafka_make(rd_kafka_t **out, rd_kafka_type_t type, rd_kafka_conf_t *conf, enum ek_code code,
                  const char *what, struct ek_error *e);

/* Whenever something comes into the queue, the bell rings. */
void ek_kafka_signal_on_event(rd_kafka_queue_t *queue, const struct ek_wakeup *wakeup);
/* Time of a message by its topic, -1 when it is not known. */
int64_t ek_kafka_time_ms(const rd_kafka_message_t *m);

#endif
