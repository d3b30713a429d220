/* A plain client of Kafka, as the tools use it: it logs nothing and knows no watch.
 *
 * Owner: the caller, who ends it with rd_kafka_destroy. Threads: as librdkafka says.
 */
#ifndef EK_DAEMON_KAFKA_CLIENT_H
#define EK_DAEMON_KAFKA_CLIENT_H

#include "base/error.h"

#include <librdkafka/rdkafka.h>

#include <stddef.h>

struct ek_kafka_setting {
    const char *name, *value;
};

typedef void ek_kafka_delivery_fn(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque);

/* `delivered` and `opaque` may be NULL. EK_EIO when librdkafka refuses. */
int ek_kafka_client(rd_kafka_t **out, rd_kafka_type_t type, const char *brokers,
                    const struct ek_kafka_setting *settings, size_t count,
                    ek_kafka_delivery_fn *delivered, void *opaque, struct ek_error *e);

#endif
