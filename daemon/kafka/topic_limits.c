#include "daemon/kafka/topic_limits.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/kafka/errors.h"

#include <stdatomic.h>
#include <string.h>

/* Kafka "Message Format": batch header; attributes and both deltas of the first record. */
enum { BATCH_HEAD = 61, RECORD_HEAD = 3, REQUEST_TIMEOUT_MS = 5000 };

struct ek_topic_limits {
    const char *topics[EK_TOPIC_LIMITS_TOPICS];
    atomic_size_t bytes[EK_TOPIC_LIMITS_TOPICS];
    int compacted[EK_TOPIC_LIMITS_TOPICS];
    size_t count;
    struct ek_log *log;
    rd_kafka_queue_t *answers; /* NULL: no request in flight */
    bool known, logged;
};

int ek_topic_limits_new(struct ek_topic_limits **out, const char *const *topics, size_t count,
                        struct ek_log *log, struct ek_error *e)
{
    struct ek_topic_limits *l = ek_calloc(1, sizeof *l);
    if (!l)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    l->log = log;
    l->count = count;
    for (size_t i = 0; i < count; i++) {
        l->topics[i] = topics[i];
        atomic_init(&l->bytes[i], EK_LIMIT_ASSUMED);
        l->compacted[i] = -1;
    }
    *out = l;
    return EK_OK;
}

void ek_topic_limits_cancel(struct ek_topic_limits *l)
{
    if (l->answers)
        rd_kafka_queue_destroy(l->answers);
    l->answers = NULL;
}

void ek_topic_limits_free(struct ek_topic_limits *l)
{
    if (!l)
        return;
    ek_topic_limits_cancel(l);
    ek_free(l);
}

void ek_topic_limits_request(struct ek_topic_limits *l, rd_kafka_t *client, int broker)
{
    char why[200];
    rd_kafka_ConfigResource_t *resources[EK_TOPIC_LIMITS_TOPICS];
    if (l->answers)
        return;
    l->answers = rd_kafka_queue_new(client);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    rd_kafka_AdminOptions_set_request_timeout(options, REQUEST_TIMEOUT_MS, why, sizeof why);
    if (broker >= 0)
        rd_kafka_AdminOptions_set_broker(options, broker, why, sizeof why);
    for (size_t i = 0; i < l->count; i++)
        resources[i] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, l->topics[i]);
    rd_kafka_DescribeConfigs(client, resources, l->count, options, l->answers);
    rd_kafka_ConfigResource_destroy_array(resources, l->count);
    rd_kafka_AdminOptions_destroy(options);
}

static void assume(struct ek_topic_limits *l, const char *topic, const char *why)
{
    if (!l->logged)
        ek_log_write(l->log, EK_LOG_INFO, "topic_limits_unknown",
                     "topic=%s assumed=%d reason=\"%s\"", topic, EK_LIMIT_ASSUMED, why);
    l->logged = true;
}

static void set_limits(struct ek_topic_limits *l, const rd_kafka_ConfigResource_t *r)
{
    size_t number = 0, count;
    int64_t value;
    while (number < l->count && strcmp(l->topics[number], rd_kafka_ConfigResource_name(r)) != 0)
        number++;
    if (number == l->count)
        return;
    if (rd_kafka_ConfigResource_error(r)) {
        assume(l, l->topics[number], rd_kafka_ConfigResource_error_string(r));
        return;
    }
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(r, &count);
    for (size_t i = 0; i < count; i++) {
        const char *name = rd_kafka_ConfigEntry_name(entries[i]);
        const char *text = rd_kafka_ConfigEntry_value(entries[i]);
        if (text && !strcmp(name, "cleanup.policy"))
            l->compacted[number] = strstr(text, "compact") != NULL;
        if (text && !strcmp(name, "max.message.bytes") && !ek_parse_i64(text, EK_WHOLE, &value) &&
            value > 0)
            atomic_store(&l->bytes[number], (size_t)value);
    }
}

bool ek_topic_limits_poll(struct ek_topic_limits *l, int wait_ms)
{
    size_t count = 0;
    rd_kafka_event_t *event = l->answers ? rd_kafka_queue_poll(l->answers, wait_ms) : NULL;
    if (!event)
        return l->known;
    rd_kafka_resp_err_t err = rd_kafka_event_error(event);
    const rd_kafka_DescribeConfigs_result_t *result =
        err ? NULL : rd_kafka_event_DescribeConfigs_result(event);
    const rd_kafka_ConfigResource_t **resources =
        result ? rd_kafka_DescribeConfigs_result_resources(result, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        set_limits(l, resources[i]);
    /* A failed request is repeated. */
    bool answered = !err || ek_kafka_classify(err, EK_KAFKA_ADMIN) != EK_KAFKA_RETRIABLE;
    if (err && answered)
        assume(l, l->topics[0], rd_kafka_event_error_string(event));
    l->known |= answered;
    rd_kafka_event_destroy(event);
    ek_topic_limits_cancel(l);
    return l->known;
}

size_t ek_topic_limits_get(const struct ek_topic_limits *l, size_t number)
{
    return atomic_load_explicit(&l->bytes[number], memory_order_relaxed);
}

int ek_topic_limits_compacted(const struct ek_topic_limits *l, size_t number)
{
    return l->compacted[number];
}

size_t ek_topic_limits_min(const struct ek_topic_limits *l)
{
    size_t least = ek_topic_limits_get(l, 0);
    for (size_t i = 1; i < l->count; i++)
        if (ek_topic_limits_get(l, i) < least)
            least = ek_topic_limits_get(l, i);
    return least;
}

/* Return the bytes of a zigzag varint. Null (-1) takes one byte, as 0 does. */
static size_t varint_bytes(size_t number)
{
    size_t bytes = 1;
    for (uint64_t left = 2 * (uint64_t)number; left >= 128; left /= 128)
        bytes++;
    return bytes;
}

static size_t field_bytes(size_t length)
{
    return varint_bytes(length) + length;
}

size_t ek_topic_limits_batch_bytes(size_t key, size_t value, const rd_kafka_headers_t *headers)
{
    size_t record = RECORD_HEAD + field_bytes(key) + field_bytes(value), count = 0, length;
    const char *name;
    const void *content;
    for (; headers && !rd_kafka_header_get_all(headers, count, &name, &content, &length); count++)
        record += field_bytes(strlen(name)) + field_bytes(length);
    record += varint_bytes(count);
    return BATCH_HEAD + field_bytes(record);
}
