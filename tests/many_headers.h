/* Message with any number of headers, each with a one-byte name and no value. The calls of
 * daemon/kafka/tool_client.h send only a few. */
#ifndef EK_TESTS_MANY_HEADERS_H
#define EK_TESTS_MANY_HEADERS_H

#include "tests/check.h"

#include <librdkafka/rdkafka.h>
#include <stdint.h>

/* Send to partition 0 of "scored", without a key. */
static inline void send_many_headers(const char *brokers, const void *value, size_t length,
                                     int count)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_headers_t *headers = rd_kafka_headers_new((size_t)count);
    rd_kafka_conf_set(conf, "bootstrap.servers", brokers, NULL, 0);
    rd_kafka_conf_set(conf, "message.max.bytes", "10000000", NULL, 0);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, NULL, 0);
    ck_assert_ptr_nonnull(client);
    for (int i = 0; i < count; i++)
        rd_kafka_header_add(headers, "h", 1, NULL, 0);
    ck_assert_int_eq(rd_kafka_producev(client, RD_KAFKA_V_TOPIC("scored"), RD_KAFKA_V_PARTITION(0),
                                       RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                       RD_KAFKA_V_VALUE((void *)(uintptr_t)value, length),
                                       RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END),
                     0);
    ck_assert_int_eq(rd_kafka_flush(client, 30000), 0);
    rd_kafka_destroy(client);
}

#endif
