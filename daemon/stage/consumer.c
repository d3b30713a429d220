#include "daemon/stage/consumer.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "daemon/base/clock.h"
#include "daemon/kafka/client.h"
#include "daemon/kafka/topics.h"
#include "daemon/stage/consumer_internal.h"

#include <string.h>

enum {
    CLOSE_SLICE_MS = 50,
    COMMIT_PART = 8, /* 1/8 of the closing time is reserved for the last commit */
    NUDGE_EVERY_MS = 10,
    PRINT_BYTES = 256
};

static void warn_of_cooperative(struct ek_input *in, const rd_kafka_conf_t *conf)
{
    char strategy[200] = "";
    size_t size = sizeof strategy;
    rd_kafka_conf_get(conf, "partition.assignment.strategy", strategy, &size);
    if (strstr(strategy, "cooperative") && rd_kafka_version() < EK_COOPERATIVE_VERSION)
        ek_log_text(in->watch.log, EK_LOG_WARN, "librdkafka_outdated",
                    "cooperative-sticky needs librdkafka 2.10 or later to be safe: use range");
}

static int make_client(struct ek_input *in, struct ek_error *e)
{
    rd_kafka_conf_t *conf;
    int rc = ek_kafka_conf_consumer(&conf, in->config, e);
    if (rc)
        return rc;
    warn_of_cooperative(in, conf);
    ek_kafka_watch_attach(&in->watch, conf);
    rd_kafka_conf_set_rebalance_cb(conf, ek_input_on_rebalance);
    rd_kafka_conf_set_offset_commit_cb(conf, ek_input_on_commit);
    return ek_kafka_make(&in->client, RD_KAFKA_CONSUMER, conf, EK_ECONFIG, "kafka consumer", e);
}

static int make_readers(struct ek_input *in, struct ek_error *e)
{
    in->reader = ek_calloc((size_t)in->readers, sizeof(rd_kafka_queue_t *));
    if (!in->reader)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < in->readers; i++) {
        in->reader[i] = rd_kafka_queue_new(in->client);
        ek_kafka_signal_on_event(in->reader[i], in->wakeup);
    }
    rd_kafka_queue_t *common = rd_kafka_queue_get_consumer(in->client);
    ek_kafka_signal_on_event(common, in->wakeup);
    rd_kafka_queue_destroy(common);
    return EK_OK;
}

int ek_input_new(struct ek_input **out, const struct ek_input_tools *tools,
                 const struct ek_input_hooks *hooks, struct ek_error *e)
{
    struct ek_input *in = ek_calloc(1, sizeof *in);
    if (!in)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    in->config = tools->config;
    in->partitions = tools->partitions;
    in->checkpoint_store = tools->checkpoint_store;
    in->wakeup = tools->wakeup;
    in->readers = tools->readers;
    in->hooks = *hooks;
    in->drain_ms = in->commit_ms = in->config->shutdown_timeout_ms;
    in->watch = (struct ek_kafka_watch){
        .log = tools->log, .metrics = tools->metrics, .role = "consumer", .owner = in};
    in->watch.trouble = ek_kafka_health_new();
    in->topics = ek_topics_new(&in->config->topics, tools->log);
    int rc = in->topics && in->watch.trouble ? make_client(in, e)
                                             : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = make_readers(in, e);
    if (rc)
        ek_input_free(in);
    else
        *out = in;
    return rc;
}

int ek_input_subscribe(struct ek_input *in, struct ek_error *e)
{
    const struct ek_text_list *topics = &in->config->topics;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)topics->count);
    for (size_t i = 0; i < topics->count; i++)
        rd_kafka_topic_partition_list_add(list, topics->items[i], RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t err = rd_kafka_subscribe(in->client, list);
    rd_kafka_topic_partition_list_destroy(list);
    return err ? ek_fail(e, EK_EIO, "cannot subscribe: %s", rd_kafka_err2str(err)) : EK_OK;
}

static struct ek_partition *lane_of(struct ek_input *in, const rd_kafka_message_t *raw)
{
    return raw->rkt ? ek_partition_offsets_find(in->partitions, rd_kafka_topic_name(raw->rkt),
                                                raw->partition)
                    : NULL;
}

