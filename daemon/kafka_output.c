#include "daemon/kafka_output.h"

#include "base/alloc.h"
#include "daemon/cli.h"
#include "daemon/kafka_conf.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { TOPIC_WAIT_MS = 15000, QUEUE_FULL_WAIT_NS = 1000000, PURGE_WAIT_MS = 1000 };
/* What a ticket remembers: the kind of its output, whether it went out alone, and for dead letters
 * the code of the reason above that. */
enum outcome { PASSED, ROUTED, DEAD, KIND = 3, ALONE = 4, CODE_SHIFT = 4 };

struct ek_output {
    rd_kafka_t *client;
    rd_kafka_t *alone; /* sends batches of one message; NULL until it is needed */
    rd_kafka_topic_t *ranked, *dead, *alerts; /* alerts may be NULL */
    const struct ek_config *config;
    struct ek_lanes *lanes;
    struct ek_kafka_watch watch;
    const struct ek_bell *bell;
    int64_t missing_since_ms; /* a topic was found missing; 0: not */
    bool closing;
    atomic_bool given_up; /* a failure for good: who waits for room need not */
};

/* The headers of most messages, which have none of their own, are the same until the next plan. */
struct ek_outlet {
    struct ek_output *o;
    uint64_t plan;
    rd_kafka_headers_t *ready[KIND]; /* by outcome; NULL: not made yet */
};

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

static const char *reason_name(enum ek_code code)
{
    return code == EK_EIO ? "delivery" : ek_code_name(code);
}

static void count_done(struct ek_output *o, const struct ek_ticket *t, size_t bytes)
{
    struct ek_metrics *m = o->watch.metrics;
    enum outcome outcome = t->outcome & KIND;
    ek_metrics_count(m,
                     outcome == PASSED   ? EK_COUNT_PASSED
                     : outcome == ROUTED ? EK_COUNT_ROUTED
                                         : EK_COUNT_DEAD,
                     1);
    if (outcome == DEAD)
        ek_metrics_count(m, reason_counter(t->outcome), 1);
    ek_metrics_count(m, EK_COUNT_BYTES_OUT, bytes);
    ek_metrics_time_ns(m, EK_TIME_ADDED, ek_now_ns() - t->fetched_ns);
}

/* Gives the message back and the ticket away. */
static void finish(struct ek_output *o, struct ek_ticket *t)
{
    rd_kafka_message_destroy(t->message);
    t->message = NULL;
    ek_lanes_done(o->lanes, t);
}

void ek_output_abandon(struct ek_output *o, struct ek_ticket *t)
{
    if (!ek_ticket_loose(t))
        ek_lanes_close(o->lanes, t->lane);
    finish(o, t);
}

static int make_client(struct ek_output *o, bool alone, rd_kafka_t **out, struct ek_error *e);
static int send_dead(struct ek_output *o, struct ek_ticket *t, enum ek_code code,
                     const char *reason, struct ek_error *e);

/* The broker judges whole batches, so one that is too large says nothing about its messages: each
 * is sent again in a batch of its own. False when it cannot be. */
