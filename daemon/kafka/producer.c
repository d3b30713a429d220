#include "daemon/kafka/producer.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/clock.h"
#include "daemon/config/config.h"
#include "daemon/kafka/client.h"
#include "daemon/kafka/errors.h"
#include "daemon/kafka/producer_internal.h"
#include "daemon/kafka/side_records.h"
#include "daemon/kafka/topics.h"
#include "daemon/kafka/transaction_thread.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
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

/* Create the table with default limits; NULL: no topic, no limit. `topics` must outlive it. Return
 * 0 or EK_ENOMEM. */
static int topic_limits_new(struct ek_topic_limits **out, const char *const *topics, size_t count,
                            struct ek_log *log, struct ek_error *e)
{
    struct ek_topic_limits *l = ek_calloc(1, sizeof *l);
    if (!l)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    l->log = log;
    l->count = count;
    for (size_t i = 0; i < count; i++) {
        l->topics[i] = topics[i];
        atomic_init(&l->bytes[i], topics[i] ? EK_LIMIT_ASSUMED : (size_t)INT64_MAX);
        l->compacted[i] = -1;
    }
    *out = l;
    return EK_OK;
}

/* Drop the request in flight, if any. Call before its client is freed. */
static void topic_limits_cancel(struct ek_topic_limits *l)
{
    if (l->answers)
        rd_kafka_queue_destroy(l->answers);
    l->answers = NULL;
}

static void topic_limits_free(struct ek_topic_limits *l)
{
    if (!l)
        return;
    topic_limits_cancel(l);
    ek_free(l);
}

/* Request the limits from `broker`, or from the controller if -1. No effect while a request is in
 * flight, or without topics. */
static void topic_limits_request(struct ek_topic_limits *l, rd_kafka_t *client, int broker)
{
    char why[200];
    rd_kafka_ConfigResource_t *resources[EK_TOPIC_LIMITS_TOPICS];
    size_t count = 0;
    for (size_t i = 0; !l->answers && i < l->count; i++)
        if (l->topics[i])
            resources[count++] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, l->topics[i]);
    l->known |= !count && !l->answers;
    if (!count)
        return;
    l->answers = rd_kafka_queue_new(client);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    rd_kafka_AdminOptions_set_request_timeout(options, REQUEST_TIMEOUT_MS, why, sizeof why);
    if (broker >= 0)
        rd_kafka_AdminOptions_set_broker(options, broker, why, sizeof why);
    rd_kafka_DescribeConfigs(client, resources, count, options, l->answers);
    rd_kafka_ConfigResource_destroy_array(resources, count);
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
    while (number < l->count &&
           (!l->topics[number] || strcmp(l->topics[number], rd_kafka_ConfigResource_name(r)) != 0))
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

/* Receive the response to a request within wait_ms. Return true once limits are known or known to
 * be unavailable. */
static bool topic_limits_poll(struct ek_topic_limits *l, int wait_ms)
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
        assume(l, l->topics[l->topics[0] ? 0 : 1], rd_kafka_event_error_string(event));
    l->known |= answered;
    rd_kafka_event_destroy(event);
    topic_limits_cancel(l);
    return l->known;
}

size_t ek_topic_limits_get(const struct ek_topic_limits *l, size_t number)
{
    return atomic_load_explicit(&l->bytes[number], memory_order_relaxed);
}

/* Return 1 if topic `number` is compacted, 0 if not, -1 if unknown. */
static int topic_limits_compacted(const struct ek_topic_limits *l, size_t number)
{
    return l->compacted[number];
}

/* Return the smallest limit of all topics in bytes. Any thread. */
static size_t topic_limits_min(const struct ek_topic_limits *l)
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

enum { RECORD_BYTES = 300 << 10, TOOL_BYTES = 160, TIMEOUT_MS = 10000 };

/* Records time out, unlike outputs: the flow does not wait for the state topic. */
/* Return a topic handle with the best compression codec of the client, or NULL with EK_EIO in
 * `e`. */
