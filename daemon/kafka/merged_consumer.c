/* Consumer for command-line tools: merges partitions by record time. */
#include "base/alloc.h"
#include "daemon/base/clock.h"
#include "daemon/kafka/client.h"
#include "daemon/kafka/tool_client.h"
#include "daemon/kafka/topics.h"

enum {
    REQUEST_TIMEOUT_MS = 1000, /* timeout of one metadata request */
    REQUEST_RETRY_MS = 200,    /* between two metadata requests */
    QUIET_MS = 1500,           /* a reachable broker responds within this time */
    ABSENT_MS = 3000,          /* a new topic is not known to all brokers at once */
    REFUSED_MS = 3000,         /* long enough to be rejected by every broker */
    WATERMARK_MS = 5000,       /* timeout of one watermark query */
    BACKLOG_MS = 5000,         /* longest wait for a partition that has a backlog */
    SILENCE_MS = 500,          /* longest wait for a partition read to its end */
    ONE_SLICE_MS = 100,        /* longest wait for the only partition without a record */
    MANY_SLICE_MS = 10,        /* longest wait for one of several such partitions */
    LAST_HEADERS = 16          /* headers kept from the end of a longer list */
};

/* Queue of one partition, with at most one record buffered. */
struct partition_queue {
    rd_kafka_queue_t *queue;
    rd_kafka_message_t *head;
    int64_t position, end; /* next offset to return; end offset at the start */
    int64_t received_ms;   /* time of the last event */
};

struct ek_merged_consumer {
    rd_kafka_t *client;
    struct ek_kafka_watch watch;
    rd_kafka_message_t *current;
    struct partition_queue *partition_queues;
    int count;
    unsigned flags;
    int64_t since_ms; /* begin here; -1: any time */
};

/* Return true if brokers keep rejecting this client, so that retries are useless. */
static bool refused(struct ek_merged_consumer *t, struct ek_kafka_health_state *why)
{
    return ek_kafka_health_get(t->watch.trouble, why) > EK_KAFKA_HEALTH_NO_BROKER &&
           ek_now_ms() - why->since_ms > REFUSED_MS;
}