static bool send_alone(struct ek_output *o, struct ek_ticket *t, const rd_kafka_message_t *report)
{
    rd_kafka_timestamp_type_t type;
    rd_kafka_headers_t *old, *headers;
    if (!o->alone && make_client(o, true, &o->alone, NULL))
        return false;
    headers = rd_kafka_message_headers(report, &old) ? NULL : rd_kafka_headers_copy(old);
    if (!headers)
        return false;
    t->outcome |= ALONE;
    rd_kafka_resp_err_t err = rd_kafka_producev(
        o->alone, RD_KAFKA_V_TOPIC(rd_kafka_topic_name(report->rkt)),
        RD_KAFKA_V_PARTITION(report->partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_VALUE(report->payload, report->len),
        RD_KAFKA_V_KEY(report->key, report->key_len),
        RD_KAFKA_V_TIMESTAMP(rd_kafka_message_timestamp(report, &type)),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(t), RD_KAFKA_V_END);
    if (err)
        rd_kafka_headers_destroy(headers);
    return !err;
}

static void refuse_for_good(struct ek_output *o, struct ek_ticket *t, rd_kafka_resp_err_t err)
{
    struct ek_error failure;
    if ((t->outcome & KIND) != DEAD) {
        if (!send_dead(o, t, EK_EIO, rd_kafka_err2str(err), &failure))
            return;
        ek_kafka_fail(&o->watch, &failure);
        ek_output_abandon(o, t);
        return;
    }
    ek_fail(&failure, EK_EIO, "topic '%s' refuses a dead letter: %s", o->config->dead_letter,
            rd_kafka_err2str(err));
    ek_kafka_fail(&o->watch, &failure);
    ek_output_abandon(o, t);
}

static void on_refused(struct ek_output *o, struct ek_ticket *t, const rd_kafka_message_t *report)
{
    enum ek_kafka_class class = ek_kafka_report_topic(&o->watch, report->err, EK_KAFKA_DELIVER,
                                                      rd_kafka_topic_name(report->rkt), NULL);
    if (class != EK_KAFKA_MESSAGE || ek_ticket_loose(t))
        ek_output_abandon(o, t);
    else if (t->outcome & ALONE || !send_alone(o, t, report))
        refuse_for_good(o, t, report->err);
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *report, void *opaque)
{
    struct ek_output *o = ((struct ek_kafka_watch *)opaque)->owner;
    struct ek_ticket *t = report->_private;
    (void)rk;
    if (!t) {
        if (report->err && !o->closing)
            ek_log_text(o->watch.log, EK_LOG_ERROR, "alert_lost", rd_kafka_err2str(report->err));
    } else if (report->err && o->closing) {
        ek_output_abandon(o, t);
    } else if (report->err) {
        on_refused(o, t, report);
    } else {
        count_done(o, t, report->len);
        finish(o, t);
    }
}

static void ring_for(rd_kafka_t *client, const struct ek_bell *bell)
{
    static const uint64_t one = 1;
    rd_kafka_queue_t *acknowledgements = rd_kafka_queue_get_main(client);
    rd_kafka_queue_io_event_enable(acknowledgements, bell->fd, &one, sizeof one);
    rd_kafka_queue_destroy(acknowledgements);
}

static int make_client(struct ek_output *o, bool alone, rd_kafka_t **out, struct ek_error *e)
{
    char why[300];
    rd_kafka_conf_t *conf;
    int rc = ek_kafka_conf_producer(&conf, o->config, &o->watch, e);
    if (rc)
        return rc;
    if (alone)
        rc = ek_kafka_conf_set(conf, "batch.num.messages", "1", e);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    *out = rc ? NULL : rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (*out) {
        ring_for(*out, o->bell);
        return EK_OK;
    }
    rd_kafka_conf_destroy(conf);
    return rc ? rc : ek_fail(e, EK_ECONFIG, "kafka producer: %s", why);
}

static rd_kafka_topic_t *topic_of(struct ek_output *o, const char *name, struct ek_error *e)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(o->client, name, NULL);
    if (!topic)
        ek_fail(e, EK_EIO, "topic '%s': %s", name, rd_kafka_err2str(rd_kafka_last_error()));
    return topic;
}

static int make_parts(struct ek_output *o, struct ek_error *e)
{
    int rc = make_client(o, false, &o->client, e);
    if (rc)
        return rc;
    o->ranked = topic_of(o, o->config->output_topic, e);
    o->dead = topic_of(o, o->config->dead_letter, e);
    if (o->config->alert_topic)
        o->alerts = topic_of(o, o->config->alert_topic, e);
    return o->ranked && o->dead && (o->alerts || !o->config->alert_topic) ? EK_OK : EK_EIO;
}

