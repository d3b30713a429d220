/* What the rest of the daemon needs to know of Kafka without its library. */
#ifndef EK_DAEMON_KAFKA_KAFKA_H
#define EK_DAEMON_KAFKA_KAFKA_H

#include "daemon/config/config.h"

#include <stddef.h>

/* Version of librdkafka at run time, "2.0.2". */
const char *ek_kafka_version(void);

#endif
