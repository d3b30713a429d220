#include "daemon/kafka/tool_client.h"

#include "base/alloc.h"
#include "daemon/base/clock.h"
#include "daemon/kafka/client.h"

#include <string.h>

enum { SLICE_MS = 200, ADMIN_RETRY_MS = 300 };

struct ek_tool_producer {
    rd_kafka_t *client;
    struct ek_kafka_watch watch;
    char *topic;
    uint64_t lost;
    char why[200];
};

static rd_kafka_resp_err_t create_once(rd_kafka_t *client, const char *topic, int partitions,
                                       const char *const setting[2], char *why, size_t size)
{
    rd_kafka_NewTopic_t *fresh = rd_kafka_NewTopic_new(topic, partitions, -1, why, size);
    if (!fresh)
        return RD_KAFKA_RESP_ERR__INVALID_ARG;
    if (setting)
        rd_kafka_NewTopic_set_config(fresh, setting[0], setting[1]);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_CreateTopics(client, &fresh, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 10 * SLICE_MS);
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (event)
        err = rd_kafka_event_error(event);
    if (event && !err) {
        size_t count;
        const rd_kafka_topic_result_t **results =
            rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
        err = count ? rd_kafka_topic_result_error(results[0]) : RD_KAFKA_RESP_ERR_UNKNOWN;
    }
    snprintf(why, size, "%s", rd_kafka_err2str(err));
    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(fresh);
    return err;
}

int ek_kafka_create_topic(const char *brokers, const char *topic, int partitions,
                          const char *const setting[2], int wait_ms, struct ek_error *e)
{
    char why[300] = "";
    rd_kafka_t *client;
    struct ek_kafka_watch watch = {.role = "producer"};
    int rc = ek_kafka_client(&client, RD_KAFKA_PRODUCER, &(struct ek_brokers){brokers, NULL}, NULL,
                             0, NULL, &watch, e);
    if (rc)
        return rc;
    int64_t until = ek_now_ms() + wait_ms;
    rd_kafka_resp_err_t err;
    while ((err = create_once(client, topic, partitions, setting, why, sizeof why)) &&
           ek_kafka_classify(err, EK_KAFKA_ADMIN) == EK_KAFKA_RETRIABLE && ek_now_ms() < until)
        rd_kafka_poll(client, ADMIN_RETRY_MS);
    rd_kafka_destroy(client);
    if (!err || err == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
        return EK_OK;
    return ek_fail(e, EK_EIO, "topic '%s' cannot be made: %s", topic, why);
}

/* The client alone knows the cause of a fatal producer error. */
static const char *reason(rd_kafka_t *rk, rd_kafka_resp_err_t err, char *why, size_t size)
{
    if (err != RD_KAFKA_RESP_ERR__FATAL || !rd_kafka_fatal_error(rk, why, size))
        snprintf(why, size, "%s", rd_kafka_err2str(err));
    return why;
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    struct ek_tool_producer *s = ((struct ek_kafka_watch *)opaque)->owner;
    if (!m->err)
        return;
    s->lost++;
    reason(rk, m->err, s->why, sizeof s->why);
}

int ek_tool_producer_new(struct ek_tool_producer **out, const char *brokers, const char *topic,
                         unsigned flags, struct ek_error *e)
{
    /* Only idempotence keeps the order of a partition over retries. */
    const struct ek_kafka_setting settings[] = {
        {"enable.idempotence", flags & EK_TOOL_PRODUCER_ORDERED ? "true" : "false"},
        {"message.max.bytes", "1000000000"},
        {"linger.ms", "20"},
        {"partitioner", "murmur2_random"},
        {"message.timeout.ms", "60000"}};
    struct ek_tool_producer *s = ek_calloc(1, sizeof *s);
    if (!s || !(s->topic = ek_strdup(topic))) {
        ek_free(s);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    s->watch = (struct ek_kafka_watch){.role = "producer", .owner = s};
    int rc =
        ek_kafka_client(&s->client, RD_KAFKA_PRODUCER, &(struct ek_brokers){brokers, NULL},
                        settings, sizeof settings / sizeof *settings, on_delivery, &s->watch, e);
    if (rc)
        ek_tool_producer_free(s);
    else
        *out = s;
    return rc;
}

static rd_kafka_headers_t *make_headers(const struct ek_kafka_record *record)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(record->header_count);
    for (size_t i = 0; headers && i < record->header_count; i++) {
        const struct ek_header *h = &record->headers[i];
        rd_kafka_header_add(headers, h->name, -1, h->value, (ssize_t)h->length);
    }
    return headers;
}

int ek_tool_producer_send(struct ek_tool_producer *s, const struct ek_kafka_record *record,
                          struct ek_error *e)
{
    rd_kafka_resp_err_t err;
    rd_kafka_headers_t *headers = make_headers(record);
    int64_t stamp = record->timestamp_ms > 0 ? record->timestamp_ms : 0;
    while ((err = rd_kafka_producev(
                s->client, RD_KAFKA_V_TOPIC(s->topic), RD_KAFKA_V_PARTITION(record->partition),
                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                RD_KAFKA_V_KEY(record->key, record->key_length),
                RD_KAFKA_V_VALUE((void *)(uintptr_t)record->bytes, record->length),
                RD_KAFKA_V_TIMESTAMP(stamp), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END)) ==
           RD_KAFKA_RESP_ERR__QUEUE_FULL)
        rd_kafka_poll(s->client, SLICE_MS);
    rd_kafka_poll(s->client, 0);
    if (!err)
        return EK_OK;
    rd_kafka_headers_destroy(headers);
    return ek_fail(e, EK_EIO, "topic '%s': %s", s->topic,
                   reason(s->client, err, s->why, sizeof s->why));
}

int ek_tool_producer_flush(struct ek_tool_producer *s, int wait_ms, struct ek_error *e)
{
    rd_kafka_resp_err_t err = rd_kafka_flush(s->client, wait_ms);
    if (err)
        return ek_fail(e, EK_EIO, "topic '%s': %d messages unacknowledged: %s", s->topic,
                       rd_kafka_outq_len(s->client), rd_kafka_err2str(err));
    if (s->lost)
        return ek_fail(e, EK_EIO, "topic '%s': %llu messages lost: %s", s->topic,
                       (unsigned long long)s->lost, s->why);
    return EK_OK;
}

void ek_tool_producer_free(struct ek_tool_producer *s)
{
    if (!s)
        return;
    if (s->client) {
        rd_kafka_purge(s->client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(s->client, SLICE_MS);
        rd_kafka_destroy(s->client);
    }
    ek_free(s->topic);
    ek_free(s);
}