int ek_output_new(struct ek_output **out, const struct ek_config *c, struct ek_lanes *lanes,
                  struct ek_metrics *metrics, struct ek_log *log, const struct ek_bell *bell,
                  struct ek_error *e)
{
    struct ek_output *o = ek_calloc(1, sizeof *o);
    if (!o)
        return ek_fail(e, EK_ENOMEM, "no memory for the producer");
    o->config = c;
    o->lanes = lanes;
    o->bell = bell;
    atomic_init(&o->given_up, false);
    o->watch =
        (struct ek_kafka_watch){.log = log, .metrics = metrics, .role = "producer", .owner = o};
    o->watch.trouble = ek_trouble_new();
    int rc =
        o->watch.trouble ? make_parts(o, e) : ek_fail(e, EK_ENOMEM, "no memory for the producer");
    if (rc)
        ek_output_free(o);
    else
        *out = o;
    return rc;
}

/* Number of partitions as the broker tells; 0 when it does not know the topic, -1 without an
 * answer. */
static int partitions_of(struct ek_output *o, rd_kafka_topic_t *topic, int wait_ms)
{
    const struct rd_kafka_metadata *answer;
    if (rd_kafka_metadata(o->client, 0, topic, &answer, wait_ms))
        return -1;
    ek_trouble_heard(o->watch.trouble);
    int count = answer->topic_cnt == 1 ? answer->topics[0].partition_cnt : 0;
    rd_kafka_resp_err_t err = answer->topic_cnt == 1 ? answer->topics[0].err : 0;
    if (err == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)
        count = -1;
    if (ek_kafka_theme(err, NULL) == EK_KAFKA_AUTHORISATION) {
        ek_kafka_report_topic(&o->watch, err, EK_KAFKA_CLIENT, rd_kafka_topic_name(topic), NULL);
        count = -1;
    }
    rd_kafka_metadata_destroy(answer);
    return count;
}

static int topic_missing(struct ek_output *o, const char *name, struct ek_error *e)
{
    int64_t now = ek_now_ms();
    if (!o->missing_since_ms) {
        o->missing_since_ms = now;
        ek_log_write(o->watch.log, EK_LOG_WARN, "topic_missing", "topic=%s", name);
    }
    if (now - o->missing_since_ms < TOPIC_WAIT_MS)
        return EK_OK;
    int rc = ek_fail(e, EK_ESTATE, "topic '%s' is not there: create it, or correct its name", name);
    if (e)
        e->flags = EK_ERR_FATAL;
    return rc;
}

/* Brokers that never let this client in: a wrong password does not mend itself by waiting. */
static int still_refused(struct ek_output *o, struct ek_error *e)
{
    struct ek_trouble_state t;
    ek_trouble_look(o->watch.trouble, &t);
    if ((t.kind != EK_TROUBLE_CREDENTIALS && t.kind != EK_TROUBLE_TLS) || t.ever_heard ||
        ek_now_ms() - t.since_ms < TOPIC_WAIT_MS)
        return EK_OK;
    int rc = ek_fail(e, EK_EIO, "kafka: %s", t.text);
    if (e)
        e->flags = EK_ERR_FATAL;
    return rc;
}

struct ek_trouble *ek_output_trouble(struct ek_output *o)
{
    return o->watch.trouble;
}

void ek_output_probe(struct ek_output *o)
{
    ek_kafka_probe(o->client, &o->watch);
}

int ek_output_prepare(struct ek_output *o, int wait_ms, bool *ready, struct ek_error *e)
{
    rd_kafka_topic_t *topics[] = {o->ranked, o->dead, o->alerts};
    *ready = false;
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        if (!topics[i])
            continue;
        int count = partitions_of(o, topics[i], wait_ms);
        if (count < 0)
            return still_refused(o, e) ? EK_EIO : ek_output_poll(o, 0, e);
        if (!count)
            return topic_missing(o, rd_kafka_topic_name(topics[i]), e);
    }
    *ready = true;
    return ek_output_poll(o, 0, e);
}

bool ek_output_keeps_partitions(struct ek_output *o, const char *name)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(o->client, name, NULL);
    int in = topic ? partitions_of(o, topic, TOPIC_WAIT_MS / 3) : -1;
    int out = partitions_of(o, o->ranked, TOPIC_WAIT_MS / 3);
    if (topic)
        rd_kafka_topic_destroy(topic);
    return in > 0 && in == out;
}

