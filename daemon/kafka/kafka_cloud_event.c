#include "daemon/kafka/kafka_cloud_event.h"

#include "daemon/kafka/cloud_event.h"

rd_kafka_headers_t *ek_kafka_cloud_event(const char *service, const struct ek_event *v,
                                         const char *json, int64_t now_ms)
{
    struct ek_cloud_event e;
    ek_cloud_event_of(&e, service, v, json, now_ms);
    const char *const pairs[][2] = {
        {"ce_specversion", "1.0"}, {"ce_id", e.id},     {"ce_source", e.source},
        {"ce_type", e.type},       {"ce_time", e.time}, {"content-type", "application/json"},
    };
    size_t count = sizeof pairs / sizeof *pairs;
    rd_kafka_headers_t *headers = rd_kafka_headers_new(count);
    for (size_t i = 0; headers && i < count; i++)
        if (rd_kafka_header_add(headers, pairs[i][0], -1, pairs[i][1], -1)) {
            rd_kafka_headers_destroy(headers);
            headers = NULL;
        }
    return headers;
}
