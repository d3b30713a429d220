/* librdkafka configurations out of ours. */
#ifndef EK_DAEMON_KAFKA_CLIENT_CONF_H
#define EK_DAEMON_KAFKA_CLIENT_CONF_H

#include "daemon/config/config.h"
#include "daemon/kafka/client.h"

#include <librdkafka/rdkafka.h>

/* Defaults of ours, then the properties of the configuration. EK_ECONFIG at the place of the
 * property that is refused. */
int ek_kafka_conf_consumer(rd_kafka_conf_t **out, const struct ek_config *c, struct ek_error *e);
int ek_kafka_conf_producer(rd_kafka_conf_t **out, const struct ek_config *c, struct ek_error *e);
/* A client beside these two: the properties of `input.librdkafka`, which it takes to get in, and
 * then those of `own`, up to a name that is NULL. */
int ek_kafka_conf_auxiliary(rd_kafka_conf_t **out, const struct ek_config *c,
                            const struct ek_kafka_setting *own, struct ek_error *e);
/* Whether consumers look at a full queue again after a while of ours (librdkafka 2.3 and later). */
bool ek_kafka_conf_has_backoff(void);
/* Sets one property. EK_ECONFIG. */
int ek_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value,
                      struct ek_error *e);
/* As _set, of the configuration; a secret value stands in no error. */
int ek_kafka_conf_set_property(rd_kafka_conf_t *conf, const struct ek_property *p,
                               struct ek_error *e);

#endif
