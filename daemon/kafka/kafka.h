/* Kafka functions for callers that do not include librdkafka. */
#ifndef EK_DAEMON_KAFKA_KAFKA_H
#define EK_DAEMON_KAFKA_KAFKA_H

#include "daemon/config/config.h"

#include <stddef.h>

/* Return the version of librdkafka at run time, a static string: "2.0.2". */
const char *ek_kafka_version(void);

#endif
