/* librdkafka configurations of consumer, producer and auxiliary clients, built from a configuration
 * (ek_config) and the user's properties. */
#ifndef EK_DAEMON_KAFKA_CLIENT_CONF_H
#define EK_DAEMON_KAFKA_CLIENT_CONF_H

#include "daemon/config/config.h"
#include "daemon/kafka/client.h"

#include <librdkafka/rdkafka.h>

/* Create the configuration of the consumer, from defaults and the user's librdkafka properties. A
 * client takes it over, or the caller destroys it. Return 0, or EK_ECONFIG with the position of the
 * rejected property. */
int ek_kafka_conf_consumer(rd_kafka_conf_t **out, const struct ek_config *c, struct ek_error *e);
/* As ek_kafka_conf_consumer, for the producer. */
int ek_kafka_conf_producer(rd_kafka_conf_t **out, const struct ek_config *c, struct ek_error *e);
/* Create a configuration for an auxiliary client: `input.librdkafka`, for access to the cluster,
 * then `own`, which ends with a NULL name. Return 0, EK_ECONFIG or EK_ENOMEM. */
int ek_kafka_conf_auxiliary(rd_kafka_conf_t **out, const struct ek_config *c,
                            const struct ek_kafka_setting *own, struct ek_error *e);
/* Return true if librdkafka has `fetch.queue.backoff.ms` (2.3 and later). */
bool ek_kafka_conf_has_backoff(void);
/* Set one property of a librdkafka configuration. Return 0, or EK_ECONFIG with its name for an
 * unknown property or an invalid value. */
int ek_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value,
                      struct ek_error *e);
/* Set one property of the configuration file. Errors do not show a secret value. Return 0,
 * EK_ECONFIG or EK_ENOMEM. */
int ek_kafka_conf_set_property(rd_kafka_conf_t *conf, const struct ek_property *p,
                               struct ek_error *e);

/* Older versions of librdkafka lose commits and loop in cooperative rebalances. */
enum { EK_COOPERATIVE_VERSION = 0x020a00ff };

#endif