/* Handle an event that is not a message. */
static void handle_error(struct ek_input *in, const rd_kafka_message_t *raw)
{
    struct ek_partition *assignment = lane_of(in, raw);
    bool unknown = raw->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
                   raw->err == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
                   raw->err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
    bool reset = raw->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET;
    if (assignment && (unknown || reset))
        assignment->misplaced = true;
    if (unknown)
        ek_topics_recheck(in->topics); /* logs the topic by name */
    else if (reset && assignment)
        ek_input_restart(in, assignment);
    else if (raw->err == RD_KAFKA_RESP_ERR__FATAL)
        ek_kafka_report_fatal(&in->watch, in->client, rd_kafka_message_errstr(raw));
    else
        ek_kafka_report_topic(&in->watch, raw->err, EK_KAFKA_CONSUME,
                              raw->rkt ? rd_kafka_topic_name(raw->rkt) : NULL,
                              rd_kafka_message_errstr(raw));
}

/* Exactly once: return a fatal error if a gap or jump in offsets would silently skip messages. */
static int is_contiguous(const struct ek_input *in, const struct ek_partition *assignment,
                         const rd_kafka_message_t *raw, struct ek_error *e)
{
    long long desired = (long long)(assignment->next_expected >= 0 ? assignment->next_expected
                                                                   : assignment->last_seen);
    if (in->config->delivery == EK_AT_LEAST_ONCE)
        return EK_OK;
    if (assignment->next_expected >= 0 ? raw->offset == desired : raw->offset >= desired)
        return EK_OK;
    return ek_fail_fatal(e, EK_EIO,
                         "topic '%s' partition %d: reading went on at %lld and not at %lld",
                         assignment->topic, assignment->partition, (long long)raw->offset, desired);
}

/* Return the fingerprint of a message, never 0: its time, size and first bytes. */
static uint64_t print_of(const rd_kafka_message_t *raw)
{
    size_t some = raw->len < PRINT_BYTES ? raw->len : PRINT_BYTES;
    uint64_t seed = (uint64_t)ek_kafka_time_ms(raw) * 31 + raw->len;
    return ek_hash(raw->payload ? raw->payload : "", some, seed) | 1;
}

/* Start tracking a message. *inflight is NULL if its partition was revoked: the next owner reads
 * the message. */
static int accept_message(struct ek_input *in, rd_kafka_message_t *raw, uint64_t now_ns,
                          struct ek_inflight **inflight, struct ek_error *e)
{
    *inflight = NULL;
    struct ek_partition *assignment = raw->err ? NULL : lane_of(in, raw);
    if (!assignment)
        return EK_OK;
    uint64_t print = print_of(raw);
    if (assignment->verify_offset >= 0 && ek_input_is_probe(in, assignment, raw->offset, print))
        return EK_OK;
    int rc = is_contiguous(in, assignment, raw, e);
    if (rc)
        return rc;
    struct ek_inflight *t = ek_partition_offsets_start(in->partitions, assignment, raw->offset);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_partition_offsets_set_print(assignment, t, print);
    ek_partition_offsets_add_bytes(in->partitions, t,
                                   ek_inflight_bytes(raw, (size_t)in->config->in_flight_bytes));
    t->fetched_ns = now_ns;
    t->bytes = raw->payload;
    t->length = raw->len;
    t->stamp_ms = ek_kafka_time_ms(raw);
    t->message = raw;
    t->no_output = raw->offset < assignment->replay_until;
    if (raw->offset == assignment->refused.offset) {
        t->refused = assignment->refused.why;
        t->outcome = assignment->refused.outcome;
    }
    *inflight = t;
    return EK_OK;
}

int ek_input_serve(struct ek_input *in, struct ek_error *e)
{
    rd_kafka_message_t *raw;
    struct ek_error fault;
    while (!ek_kafka_failure(&in->watch, NULL) && (raw = rd_kafka_consumer_poll(in->client, 0))) {
        if (raw->err) {
            handle_error(in, raw);
        } else {
            ek_fail(&fault, EK_EIO, "kafka: a message outside its queue");
            ek_kafka_fail(&in->watch, &fault);
        }
        rd_kafka_message_destroy(raw);
    }
    return ek_kafka_failure(&in->watch, e);
}

/* Return an open partition of the reader with messages left at the broker, or NULL. */
static const struct ek_partition *behind(struct ek_input *in, int reader)
{
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(in->partitions, assignment));) {
        int64_t low = -1, high = -1,
                next = assignment->last_seen >= 0 ? assignment->last_seen : assignment->next;
        if (!assignment->open || next < 0 ||
            ek_input_find_partition(in, assignment->topic, assignment->partition) != reader)
            continue;
        rd_kafka_get_watermark_offsets(in->client, assignment->topic, assignment->partition, &low,
                                       &high);
        if (high > next)
            return assignment;
    }
    return NULL;
}

/* Wake a client that stopped fetching: with a full queue it sleeps for up to 1 s where
 * ek_kafka_conf_has_backoff is false (librdkafka issue 2879). Any broker request wakes it; the
 * response is ignored. */