static int no_partitions(struct ek_merged_consumer *t, const char *brokers, const char *topic,
                         bool answered, rd_kafka_resp_err_t err, struct ek_error *e)
{
    struct ek_kafka_health_state why;
    char text[EK_KAFKA_HEALTH_TEXT];
    if (!answered && ek_kafka_health_get(t->watch.trouble, &why) > EK_KAFKA_HEALTH_NO_BROKER)
        return ek_fail(e, EK_EIO, "%s", why.text);
    if (!answered)
        return ek_fail(e, EK_EIO, "no broker of '%s' answers: %s", brokers, rd_kafka_err2str(err));
    if (err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        return ek_fail(e, EK_EIO, "topic '%s' is not there", topic);
    ek_kafka_errmsg(text, sizeof text, &t->watch, err, EK_KAFKA_CONSUME, topic, NULL);
    return ek_fail(e, EK_EIO, "%s", text);
}

/* Warn once: the address may be mistyped. */
static void log_waiting(struct ek_merged_consumer *t, const char *brokers, int wait_ms)
{
    if (t->flags & EK_MERGED_CONSUMER_VERBOSE)
        fprintf(stderr, "no broker of '%s' answers yet: waiting for up to %d s\n", brokers,
                wait_ms / 1000);
    t->flags &= ~(unsigned)EK_MERGED_CONSUMER_VERBOSE;
}

/* Wait before a request is repeated. There are no records before the assignment, only errors. */
static void wait_before_retry(struct ek_merged_consumer *t)
{
    rd_kafka_message_t *ignored = rd_kafka_consumer_poll(t->client, REQUEST_RETRY_MS);
    if (ignored)
        rd_kafka_message_destroy(ignored);
}

static int find_partitions(struct ek_merged_consumer *t, const char *brokers, const char *topic,
                           int wait_ms, struct ek_error *e)
{
    struct ek_kafka_health_state why;
    int64_t until = ek_now_ms() + wait_ms, absent_until = INT64_MAX;
    struct ek_topic_info answer;
    rd_kafka_resp_err_t err;
    while ((err = ek_kafka_get_topic(t->client, topic, REQUEST_TIMEOUT_MS, &answer))) {
        int64_t now = ek_now_ms();
        if (answer.responded && absent_until == INT64_MAX)
            absent_until = now + ABSENT_MS;
        if (!answer.responded && now >= until - wait_ms + QUIET_MS)
            log_waiting(t, brokers, wait_ms);
        if (now >= until || (answer.responded && now >= absent_until) ||
            (!answer.responded && refused(t, &why)))
            break;
        wait_before_retry(t);
    }
    t->count = answer.partitions;
    return err ? no_partitions(t, brokers, topic, answer.responded, err, e) : EK_OK;
}

/* Wait if an error of a partition may pass until then: a broker does not know at once that it leads
 * a new one. Return whether to ask it for the offsets a further time. */
static bool wait_for_leader(struct ek_merged_consumer *t, rd_kafka_resp_err_t err, int64_t until_ms)
{
    if (!err || ek_kafka_classify(err, EK_KAFKA_CONSUME) != EK_KAFKA_RETRIABLE ||
        ek_now_ms() >= until_ms)
        return false;
    wait_before_retry(t);
    return true;
}

/* Set *offset to that of the first record at or after since_ms; -1: none. */
static int find_time(struct ek_merged_consumer *t, const char *topic, int partition,
                     int64_t *offset, struct ek_error *e)
{
    rd_kafka_topic_partition_list_t *one = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(one, topic, partition)->offset = t->since_ms;
    rd_kafka_resp_err_t err = rd_kafka_offsets_for_times(t->client, one, WATERMARK_MS);
    err = err ? err : one->elems[0].err;
    *offset = one->elems[0].offset < 0 ? -1 : one->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(one);
    return err ? ek_fail(e, EK_EIO, "topic '%s': %s", topic, rd_kafka_err2str(err)) : EK_OK;
}

/* Detach the partition's queue from the consumer queue before assignment, so that no record arrives
 * there. */
static int open_partition_queue(struct ek_merged_consumer *t, const char *topic, int partition,
                                rd_kafka_topic_partition_list_t *starts, struct ek_error *e)
{
    struct partition_queue *s = &t->partition_queues[partition];
    int64_t low = 0, high = 0, until_ms = ek_now_ms() + ABSENT_MS;
    rd_kafka_resp_err_t err;
    do
        err = rd_kafka_query_watermark_offsets(t->client, topic, partition, &low, &high,
                                               WATERMARK_MS);
    while (wait_for_leader(t, err, until_ms));
    if (err)
        return ek_fail(e, EK_EIO, "topic '%s': %s", topic, rd_kafka_err2str(err));
    s->queue = rd_kafka_queue_get_partition(t->client, topic, partition);
    if (!s->queue)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    rd_kafka_queue_forward(s->queue, NULL);
    s->end = high;
    s->position = t->flags & EK_MERGED_CONSUMER_FROM_END ? high : low;
    int rc = t->since_ms < 0 ? EK_OK : find_time(t, topic, partition, &s->position, e);
    if (rc)
        return rc;
    s->position = s->position < 0 ? high : s->position;
    s->received_ms = ek_now_ms();
    rd_kafka_topic_partition_list_add(starts, topic, partition)->offset = s->position;
    return EK_OK;
}

static int start(struct ek_merged_consumer *t, const char *topic, struct ek_error *e)
{
    t->partition_queues = ek_calloc((size_t)t->count, sizeof *t->partition_queues);
    if (!t->partition_queues)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    rd_kafka_topic_partition_list_t *starts = rd_kafka_topic_partition_list_new(t->count);
    int rc = EK_OK;
    for (int i = 0; !rc && i < t->count; i++)
        rc = open_partition_queue(t, topic, i, starts, e);
    rd_kafka_resp_err_t err = rc ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_assign(t->client, starts);
    rd_kafka_topic_partition_list_destroy(starts);
    return err ? ek_fail(e, EK_EIO, "topic '%s': %s", topic, rd_kafka_err2str(err)) : rc;
}

static int open_consumer(struct ek_merged_consumer *t, const struct ek_brokers *brokers,
                         const char *topic, int wait_ms, struct ek_error *e)
{
    static const struct ek_kafka_setting settings[] = {{"group.id", "evenkeel-tap"},
                                                       {"enable.auto.commit", "false"},
                                                       {"enable.partition.eof", "true"},
                                                       {"auto.offset.reset", "earliest"},
                                                       {"queued.max.messages.kbytes", "16384"},
                                                       {"max.partition.fetch.bytes", "8388608"}};
    int rc = ek_kafka_client(&t->client, RD_KAFKA_CONSUMER, brokers, settings,
                             sizeof settings / sizeof *settings, NULL, &t->watch, e);
    if (rc)
        return rc;
    rc = find_partitions(t, brokers->addresses, topic, wait_ms, e);
    return rc ? rc : start(t, topic, e);
}

int ek_merged_consumer_new(struct ek_merged_consumer **out, const char *brokers, const char *topic,
                           unsigned flags, int wait_ms, struct ek_error *e)
{
    return ek_merged_consumer_open(out, &(struct ek_brokers){brokers, NULL}, topic, flags, -1,
                                   wait_ms, e);
}

int ek_merged_consumer_open(struct ek_merged_consumer **out, const struct ek_brokers *brokers,
                            const char *topic, unsigned flags, int64_t since_ms, int wait_ms,
                            struct ek_error *e)
{
    struct ek_merged_consumer *t = ek_calloc(1, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    t->flags = flags;
    t->since_ms = since_ms;
    t->watch = (struct ek_kafka_watch){.role = "consumer", .owner = t};
    t->watch.trouble = ek_kafka_health_new();
    int rc = !t->watch.trouble ? ek_fail(e, EK_ENOMEM, "out of memory")
                               : open_consumer(t, brokers, topic, wait_ms, e);
    if (rc)
        ek_merged_consumer_free(t);
    else
        *out = t;
    return rc;
}

/* Of too many headers omit those in the middle: the stage appends its headers. */
static void read_headers(const rd_kafka_message_t *m, struct ek_kafka_record *record)
{
    rd_kafka_headers_t *headers;
    record->header_count = 0;
    if (rd_kafka_message_headers(m, &headers))
        return;
    struct ek_header h;
    size_t count = rd_kafka_header_cnt(headers);
    size_t left_out = count > EK_HEADERS_MAX ? count - EK_HEADERS_MAX : 0;
    for (size_t i = 0; i < count && record->header_count < EK_HEADERS_MAX; i++) {
        if (i == EK_HEADERS_MAX - LAST_HEADERS)
            i += left_out;
        if (!rd_kafka_header_get_all(headers, i, &h.name, &h.value, &h.length))
            record->headers[record->header_count++] = h;
    }
}

static void read_record(const rd_kafka_message_t *m, struct ek_kafka_record *record)
{
    record->partition = m->partition;
    record->offset = m->offset;
    record->timestamp_ms = ek_kafka_time_ms(m);
    record->key = m->key;
    record->key_length = m->key_len;
    record->bytes = m->payload;
    record->length = m->len;
    read_headers(m, record);
}

static int cannot_read(const struct ek_merged_consumer *t, const rd_kafka_message_t *m,
                       struct ek_error *e)
{
    char text[EK_KAFKA_HEALTH_TEXT];
    ek_kafka_errmsg(text, sizeof text, &t->watch, m->err, EK_KAFKA_CONSUME,
                    m->rkt ? rd_kafka_topic_name(m->rkt) : NULL, rd_kafka_message_errstr(m));
    return ek_fail(e, EK_EIO, "kafka: %s", text);
}

/* Handle an event of a partition queue, or of the consumer queue (`s` NULL). The end may be beyond
 * the last record because of control records. */
static int receive(const struct ek_merged_consumer *t, struct partition_queue *s,
                   rd_kafka_message_t *m, struct ek_error *e)
{
    int rc = EK_OK;
    if (s)
        s->received_ms = ek_now_ms();
    if (s && !m->err && !(t->flags & EK_MERGED_CONSUMER_UNTIL_END && m->offset >= s->end)) {
        s->head = m;
        return EK_OK;
    }
    if (s && (!m->err || m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF))
        s->position = m->offset > s->position ? m->offset : s->position;
    else if (!m->err)
        rc = ek_fail(e, EK_EIO, "kafka: a message outside its queue");
    else if (m->err != RD_KAFKA_RESP_ERR__TRANSPORT &&
             m->err != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN &&        /* retried by the client */
             m->err != RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) /* the group id is not used */
        rc = cannot_read(t, m, e);
    rd_kafka_message_destroy(m);
    return rc;
}

static bool ended(const struct ek_merged_consumer *t, const struct partition_queue *s)
{
    return t->flags & EK_MERGED_CONSUMER_UNTIL_END && s->position >= s->end;
}

/* Buffer a record of every partition that has one, without waiting. */
static int fill(struct ek_merged_consumer *t, struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; !rc && i < t->count; i++) {
        struct partition_queue *s = &t->partition_queues[i];
        rd_kafka_message_t *m;
        while (!rc && !s->head && !ended(t, s) && (m = rd_kafka_consume_queue(s->queue, 0)))
            rc = receive(t, s, m, e);
    }
    return rc;
}

/* Return true while no partition has a buffered record, or one without it may still deliver the
 * oldest one. False if all have ended. */
static bool is_blocked(const struct ek_merged_consumer *t)
{
    int64_t now = ek_now_ms();
    bool open = false, filled = false;
    for (int i = 0; i < t->count; i++) {
        const struct partition_queue *s = &t->partition_queues[i];
        filled |= s->head != NULL;
        if (s->head || ended(t, s))
            continue;
        open = true;
        int64_t patience = s->position < s->end ? BACKLOG_MS : SILENCE_MS;
        if (t->flags & EK_MERGED_CONSUMER_UNTIL_END || now - s->received_ms < patience)
            return true;
    }
    return open && !filled;
}

static struct partition_queue *oldest(const struct ek_merged_consumer *t)
{
    struct partition_queue *found = NULL;
    for (int i = 0; i < t->count; i++) {
        struct partition_queue *s = &t->partition_queues[i];
        if (s->head && (!found || ek_kafka_time_ms(s->head) < ek_kafka_time_ms(found->head)))
            found = s;
    }
    return found;
}

/* Wait for a partition without a buffered record, and serve the consumer queue. */
static int rest(struct ek_merged_consumer *t, int64_t wait_ms, struct ek_error *e)
{
    struct partition_queue *empty = NULL;
    int count = 0;
    for (int i = 0; i < t->count; i++) {
        if (t->partition_queues[i].head || ended(t, &t->partition_queues[i]))
            continue;
        empty = &t->partition_queues[i];
        count++;
    }
    int slice = count == 1 ? ONE_SLICE_MS : MANY_SLICE_MS;
    slice = wait_ms < slice ? (int)wait_ms : slice;
    rd_kafka_message_t *m = rd_kafka_consumer_poll(t->client, empty ? 0 : slice);
    int rc = m ? receive(t, NULL, m, e) : EK_OK;
    if (!rc && empty && (m = rd_kafka_consume_queue(empty->queue, slice)))
        rc = receive(t, empty, m, e);
    return rc;
}

int ek_merged_consumer_next(struct ek_merged_consumer *t, struct ek_kafka_record *record,
                            int wait_ms, int *got, struct ek_error *e)
{
    int64_t until = ek_now_ms() + wait_ms, now;
    *got = 0;
    if (t->current)
        rd_kafka_message_destroy(t->current);
    t->current = NULL;
    int rc = fill(t, e);
    while (!rc && is_blocked(t) && (now = ek_now_ms()) < until) {
        rc = rest(t, until - now, e);
        rc = rc ? rc : fill(t, e);
    }
    struct partition_queue *s = rc || is_blocked(t) ? NULL : oldest(t);
    if (!s)
        return rc;
    t->current = s->head;
    s->head = NULL;
    s->position = t->current->offset + 1;
    read_record(t->current, record);
    *got = 1;
    return EK_OK;
}

bool ek_merged_consumer_at_end(const struct ek_merged_consumer *t)
{
    for (int i = 0; i < t->count; i++)
        if (t->partition_queues[i].position < t->partition_queues[i].end)
            return false;
    return true;
}

void ek_merged_consumer_free(struct ek_merged_consumer *t)
{
    if (!t)
        return;
    if (t->current)
        rd_kafka_message_destroy(t->current);
    for (int i = 0; t->partition_queues && i < t->count; i++) {
        if (t->partition_queues[i].head)
            rd_kafka_message_destroy(t->partition_queues[i].head);
        if (t->partition_queues[i].queue)
            rd_kafka_queue_destroy(t->partition_queues[i].queue);
    }
    if (t->client) {
        rd_kafka_consumer_close(t->client);
        rd_kafka_destroy(t->client);
    }
    ek_kafka_health_free(t->watch.trouble);
    ek_free(t->partition_queues);
    ek_free(t);
}
