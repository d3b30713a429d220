#include "daemon/kafka_tool.h"

#include "base/alloc.h"
#include "daemon/cli.h"

#include <librdkafka/rdkafka.h>

#include <string.h>

enum { SLICE_MS = 200, ADMIN_RETRY_MS = 300, WATERMARK_WAIT_MS = 5000 };

struct ek_sender {
    rd_kafka_t *client;
    char *topic;
    uint64_t lost;
    char why[200];
};

struct ek_tap {
    rd_kafka_t *client;
    rd_kafka_message_t *current;
    rd_kafka_topic_partition_list_t *ends; /* where each partition ended at the start */
    int64_t *position;                     /* next offset per partition of `ends` */
};

static void swallow_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    (void)rk;
    (void)level;
    (void)facility;
    (void)text;
}

struct setting {
    const char *name, *value;
};

typedef void delivery_fn(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque);

/* A client that logs nothing. `delivered` and `opaque` may be NULL. */
static int make_client(rd_kafka_t **out, rd_kafka_type_t type, const char *brokers,
                       const struct setting *settings, size_t count, delivery_fn *delivered,
                       void *opaque, struct ek_error *e)
{
    char why[300] = "";
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_res_t res =
        rd_kafka_conf_set(conf, "bootstrap.servers", brokers, why, sizeof why);
    for (size_t i = 0; res == RD_KAFKA_CONF_OK && i < count; i++)
        res = rd_kafka_conf_set(conf, settings[i].name, settings[i].value, why, sizeof why);
    rd_kafka_conf_set_log_cb(conf, swallow_log);
    rd_kafka_conf_set_opaque(conf, opaque);
    if (delivered)
        rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    rd_kafka_t *client = res == RD_KAFKA_CONF_OK ? rd_kafka_new(type, conf, why, sizeof why) : NULL;
    if (!client) {
        rd_kafka_conf_destroy(conf);
        return ek_fail(e, EK_EIO, "kafka client: %s", why);
    }
    *out = client;
    return EK_OK;
}