static rd_kafka_topic_t *state_topic_new(rd_kafka_t *client, const struct ek_config *c,
                                         struct ek_error *e)
{
    const char *name = c->state_topic;
    char timeout[24];
    static const char *const codecs[] = {"zstd", "lz4", "gzip"};
    char why[200];
    rd_kafka_topic_conf_t *conf = rd_kafka_default_topic_conf_dup(client);
    size_t i = 0;
    snprintf(timeout, sizeof timeout, "%lld",
             (long long)(c->delivery == EK_EXACTLY_ONCE ? c->transaction_ms / 2 : TIMEOUT_MS));
    rd_kafka_topic_conf_set(conf, "message.timeout.ms", timeout, why, sizeof why);
    while (i < sizeof codecs / sizeof *codecs &&
           rd_kafka_topic_conf_set(conf, "compression.codec", codecs[i], why, sizeof why))
        i++;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, conf);
    if (!topic)
        ek_fail(e, EK_EIO, "topic '%s': %s", name, rd_kafka_err2str(rd_kafka_last_error()));
    return topic;
}

/* Return a command line for the first broker. */
static const char *tool(const struct ek_config *c, const char *name, char out[TOOL_BYTES])
{
    int length = (int)strcspn(c->brokers, ",");
    snprintf(out, TOOL_BYTES, "%s --bootstrap-server %.*s", name, length, c->brokers);
    return out;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int unfit(const struct ek_config *c, const struct ek_state_topic_facts *f,
                 struct ek_error *e)
{
    char with[TOOL_BYTES];
    const char *topic = c->state_topic;
    if (!f->partitions)
        return ek_fail(e, EK_ESTATE,
                       "topic '%s' of 'state.topic' is not there: %s --create --topic %s "
                       "--partitions %d --config cleanup.policy=compact --config "
                       "min.compaction.lag.ms=600000 --config segment.bytes=67108864",
                       topic, tool(c, "kafka-topics.sh", with), topic,
                       larger(f->input_partitions, 1));
    if (!f->compacted)
        return ek_fail(e, EK_ESTATE,
                       "topic '%s' of 'state.topic' is not compacted, so what is written would "
                       "be lost or never end: %s --alter --topic %s --add-config "
                       "cleanup.policy=compact",
                       topic, tool(c, "kafka-configs.sh", with), topic);
    if (f->batch_bytes < RECORD_BYTES)
        return ek_fail(e, EK_ESTATE,
                       "topic '%s' of 'state.topic' takes %zu bytes at a time, and a record of a "
                       "state has up to %d: %s --alter --topic %s --add-config "
                       "max.message.bytes=1048588",
                       topic, f->batch_bytes, RECORD_BYTES, tool(c, "kafka-configs.sh", with),
                       topic);
    return EK_OK;
}

int ek_state_topic_check(const struct ek_config *c, const struct ek_state_topic_facts *facts,
                         struct ek_error *e)
{
    int rc = unfit(c, facts, e);
    if (rc && e)
        e->flags = EK_ERR_FATAL;
    return rc;
}

enum { PURGE_WAIT_MS = 1000 };

static enum ek_counter reason_counter(int outcome)
{
    switch (outcome >> CODE_SHIFT) {
    case EK_EFORMAT:
        return EK_COUNT_DEAD_FORMAT;
    case EK_ELIMIT:
        return EK_COUNT_DEAD_LIMIT;
    case EK_ESTATE:
        return EK_COUNT_DEAD_STATE;
    case EK_EIO:
        return EK_COUNT_DEAD_DELIVERY;
    default:
        return EK_COUNT_DEAD_OTHER;
    }
}

static void count_letter(struct ek_output *o, const struct ek_inflight *t)
{
    ek_metrics_count(o->watch.metrics, reason_counter(t->outcome), 1);
    if (t->outcome & LEFT)
        ek_metrics_count(o->watch.metrics, EK_COUNT_TRUNCATED, 1);
}

static void count_done(struct ek_output *o, const struct ek_inflight *t, size_t bytes)
{
    struct ek_metrics *m = o->watch.metrics;
    enum ek_outcome outcome = t->outcome & KIND;
    if (outcome == DEAD || t->outcome & COPY)
        count_letter(o, t);
    else if (t->outcome & LEFT)
        ek_metrics_count(m, EK_COUNT_TRUNCATED, 1);
    if (outcome == DEAD && t->outcome & COPY)
        return; /* its message was counted before */
    ek_metrics_count(m,
                     outcome == PASSED   ? EK_COUNT_PASSED
                     : outcome == ROUTED ? EK_COUNT_ROUTED
                                         : EK_COUNT_DEAD,
                     1);
    ek_metrics_count(m, EK_COUNT_BYTES_OUT, bytes);
    ek_metrics_time_ns(m, EK_TIME_END_TO_END, ek_now_ns() - t->fetched_ns);
}

/* Destroy the consumed message and finish the in-flight message. */
static void finish(struct ek_output *o, struct ek_inflight *t)
{
    rd_kafka_message_destroy(t->message);
    t->message = NULL;
    ek_free(t->reason);
    t->reason = NULL;
    ek_partition_offsets_finish(o->partitions, t);
}

void ek_output_finish_unsent(struct ek_output *o, struct ek_inflight *t)
{
    finish(o, t);
}

void ek_output_abandon(struct ek_output *o, struct ek_inflight *t)
{
    if (!ek_inflight_is_revoked(t))
        ek_partition_offsets_close(o->partitions, t->assignment);
    finish(o, t);
}

static int make_client(struct ek_output *o, bool alone, rd_kafka_t **out, struct ek_error *e);

int64_t ek_output_timestamp(const struct ek_inflight *t)
{
    return t->outcome & LEFT_TIME || t->stamp_ms < 0 ? 0 : t->stamp_ms;
}

/* Send a message again in a batch of one, because the broker rejects whole batches. Return false if
 * it cannot be sent. */
static bool send_alone(struct ek_output *o, struct ek_inflight *t, const rd_kafka_message_t *report)
{
    rd_kafka_headers_t *old, *headers;
    if (!o->single_client && make_client(o, true, &o->single_client, NULL))
        return false;
    headers = rd_kafka_message_headers(report, &old) ? NULL : rd_kafka_headers_copy(old);
    if (!headers)
        return false;
    t->outcome |= ALONE;
    rd_kafka_resp_err_t err = rd_kafka_producev(
        o->single_client, RD_KAFKA_V_TOPIC(rd_kafka_topic_name(report->rkt)),
        RD_KAFKA_V_PARTITION(report->partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_VALUE(report->payload, report->len),
        RD_KAFKA_V_KEY(report->key, report->key_len),
        RD_KAFKA_V_TIMESTAMP(ek_output_timestamp(t)), /* the report may lack the timestamp */
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(t), RD_KAFKA_V_END);
    if (err)
        rd_kafka_headers_destroy(headers);
    return !err;
}

/* Replace a message rejected alone: an output by a dead letter, a dead letter by a smaller one. */
static void refuse_for_good(struct ek_output *o, struct ek_inflight *t,
                            const rd_kafka_message_t *report)
{
    struct ek_error failure;
    bool copy = t->outcome & COPY;
    int rc = (t->outcome & KIND) == DEAD
                 ? ek_output_resend_truncated(o, t, report, &failure)
                 : ek_output_send_dead_letter(o, NULL, t, EK_EIO, rd_kafka_err2str(report->err),
                                              &failure);
    if (!rc)
        return;
    if (copy) { /* the message itself was forwarded */
        ek_inflight_log(o->watch.log, EK_LOG_WARN, "dead_letter_dropped", t, NULL, failure.message);
        finish(o, t);
        return;
    }
    ek_kafka_fail(&o->watch, &failure);
    ek_output_abandon(o, t);
}

static void on_refused(struct ek_output *o, struct ek_inflight *t, const rd_kafka_message_t *report)
{
    enum ek_kafka_class class = ek_kafka_report_topic(&o->watch, report->err, EK_KAFKA_DELIVER,
                                                      rd_kafka_topic_name(report->rkt), NULL);
    if (class != EK_KAFKA_MESSAGE || ek_inflight_is_revoked(t))
        ek_output_abandon(o, t);
    else if (t->outcome & ALONE || !send_alone(o, t, report))
        refuse_for_good(o, t, report);
}

void ek_output_finish_sent(struct ek_output *o, struct ek_inflight *t, size_t bytes)
{
    count_done(o, t, bytes);
    if (!t->reason || !ek_output_copy(o, t))
        finish(o, t);
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *report, void *opaque)
{
    struct ek_output *o = ((struct ek_kafka_watch *)opaque)->owner;
    struct ek_inflight *t = report->_private;
    (void)rk;
    if (report->_private == o) {
        o->state_unacked--;
        o->state_refused = o->state_refused || report->err;
        if (report->err && !o->closing) /* not fatal: messages flow without it */
            ek_log_text(o->watch.log, EK_LOG_WARN, "checkpoint_delivery_failed",
                        rd_kafka_err2str(report->err));
    } else if (!t) {
        if (report->err && !o->closing)
            ek_log_text(o->watch.log, EK_LOG_ERROR, "alert_dropped", rd_kafka_err2str(report->err));
    } else if (report->err && o->closing) {
        ek_output_abandon(o, t);
    } else if (report->err) {
        on_refused(o, t, report);
    } else {
        ek_output_finish_sent(o, t, report->len);
    }
}

static void signal_for(rd_kafka_t *client, const struct ek_wakeup *wakeup)
{
    rd_kafka_queue_t *acknowledgements = rd_kafka_queue_get_main(client);
    ek_kafka_signal_on_event(acknowledgements, wakeup);
    rd_kafka_queue_destroy(acknowledgements);
}

/* Limit batches to the smallest topic limit. Senders check single messages. */
static int bound_batches(struct ek_output *o, rd_kafka_conf_t *conf, struct ek_error *e)
{
    char text[32] = "";
    size_t size = sizeof text;
    rd_kafka_conf_get(conf, "batch.size", text, &size);
    int64_t least = (int64_t)topic_limits_min(o->limits);
    if (ek_parse_i64(text, EK_WHOLE, &o->batch_bytes))
        o->batch_bytes = least;
    if (o->batch_bytes <= least)
        return EK_OK;
    o->batch_bytes = least;
    snprintf(text, sizeof text, "%" PRId64, least);
    return ek_kafka_conf_set(conf, "batch.size", text, e);
}

static int make_client(struct ek_output *o, bool alone, rd_kafka_t **out, struct ek_error *e)
{
    rd_kafka_conf_t *conf;
    int rc = ek_kafka_conf_producer(&conf, o->config, e);
    if (rc)
        return rc;
    if (alone)
        rc = ek_kafka_conf_set(conf, "batch.num.messages", "1", e);
    if (!rc)
        rc = bound_batches(o, conf, e);
    if (!rc && o->records)
        rc = ek_kafka_conf_set(conf, "transactional.id", o->transactional_id, e);
    if (rc) {
        rd_kafka_conf_destroy(conf);
        return rc;
    }
    ek_kafka_watch_attach(&o->watch, conf);
    /* transactions commit offsets of the group, which a producer has no property for */
    snprintf(o->watch.group, sizeof o->watch.group, "%s", o->config->group ? o->config->group : "");
    if (!o->records) /* the commit result covers all messages and belongs to the transaction
                      * thread */
        rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rc = ek_kafka_make(out, RD_KAFKA_PRODUCER, conf, EK_ECONFIG, "kafka producer", e);
    if (!rc)
        signal_for(*out, o->wakeup);
    return rc;
}

static rd_kafka_topic_t *topic_of(struct ek_output *o, const char *name, struct ek_error *e)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(o->client, name, NULL);
    if (!topic)
        ek_fail(e, EK_EIO, "topic '%s': %s", name, rd_kafka_err2str(rd_kafka_last_error()));
    return topic;
}

/* Set a transactional id unique to this instance. Without a configured name it is random, so the
 * transaction of a crashed instance ends by timeout. */
static int name_transactions(struct ek_output *o, struct ek_error *e)
{
    char name[EK_INSTANCE_BYTES];
    int rc = ek_instance_name(o->config, name, e);
    if (rc)
        return rc;
    ek_transactional_id(o->config, name, o->transactional_id);
    ek_log_write(o->watch.log, EK_LOG_INFO, "transactional_id_set", "id=%s", o->transactional_id);
    o->records = ek_txn_records_new();
    return o->records ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
}

static int make_limits(struct ek_output *o, struct ek_error *e)
{
    const char *topics[EK_TOPIC_LIMITS_TOPICS] = {
        [EK_WRITES_RANKED] = o->config->output_topic,
    };
    size_t count = EK_WRITES_OTHERS;
    if (o->config->dead_letter_topic)
        topics[o->dead_number = count++] = o->config->dead_letter_topic;
    if (o->config->alert_topic)
        topics[o->alerts_number = count++] = o->config->alert_topic;
    if (o->config->state_topic)
        topics[o->state_number = count++] = o->config->state_topic;
    return topic_limits_new(&o->limits, topics, count, o->watch.log, e);
}

static int make_clients(struct ek_output *o, struct ek_error *e)
{
    int rc = make_client(o, false, &o->client, e);
    if (rc)
        return rc;
    if (o->config->output_topic)
        o->ranked = topic_of(o, o->config->output_topic, e);
    if (o->config->dead_letter_topic)
        o->dead = topic_of(o, o->config->dead_letter_topic, e);
    if (o->config->alert_topic)
        o->alerts = topic_of(o, o->config->alert_topic, e);
    if (o->config->state_topic)
        o->state = state_topic_new(o->client, o->config, e);
    return (o->ranked || !o->config->output_topic) && (o->dead || !o->config->dead_letter_topic) &&
                   (o->alerts || !o->config->alert_topic) && (o->state || !o->config->state_topic)
               ? EK_OK
               : EK_EIO;
}

static int make_parts(struct ek_output *o, struct ek_error *e)
{
    int rc = make_limits(o, e);
    if (!rc && o->config->delivery == EK_EXACTLY_ONCE)
        rc = name_transactions(o, e);
    return rc ? rc : make_clients(o, e);
}

int ek_output_new(struct ek_output **out, const struct ek_config *c,
                  struct ek_partition_offsets *partitions, struct ek_metrics *metrics,
                  struct ek_log *log, const struct ek_wakeup *wakeup, struct ek_error *e)
{
    struct ek_output *o = ek_calloc(1, sizeof *o);
    if (!o)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    o->config = c;
    o->partitions = partitions;
    o->wakeup = wakeup;
    o->broker = -1;
    atomic_init(&o->given_up, false);
    o->watch =
        (struct ek_kafka_watch){.log = log, .metrics = metrics, .role = "producer", .owner = o};
    o->watch.trouble = ek_kafka_health_new();
    int rc = o->watch.trouble ? make_parts(o, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (rc)
        ek_output_free(o);
    else
        *out = o;
    return rc;
}

const char *ek_output_transactional_id(const struct ek_output *o)
{
    return o->records ? o->transactional_id : NULL;
}

struct ek_kafka_health *ek_output_health(struct ek_output *o)
{
    return o->watch.trouble;
}

void ek_output_probe(struct ek_output *o)
{
    ek_kafka_probe(o->client, &o->watch);
}

static void free_clients(struct ek_output *o)
{
    rd_kafka_topic_t *topics[] = {o->ranked, o->dead, o->alerts, o->state};
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        if (topics[i])
            rd_kafka_topic_destroy(topics[i]);
    o->ranked = o->dead = o->alerts = o->state = NULL;
    if (o->single_client)
        rd_kafka_destroy(o->single_client);
    if (o->client)
        rd_kafka_destroy(o->client);
    o->client = o->single_client = NULL;
}

/* Recreate the unused client with smaller batches if a topic requires it: librdkafka fixes the
 * batch size at creation. */
static int output_obey_limits(struct ek_output *o, struct ek_error *e)
{
    size_t most = o->dead ? ek_topic_limits_get(o->limits, o->dead_number) : SIZE_MAX;
    if (most < (size_t)o->config->message_bytes)
        ek_log_write(o->watch.log, EK_LOG_INFO, "dead_letters_limited",
                     "topic=%s max_bytes=%zu message_bytes=%lld", o->config->dead_letter_topic,
                     most, (long long)o->config->message_bytes);
    if ((int64_t)topic_limits_min(o->limits) >= o->batch_bytes)
        return EK_OK;
    free_clients(o);
    return make_clients(o, e);
}

void ek_output_request_limits(struct ek_output *o)
{
    topic_limits_request(o->limits, o->client, -1);
}

/* Queue an event for the next transaction. Return NULL, or the reason that this or an older event
 * is lost. Sets *headers to NULL except when out of memory. */
static const char *queue_event(struct ek_output *o, const char *name, const char *json,
                               rd_kafka_headers_t **headers)
{
    uint64_t before = ek_txn_records_dropped_count(o->records);
    if (ek_txn_records_add(o->records, name, strlen(name), json, strlen(json), *headers))
        return "out of memory";
    *headers = NULL;
    return ek_txn_records_dropped_count(o->records) == before
               ? NULL
               : "the oldest of too many that wait for a transaction";
}

static const char *send_event_now(struct ek_output *o, const char *json,
                                  rd_kafka_headers_t **headers)
{
    const char *name = o->config->service_name;
    if (o->records)
        return queue_event(o, name, json, headers);
    rd_kafka_resp_err_t err = rd_kafka_producev(
        o->client, RD_KAFKA_V_RKT(o->alerts), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(name, strlen(name)), RD_KAFKA_V_VALUE((void *)(uintptr_t)json, strlen(json)),
        RD_KAFKA_V_HEADERS(*headers), RD_KAFKA_V_END);
    if (!err)
        *headers = NULL;
    return err ? rd_kafka_err2str(err) : NULL;
}

static const char *send_event(struct ek_output *o, const struct ek_event *v, const char *json)
{
    const char *name = o->config->service_name;
    rd_kafka_headers_t *headers = ek_kafka_cloud_event(name, v, json, ek_wall_ms());
    if (!headers)
        return "out of memory";
    size_t bytes = ek_topic_limits_batch_bytes(strlen(name), strlen(json), headers);
    const char *lost = bytes > ek_topic_limits_get(o->limits, o->alerts_number)
                           ? rd_kafka_err2str(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
                           : send_event_now(o, json, &headers);
    if (headers)
        rd_kafka_headers_destroy(headers);
    return lost;
}

void ek_output_send_event(struct ek_output *o, const struct ek_event *v, const char *json)
{
    const char *lost = o->config->alert_topic ? send_event(o, v, json) : NULL;
    if (lost)
        ek_log_text(o->watch.log, EK_LOG_ERROR, "alert_dropped", lost);
}

bool ek_output_has_state_topic(struct ek_output *o, int wait_ms)
{
    struct ek_topic_info answer;
    if (ek_kafka_get_topic(o->client, o->config->state_topic, wait_ms, &answer) ||
        !answer.responded)
        return false;
    o->state_partitions = answer.partitions;
    return answer.partitions > 0;
}

int ek_output_state_partitions(const struct ek_output *o)
{
    return o->state_partitions;
}

/* Only at least once has delivery reports; the producer's pointer marks checkpoint records. */
bool ek_output_send_state(struct ek_output *o, const struct ek_output_record *r)
{
    rd_kafka_resp_err_t err =
        rd_kafka_producev(o->client, RD_KAFKA_V_RKT(o->state), RD_KAFKA_V_PARTITION(r->partition),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                          RD_KAFKA_V_VALUE((void *)(uintptr_t)r->bytes, r->length),
                          RD_KAFKA_V_KEY(r->key, r->key_length), RD_KAFKA_V_TIMESTAMP(r->time_ms),
                          RD_KAFKA_V_OPAQUE(o->records ? NULL : o), RD_KAFKA_V_END);
    if (err)
        ek_log_text(o->watch.log, EK_LOG_WARN, "checkpoint_delivery_failed", rd_kafka_err2str(err));
    else
        o->state_unacked += !o->records;
    return !err;
}

size_t ek_output_state_unacked(struct ek_output *o, bool *refused)
{
    *refused = o->state_refused;
    if (!o->state_unacked)
        o->state_refused = false;
    return o->state_unacked;
}

static void throw_away(rd_kafka_t *client)
{
    if (!client)
        return;
    rd_kafka_purge(client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(client, PURGE_WAIT_MS);
}

bool ek_output_is_lost(struct ek_output *o)
{
    return o->records && ek_txn_is_recoverable(rd_kafka_fatal_error(o->client, NULL, 0));
}

bool ek_output_exceeds_limits(const struct ek_output *o)
{
    return (int64_t)topic_limits_min(o->limits) < o->batch_bytes;
}

int ek_output_replace_client(struct ek_output *o, struct ek_error *e)
{
    topic_limits_cancel(o->limits);
    throw_away(o->client);
    free_clients(o);
    ek_kafka_reset_failure(&o->watch);
    return make_clients(o, e);
}

int ek_output_poll(struct ek_output *o, int wait_ms, struct ek_error *e)
{
    ek_output_finish_observed(o);
    rd_kafka_poll(o->client, wait_ms);
    topic_limits_poll(o->limits, 0);
    if (o->single_client)
        rd_kafka_poll(o->single_client, 0);
    int rc = ek_kafka_failure(&o->watch, e);
    if (!rc || ek_output_is_lost(o))
        return EK_OK;
    atomic_store(&o->given_up, true);
    char text[200];
    rd_kafka_resp_err_t err = rd_kafka_fatal_error(o->client, text, sizeof text);
    if (err)
        ek_txn_is_fenced(err, text, e);
    return rc;
}

void ek_output_flush(struct ek_output *o, int wait_ms)
{
    ek_output_finish_observed(o);
    rd_kafka_flush(o->client, wait_ms);
    if (o->single_client)
        rd_kafka_flush(o->single_client, wait_ms);
}

void ek_output_free(struct ek_output *o)
{
    if (!o)
        return;
    o->closing = true;
    atomic_store(&o->given_up, true);
    topic_limits_free(o->limits);
    throw_away(o->client);
    throw_away(o->single_client);
    ek_kafka_health_free(o->watch.trouble);
    free_clients(o);
    for (struct ek_inflight *t = o->unfinished, *next; t; t = next) {
        next = t->back;
        ek_output_abandon(o, t);
    }
    ek_txn_records_free(o->records);
    ek_free(o);
}

void ek_output_adopt_unfinished(struct ek_output *o, struct ek_inflight *first)
{
    for (struct ek_inflight *next; first; first = next) {
        next = first->back;
        first->back = o->unfinished;
        o->unfinished = first;
    }
}

struct ek_txn_batch_size ek_output_in_batch(struct ek_output *o)
{
    return (struct ek_txn_batch_size){.messages = atomic_load(&o->sent_count),
                                      .bytes = atomic_load(&o->sent_bytes),
                                      .records = ek_txn_records_has_pending(o->records),
                                      .must_abort = atomic_load(&o->must_abort)};
}

void ek_output_finish(struct ek_output *o, struct ek_inflight *t, bool committed)
{
    if (!committed) {
        ek_output_abandon(o, t);
        return;
    }
    count_done(o, t, t->sent);
    finish(o, t);
}

/* Return the partition count of a topic, 0 if it does not exist, -1 without a response. */
static int partitions_of(struct ek_output *o, const char *topic, int wait_ms)
{
    struct ek_topic_info answer;
    rd_kafka_resp_err_t err = ek_kafka_get_topic(o->client, topic, wait_ms, &answer);
    if (!answer.responded)
        return -1;
    ek_kafka_health_clear(o->watch.trouble);
    o->broker = answer.broker;
    bool refused = ek_kafka_topic_of_error(err, NULL) == EK_KAFKA_AUTHORIZATION;
    if (refused)
        ek_kafka_report_topic(&o->watch, err, EK_KAFKA_CLIENT, topic, NULL);
    return refused || err == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE ? -1 : answer.partitions;
}

static bool is_pending(struct ek_output *o, const char *name)
{
    return ek_topic_is_awaited(&o->missing_since_ms, name, o->watch.log);
}

static int topic_missing(struct ek_output *o, const char *name, struct ek_error *e)
{
    if (is_pending(o, name))
        return EK_OK;
    return ek_fail_fatal(e, EK_ESTATE, "topic '%s' is not there: create it, or correct its name",
                         name);
}

/* Return a fatal error if brokers keep rejecting a client that never connected, and its password
 * does not change. */
static int still_refused(struct ek_output *o, struct ek_error *e)
{
    struct ek_kafka_health_state t;
    ek_kafka_health_get(o->watch.trouble, &t);
    if (t.kind == EK_KAFKA_HEALTH_CREDENTIALS)
        ek_kafka_renew_login(&o->watch, o->client);
    if ((t.kind != EK_KAFKA_HEALTH_CREDENTIALS && t.kind != EK_KAFKA_HEALTH_TLS) ||
        t.ever_responded || ek_now_ms() - t.since_ms < EK_TOPIC_WAIT_MS)
        return EK_OK;
    return ek_fail_fatal(e, EK_EIO, "kafka: %s", t.text);
}

/* Return the partition count of the largest existing input topic. */
static int input_partitions(struct ek_output *o, int wait_ms)
{
    int most = 0;
    for (size_t i = 0; i < o->config->topics.count; i++) {
        int count = partitions_of(o, o->config->topics.items[i], wait_ms);
        most = count > most ? count : most;
    }
    return most;
}

/* Check that the checkpoint topic exists and is suitable. */
static int check_state(struct ek_output *o, int wait_ms, bool *ready, struct ek_error *e)
{
    const char *topic = o->config->state_topic;
    int count = topic ? partitions_of(o, topic, wait_ms) : 0;
    *ready = !topic;
    if (!topic || count < 0 || (!count && is_pending(o, topic)))
        return EK_OK;
    const struct ek_state_topic_facts facts = {
        .partitions = count,
        .compacted = topic_limits_compacted(o->limits, o->state_number),
        .batch_bytes = ek_topic_limits_get(o->limits, o->state_number),
        .input_partitions = input_partitions(o, wait_ms)};
    int rc = ek_state_topic_check(o->config, &facts, e);
    o->state_partitions = count;
    *ready = !rc;
    return rc;
}

int ek_output_prepare(struct ek_output *o, int wait_ms, bool *ready, struct ek_error *e)
{
    const struct ek_config *c = o->config;
    /* an input topic shows whether brokers accept the client; a missing one is no error here */
    const char *const topics[] = {c->output_topic ? c->output_topic : c->topics.items[0],
                                  c->dead_letter_topic, c->alert_topic};
    *ready = false;
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        if (!topics[i])
            continue;
        int count = partitions_of(o, topics[i], wait_ms);
        if (count < 0)
            return still_refused(o, e) ? EK_EIO : ek_output_poll(o, 0, e);
        if (!count && (i || c->output_topic))
            return topic_missing(o, topics[i], e);
    }
    topic_limits_request(o->limits, o->client, o->broker);
    if (!topic_limits_poll(o->limits, wait_ms))
        return ek_output_poll(o, 0, e);
    bool fit;
    int rc = check_state(o, wait_ms, &fit, e);
    if (!rc && fit)
        rc = output_obey_limits(o, e);
    *ready = !rc && fit;
    return rc;
}

int ek_output_has_same_partitions(struct ek_output *o, const char *topic, int wait_ms)
{
    if (!o->config->output_topic)
        return 1;
    int in = partitions_of(o, topic, wait_ms);
    int out = in > 0 ? partitions_of(o, o->config->output_topic, wait_ms) : -1;
    return out < 0 ? -1 : in == out;
}