static void nudge(struct ek_input *in, int reader)
{
    int64_t now = ek_now_ms();
    bool due = now >= in->nudge_due_ms && !ek_kafka_conf_has_backoff();
    const struct ek_partition *assignment = due ? behind(in, reader) : NULL;
    if (!assignment)
        return;
    in->nudge_due_ms = now + NUDGE_EVERY_MS;
    rd_kafka_topic_partition_list_t *one = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(one, assignment->topic, assignment->partition)->offset =
        ek_wall_ms();
    rd_kafka_offsets_for_times(in->client, one, 0);
    rd_kafka_topic_partition_list_destroy(one);
}

static bool has_space(const struct ek_input *in)
{
    return ek_partition_offsets_bytes(in->partitions) < (size_t)in->config->in_flight_bytes;
}

/* Read one by one: a message's size is known only after it is read, and excess messages must stay
 * queued. */
int ek_input_read(struct ek_input *in, int reader, struct ek_inflight **inflights, size_t most,
                  size_t *count, struct ek_error *e)
{
    int rc = EK_OK;
    size_t got = 0;
    uint64_t now_ns = 0, bytes = 0;
    rd_kafka_message_t *raw;
    *count = 0;
    while (!rc && got < most && has_space(in) &&
           (raw = rd_kafka_consume_queue(in->reader[reader], 0))) {
        struct ek_inflight *t;
        if (!got++)
            now_ns = ek_now_ns();
        rc = accept_message(in, raw, now_ns, &t, e);
        if (t) {
            inflights[(*count)++] = t;
            bytes += t->length;
            continue;
        }
        if (raw->err)
            handle_error(in, raw);
        rd_kafka_message_destroy(raw);
    }
    if (!got)
        nudge(in, reader);
    ek_metrics_count(in->watch.metrics, EK_COUNT_CONSUMED, *count);
    ek_metrics_count(in->watch.metrics, EK_COUNT_BYTES_IN, bytes);
    return rc;
}

void ek_input_poll_topics(struct ek_input *in)
{
    struct ek_error e;
    ek_kafka_probe(in->client, &in->watch);
    ek_input_restart_misplaced(in);
    if (ek_topics_poll(in->topics, in->client) && ek_input_subscribe(in, &e))
        ek_log_text(in->watch.log, EK_LOG_WARN, "subscribe_failed", e.message);
}

bool ek_input_answers(struct ek_input *in, int wait_ms)
{
    const struct rd_kafka_metadata *answer;
    if (rd_kafka_metadata(in->client, 0, NULL, &answer, wait_ms))
        return false;
    rd_kafka_metadata_destroy(answer);
    return true;
}

struct ek_kafka_health *ek_input_health(struct ek_input *in)
{
    return in->watch.trouble;
}

bool ek_input_topic_missing(const struct ek_input *in, size_t number)
{
    return ek_topics_missing(in->topics, number);
}

/* Serve callbacks while closing; messages are left to the next owner. */
static void serve_close(rd_kafka_queue_t *queue)
{
    rd_kafka_message_t *late = rd_kafka_consume_queue(queue, CLOSE_SLICE_MS);
    if (late)
        rd_kafka_message_destroy(late);
}

/* Reserve equal parts of the time for the last commit and for leaving the group. */
void ek_input_close(struct ek_input *in, int64_t wait_ms)
{
    if (in->closed)
        return;
    in->closed = true;
    in->commit_ms = wait_ms / COMMIT_PART;
    in->drain_ms = wait_ms - 2 * in->commit_ms;
    int64_t until = ek_now_ms() + wait_ms;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(in->client);
    rd_kafka_error_t *problem = rd_kafka_consumer_close_queue(in->client, queue);
    while (!problem && !rd_kafka_consumer_closed(in->client) && ek_now_ms() < until)
        serve_close(queue);
    if (!rd_kafka_consumer_closed(in->client))
        ek_log_text(in->watch.log, EK_LOG_WARN, "close_timeout",
                    "the group was not left in time: it will notice by its session time-out");
    rd_kafka_error_destroy(problem);
    rd_kafka_queue_destroy(queue);
}

void ek_input_free(struct ek_input *in)
{
    if (!in)
        return;
    for (int i = 0; in->reader && i < in->readers; i++)
        if (in->reader[i])
            rd_kafka_queue_destroy(in->reader[i]);
    if (in->client)
        rd_kafka_destroy_flags(in->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    ek_topics_free(in->topics);
    ek_kafka_health_free(in->watch.trouble);
    ek_free(in->reader);
    ek_free(in);
}
