/* What the rest of the daemon needs to know of Kafka without its library. */
#ifndef EK_DAEMON_KAFKA_H
#define EK_DAEMON_KAFKA_H

#include "daemon/config/config.h"

#include <stddef.h>

/* Holds the passed-through properties against librdkafka: unknown names, wrong values, and names
 * that belong to evenkeel. EK_ECONFIG with the place of the property. With
 * `faults` (may be NULL) they are all added there, and the code is 0. */
int ek_kafka_check(const struct ek_config *c, struct ek_error_list *faults, struct ek_error *e);

/* Version of librdkafka at run time, "2.0.2". */
const char *ek_kafka_version(void);

#endif
