/* Kafka clients and their configurations, message headers, message sizes.
 *
 * librdkafka returns no headers at all of a message with more than 100,000. The stage adds up to
 * ten headers, so a message above EK_MESSAGE_HEADERS_MAX counts as unreadable. Header values are
 * nul-terminated strings. Header functions: one thread per message.
 */
#ifndef EK_DAEMON_KAFKA_CLIENT_H
#define EK_DAEMON_KAFKA_CLIENT_H

#include "base/error.h"
#include "daemon/base/wakeup.h"
#include "daemon/config/config.h"
#include "daemon/kafka/errors.h"
#include "daemon/kafka/tool_client.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_HEADERS_READ = 100000, EK_MESSAGE_HEADERS_MAX = EK_HEADERS_READ - 10 };

#define EK_HEADERS_UNREADABLE "headers: more than 99990, or they cannot be read"

/* Detach the headers of `m`; the caller destroys *headers. NULL if the message has none. They stay
 * available from `m` and can be detached again. Return 0, or EK_ELIMIT with *headers NULL if they
 * are unreadable or too many. */
int ek_kafka_headers_get(rd_kafka_message_t *m, rd_kafka_headers_t **headers);
/* Return true if the message has headers, readable or not. */
bool ek_kafka_has_headers(rd_kafka_message_t *m);
/* Append a copy of a header with a nul-terminated value; no effect if out of memory. */
void ek_kafka_add_header(rd_kafka_headers_t *headers, const char *name, const char *value);

/* Client for command-line tools, which logs nothing. The caller ends it with rd_kafka_destroy. */
struct ek_kafka_setting {
    const char *name, *value;
};

typedef void ek_kafka_delivery_fn(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque);

/* Create a client. The properties of `brokers` override `settings`. `watch` receives
 * connectivity errors, becomes the opaque of the callbacks and must outlive the client.
 * `delivered` may be NULL. Return 0, EK_ECONFIG for an invalid property, or EK_EIO if librdkafka
 * cannot create the client. */
int ek_kafka_client(rd_kafka_t **out, rd_kafka_type_t type, const struct ek_brokers *brokers,
                    const struct ek_kafka_setting *settings, size_t count,
                    ek_kafka_delivery_fn *delivered, struct ek_kafka_watch *watch,
                    struct ek_error *e);

/* Create a client and take ownership of `conf`, also on failure. A consumer receives all events by
 * rd_kafka_consumer_poll. Return 0, or `code` with an error that begins with `what`. Destroy *out
 * with rd_kafka_destroy. */
int ek_kafka_make(rd_kafka_t **out, rd_kafka_type_t type, rd_kafka_conf_t *conf, enum ek_code code,
                  const char *what, struct ek_error *e);

/* Create the configuration of the consumer from defaults and the user's librdkafka properties.
 * `client_id` is the default of `client.id`; NULL: the name of the service. Return 0, or EK_ECONFIG
 * with the position of the rejected property. The caller destroys *out or passes it to
 * ek_kafka_make. */
int ek_kafka_conf_consumer(rd_kafka_conf_t **out, const struct ek_config *c, const char *client_id,
                           struct ek_error *e);
/* Create the configuration of the producer from defaults and the user's librdkafka properties.
 * Return 0, or EK_ECONFIG with the position of the rejected property. The caller destroys *out or
 * passes it to ek_kafka_make. */
int ek_kafka_conf_producer(rd_kafka_conf_t **out, const struct ek_config *c, struct ek_error *e);
/* Create a configuration for an auxiliary client: `input.librdkafka`, for access to the cluster,
 * then `own`, which ends with a NULL name. Return 0, EK_ECONFIG for a rejected property, or
 * EK_ENOMEM. The caller destroys *out or passes it to ek_kafka_make. */
int ek_kafka_conf_auxiliary(rd_kafka_conf_t **out, const struct ek_config *c,
                            const struct ek_kafka_setting *own, struct ek_error *e);
/* Return true if librdkafka has `fetch.queue.backoff.ms` (2.3 and later). */
bool ek_kafka_conf_has_backoff(void);
/* Set one property of a librdkafka configuration. Return 0, or EK_ECONFIG with its name for an
 * unknown property or an invalid value. */
int ek_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value,
                      struct ek_error *e);

/* Older versions of librdkafka lose commits and loop in cooperative rebalances. */
enum { EK_COOPERATIVE_VERSION = 0x020a00ff };

/* Signal `wakeup` when `queue` receives an event. */
void ek_kafka_signal_on_event(rd_kafka_queue_t *queue, const struct ek_wakeup *wakeup);
/* Return the timestamp of a message, or -1 if it has none. */
int64_t ek_kafka_time_ms(const rd_kafka_message_t *m);

/* Memory of in-flight messages. Each byte exists at most three times: in the fetched message, in
 * the output and in the produce request. The output holds copies of a changed value and of the key,
 * and a list of headers. librdkafka 2.0 takes 88 bytes of list per header, so EK_HEADER_BYTES is
 * added for each. */
enum { EK_HEADER_BYTES = 40 }; /* list overhead of a header */

/* Return the bytes of value, key and headers. Headers of unknown size count as `unread`, the limit
 * of bytes in flight. It frees the list of headers that it reads, so that a list exists only from
 * output to acknowledgment. */
size_t ek_inflight_bytes(rd_kafka_message_t *m, size_t unread);

#endif