/* A copy of the message's headers, to which more are added; NULL without memory. */
static rd_kafka_headers_t *headers_of(const rd_kafka_message_t *source)
{
    rd_kafka_headers_t *old;
    if (rd_kafka_message_headers(source, &old))
        return rd_kafka_headers_new(8);
    return rd_kafka_headers_copy(old);
}

static void add_header(rd_kafka_headers_t *headers, const char *name, const char *value)
{
    rd_kafka_header_add(headers, name, -1, value, -1);
}

/* Hands over to the client, which takes the headers when it succeeds. A full queue is waited for:
 * it has room for more than may be in flight, and another thread serves the acknowledgements. */
static int hand_over(struct ek_output *o, rd_kafka_topic_t *topic, int partition,
                     struct ek_ticket *t, const void *bytes, size_t length,
                     rd_kafka_headers_t *headers, struct ek_error *e)
{
    const rd_kafka_message_t *source = t->message;
    int copy = bytes == source->payload ? 0 : RD_KAFKA_MSG_F_COPY;
    rd_kafka_timestamp_type_t type;
    int64_t stamp = rd_kafka_message_timestamp(source, &type);
    rd_kafka_resp_err_t err;
    if (type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE || stamp < 0)
        stamp = 0;
    for (;;) {
        err = rd_kafka_producev(
            o->client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition),
            RD_KAFKA_V_MSGFLAGS(copy), RD_KAFKA_V_VALUE((void *)(uintptr_t)bytes, length),
            RD_KAFKA_V_KEY(source->key, source->key_len), RD_KAFKA_V_TIMESTAMP(stamp),
            RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(t), RD_KAFKA_V_END);
        if (err != RD_KAFKA_RESP_ERR__QUEUE_FULL || atomic_load(&o->given_up))
            break;
        nanosleep(&(struct timespec){0, QUEUE_FULL_WAIT_NS}, NULL);
    }
    if (!err)
        return EK_OK;
    rd_kafka_headers_destroy(headers);
    return ek_fail(e, EK_EIO, "%s", rd_kafka_err2str(err));
}

static int no_headers(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "no memory for headers");
}

static int no_way(struct ek_output *o, struct ek_error *e)
{
    char why[200];
    snprintf(why, sizeof why, "%.199s", e ? e->message : "");
    int rc = ek_fail(e, EK_EIO, "topic '%s' takes no dead letter: %s", o->config->dead_letter, why);
    if (e)
        e->flags = EK_ERR_FATAL;
    return rc;
}

int ek_outlet_new(struct ek_outlet **out, struct ek_output *o, struct ek_error *e)
{
    struct ek_outlet *t = ek_calloc(1, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "no memory for an outlet");
    t->o = o;
    *out = t;
    return EK_OK;
}

static void forget_headers(struct ek_outlet *t)
{
    for (int i = 0; i < KIND; i++)
        if (t->ready[i])
            rd_kafka_headers_destroy(t->ready[i]);
    memset(t->ready, 0, sizeof t->ready);
}

void ek_outlet_free(struct ek_outlet *t)
{
    if (!t)
        return;
    forget_headers(t);
    ek_free(t);
}

static rd_kafka_headers_t *with_plan(rd_kafka_headers_t *headers, uint64_t plan, const char *action)
{
    char version[24];
    if (!headers)
        return NULL;
    snprintf(version, sizeof version, "%" PRIu64, plan);
    add_header(headers, "ek-plan", version);
    add_header(headers, "ek-action", action);
    return headers;
}

/* Those of the message and ours; NULL without memory. */
static rd_kafka_headers_t *plan_headers(struct ek_outlet *t, const rd_kafka_message_t *source,
                                        int outcome, uint64_t plan, const char *action)
{
    rd_kafka_headers_t *old;
    if (!rd_kafka_message_headers(source, &old))
        return with_plan(rd_kafka_headers_copy(old), plan, action);
    if (t->plan != plan)
        forget_headers(t);
    t->plan = plan;
    if (!t->ready[outcome])
        t->ready[outcome] = with_plan(rd_kafka_headers_new(2), plan, action);
    return t->ready[outcome] ? rd_kafka_headers_copy(t->ready[outcome]) : NULL;
}

