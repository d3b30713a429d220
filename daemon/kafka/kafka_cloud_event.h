/* Headers of CloudEvents 1.0 in their Kafka binding, binary mode. */
#ifndef EK_DAEMON_KAFKA_CLOUD_EVENT_H
#define EK_DAEMON_KAFKA_CLOUD_EVENT_H

#include "guard/event.h"

#include <librdkafka/rdkafka.h>
#include <stdint.h>

/* For an event of this service, and `json`, which it is; the caller's. NULL without memory. */
rd_kafka_headers_t *ek_kafka_cloud_event(const char *service, const struct ek_event *v,
                                         const char *json, int64_t now_ms);

#endif