/* One attempt. */
static rd_kafka_resp_err_t create_once(rd_kafka_t *client, const char *topic, int partitions,
                                       const char *const setting[2], char *why, size_t size)
{
    rd_kafka_NewTopic_t *fresh = rd_kafka_NewTopic_new(topic, partitions, 1, why, size);
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

static bool passing(rd_kafka_resp_err_t err)
{
    return err == RD_KAFKA_RESP_ERR__TIMED_OUT || err == RD_KAFKA_RESP_ERR__TRANSPORT ||
           err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || err == RD_KAFKA_RESP_ERR_NOT_CONTROLLER ||
           err == RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT ||
           err == RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS;
}

int ek_kafka_create_topic(const char *brokers, const char *topic, int partitions,
                          const char *const setting[2], int wait_ms, struct ek_error *e)
{
    char why[300] = "";
    rd_kafka_t *client;
    int rc = make_client(&client, RD_KAFKA_PRODUCER, brokers, NULL, 0, NULL, NULL, e);
    if (rc)
        return rc;
    int64_t until = ek_now_ms() + wait_ms;
    rd_kafka_resp_err_t err;
    while (passing(err = create_once(client, topic, partitions, setting, why, sizeof why)) &&
           ek_now_ms() < until)
        rd_kafka_poll(client, ADMIN_RETRY_MS);
    rd_kafka_destroy(client);
    if (!err || err == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
        return EK_OK;
    return ek_fail(e, EK_EIO, "topic '%s' cannot be made: %s", topic, why);
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    struct ek_sender *s = opaque;
    (void)rk;
    if (!m->err)
        return;
    s->lost++;
    snprintf(s->why, sizeof s->why, "%s", rd_kafka_err2str(m->err));
}

int ek_sender_new(struct ek_sender **out, const char *brokers, const char *topic,
                  struct ek_error *e)
{
    static const struct setting settings[] = {{"message.max.bytes", "1000000000"},
                                              {"linger.ms", "20"},
                                              {"partitioner", "murmur2_random"},
                                              {"message.timeout.ms", "60000"}};
    struct ek_sender *s = ek_calloc(1, sizeof *s);
    if (!s || !(s->topic = ek_strdup(topic))) {
        ek_free(s);
        return ek_fail(e, EK_ENOMEM, "no memory for a producer");
    }
    int rc = make_client(&s->client, RD_KAFKA_PRODUCER, brokers, settings,
                         sizeof settings / sizeof *settings, on_delivery, s, e);
    if (rc)
        ek_sender_free(s);
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

int ek_sender_send(struct ek_sender *s, const struct ek_kafka_record *record, struct ek_error *e)
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
    return ek_fail(e, EK_EIO, "topic '%s': %s", s->topic, rd_kafka_err2str(err));
}

int ek_sender_flush(struct ek_sender *s, int wait_ms, struct ek_error *e)
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

void ek_sender_free(struct ek_sender *s)
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

/* All partitions of the topic; NULL when the broker does not tell (in time). */
static rd_kafka_topic_partition_list_t *all_partitions(rd_kafka_t *client, const char *topic,
                                                       int wait_ms)
{
    const struct rd_kafka_metadata *answer;
    rd_kafka_topic_partition_list_t *list = NULL;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    if (!handle)
        return NULL;
    if (!rd_kafka_metadata(client, 0, handle, &answer, wait_ms)) {
        int count = answer->topic_cnt == 1 ? answer->topics[0].partition_cnt : 0;
        if (count)
            list = rd_kafka_topic_partition_list_new(count);
        for (int i = 0; i < count; i++)
            rd_kafka_topic_partition_list_add(list, topic, i);
        rd_kafka_metadata_destroy(answer);
    }
    rd_kafka_topic_destroy(handle);
    return list;
}

/* Assigns every partition from its beginning or end, and remembers the ends. */
static int start_tap(struct ek_tap *t, const char *topic, bool from_end, struct ek_error *e)
{
    rd_kafka_topic_partition_list_t *starts = rd_kafka_topic_partition_list_copy(t->ends);
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; !err && i < t->ends->cnt; i++) {
        int64_t low = 0, high = 0;
        err = rd_kafka_query_watermark_offsets(t->client, topic, i, &low, &high, WATERMARK_WAIT_MS);
        t->ends->elems[i].offset = high;
        t->position[i] = starts->elems[i].offset = from_end ? high : low;
    }
    if (!err)
        err = rd_kafka_assign(t->client, starts);
    rd_kafka_topic_partition_list_destroy(starts);
    return err ? ek_fail(e, EK_EIO, "topic '%s': %s", topic, rd_kafka_err2str(err)) : EK_OK;
}

static int open_tap(struct ek_tap *t, const char *brokers, const char *topic, bool from_end,
                    int wait_ms, struct ek_error *e)
{
    static const struct setting settings[] = {{"group.id", "evenkeel-tap"},
                                              {"enable.auto.commit", "false"},
                                              {"enable.partition.eof", "true"},
                                              {"auto.offset.reset", "earliest"},
                                              {"max.partition.fetch.bytes", "8388608"}};
    int64_t until = ek_now_ms() + wait_ms;
    int rc = make_client(&t->client, RD_KAFKA_CONSUMER, brokers, settings,
                         sizeof settings / sizeof *settings, NULL, NULL, e);
    if (rc)
        return rc;
    rd_kafka_poll_set_consumer(t->client);
    do
        t->ends = all_partitions(t->client, topic, SLICE_MS * 5);
    while (!t->ends && ek_now_ms() < until);
    if (!t->ends)
        return ek_fail(e, EK_EIO, "topic '%s' is not there, or no broker of '%s' answers", topic,
                       brokers);
    t->position = ek_calloc((size_t)t->ends->cnt, sizeof *t->position);
    if (!t->position)
        return ek_fail(e, EK_ENOMEM, "no memory for the partitions");
    return start_tap(t, topic, from_end, e);
}

int ek_tap_new(struct ek_tap **out, const char *brokers, const char *topic, bool from_end,
               int wait_ms, struct ek_error *e)
{
    struct ek_tap *t = ek_calloc(1, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "no memory for a consumer");
    int rc = open_tap(t, brokers, topic, from_end, wait_ms, e);
    if (rc)
        ek_tap_free(t);
    else
        *out = t;
    return rc;
}

static void read_headers(const rd_kafka_message_t *m, struct ek_kafka_record *record)
{
    rd_kafka_headers_t *headers;
    record->header_count = 0;
    if (rd_kafka_message_headers(m, &headers))
        return;
    struct ek_header h;
    while (record->header_count < EK_HEADERS_MAX &&
           !rd_kafka_header_get_all(headers, record->header_count, &h.name, &h.value, &h.length))
        record->headers[record->header_count++] = h;
}

static void read_record(const rd_kafka_message_t *m, struct ek_kafka_record *record)
{
    rd_kafka_timestamp_type_t type;
    int64_t stamp = rd_kafka_message_timestamp(m, &type);
    record->partition = m->partition;
    record->offset = m->offset;
    record->timestamp_ms = type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : stamp;
    record->key = m->key;
    record->key_length = m->key_len;
    record->bytes = m->payload;
    record->length = m->len;
    read_headers(m, record);
}

/* Position of the partition; control records make the end arrive without a last message. */
static void note_position(struct ek_tap *t, const rd_kafka_message_t *m, int64_t next)
{
    if (m->partition >= 0 && m->partition < t->ends->cnt)
        t->position[m->partition] = next;
}

int ek_tap_next(struct ek_tap *t, struct ek_kafka_record *record, int wait_ms, int *got,
                struct ek_error *e)
{
    *got = 0;
    if (t->current)
        rd_kafka_message_destroy(t->current);
    t->current = rd_kafka_consumer_poll(t->client, wait_ms);
    const rd_kafka_message_t *m = t->current;
    if (!m)
        return EK_OK;
    if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        note_position(t, m, m->offset);
        return EK_OK;
    }
    if (m->err == RD_KAFKA_RESP_ERR__TRANSPORT || m->err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        return EK_OK; /* the client tries again by itself */
    if (m->err)
        return ek_fail(e, EK_EIO, "kafka: %s", rd_kafka_message_errstr(m));
    note_position(t, m, m->offset + 1);
    read_record(m, record);
    *got = 1;
    return EK_OK;
}

bool ek_tap_at_end(const struct ek_tap *t)
{
    for (int i = 0; i < t->ends->cnt; i++)
        if (t->position[i] < t->ends->elems[i].offset)
            return false;
    return true;
}

void ek_tap_free(struct ek_tap *t)
{
    if (!t)
        return;
    if (t->current)
        rd_kafka_message_destroy(t->current);
    if (t->client) {
        rd_kafka_consumer_close(t->client);
        rd_kafka_destroy(t->client);
    }
    if (t->ends)
        rd_kafka_topic_partition_list_destroy(t->ends);
    ek_free(t->position);
    ek_free(t);
}