int ek_outlet_forward(struct ek_outlet *outlet, struct ek_ticket *t, const void *bytes,
                      size_t length, uint64_t plan, const char *action, struct ek_error *e)
{
    struct ek_error refused;
    t->outcome = strcmp(action, "routed") == 0 ? ROUTED : PASSED;
    rd_kafka_headers_t *headers = plan_headers(outlet, t->message, t->outcome, plan, action);
    if (!headers)
        return no_headers(e);
    if (!hand_over(outlet->o, outlet->o->ranked, t->partition, t, bytes, length, headers, &refused))
        return EK_OK;
    return send_dead(outlet->o, t, EK_EIO, refused.message, e);
}

int ek_outlet_dead_letter(struct ek_outlet *outlet, struct ek_ticket *t, enum ek_code code,
                          const char *reason, struct ek_error *e)
{
    return send_dead(outlet->o, t, code, reason, e);
}

static int send_dead(struct ek_output *o, struct ek_ticket *t, enum ek_code code,
                     const char *reason, struct ek_error *e)
{
    char number[24];
    const rd_kafka_message_t *source = t->message;
    rd_kafka_headers_t *headers = headers_of(source);
    if (!headers)
        return no_headers(e);
    add_header(headers, "ek-source-topic", rd_kafka_topic_name(source->rkt));
    snprintf(number, sizeof number, "%d", source->partition);
    add_header(headers, "ek-source-partition", number);
    snprintf(number, sizeof number, "%" PRId64, source->offset);
    add_header(headers, "ek-source-offset", number);
    add_header(headers, "ek-error-class", reason_name(code));
    add_header(headers, "ek-error", reason);
    t->outcome = DEAD | (int)code << CODE_SHIFT;
    ek_log_write(o->watch.log, EK_LOG_WARN, "dead_letter", "partition=%d offset=%lld class=%s",
                 (int)source->partition, (long long)source->offset, reason_name(code));
    int rc =
        hand_over(o, o->dead, RD_KAFKA_PARTITION_UA, t, source->payload, source->len, headers, e);
    return rc ? no_way(o, e) : EK_OK;
}

void ek_output_tell(struct ek_output *o, const char *json)
{
    if (!o->alerts)
        return;
    rd_kafka_resp_err_t err = rd_kafka_producev(
        o->client, RD_KAFKA_V_RKT(o->alerts), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(o->config->service_name, strlen(o->config->service_name)),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)json, strlen(json)), RD_KAFKA_V_END);
    if (err)
        ek_log_text(o->watch.log, EK_LOG_ERROR, "alert_lost", rd_kafka_err2str(err));
}

int ek_output_poll(struct ek_output *o, int wait_ms, struct ek_error *e)
{
    rd_kafka_poll(o->client, wait_ms);
    if (o->alone)
        rd_kafka_poll(o->alone, 0);
    int rc = ek_kafka_failure(&o->watch, e);
    if (rc)
        atomic_store(&o->given_up, true);
    return rc;
}

void ek_output_flush(struct ek_output *o, int wait_ms)
{
    rd_kafka_flush(o->client, wait_ms);
    if (o->alone)
        rd_kafka_flush(o->alone, wait_ms);
}

static void throw_away(rd_kafka_t *client)
{
    if (!client)
        return;
    rd_kafka_purge(client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(client, PURGE_WAIT_MS);
}

void ek_output_free(struct ek_output *o)
{
    if (!o)
        return;
    o->closing = true;
    atomic_store(&o->given_up, true);
    throw_away(o->client);
    throw_away(o->alone);
    if (o->ranked)
        rd_kafka_topic_destroy(o->ranked);
    if (o->dead)
        rd_kafka_topic_destroy(o->dead);
    if (o->alerts)
        rd_kafka_topic_destroy(o->alerts);
    if (o->alone)
        rd_kafka_destroy(o->alone);
    if (o->client)
        rd_kafka_destroy(o->client);
    ek_trouble_free(o->watch.trouble);
    ek_free(o);
}
