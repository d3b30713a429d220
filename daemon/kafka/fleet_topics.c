#include "daemon/kafka/fleet_topics.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/kafka/client.h"
#include "daemon/kafka/topics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    PLAN_TAIL = 1000, /* the last record is complete; earlier ones decide between concurrent
                       * writers */
    WATERMARK_MS = 500,
    PROPERTY_MS = 5000,
    RETENTION_HOURS_MAX = 24,
    HOUR_MS = 3600000
};

struct ek_fleet_link {
    const struct ek_config *config;
    struct ek_log *log;
    struct ek_kafka_watch reading, writing;
    rd_kafka_t *reader, *writer;
    rd_kafka_queue_t *records; /* of the reader */
    rd_kafka_message_t *current;
    char evidence_topic[EK_FLEET_TOPIC_BYTES];
    int64_t position; /* next offset in the plan log, -1: unknown */
    bool receives_evidence;
    bool silent[EK_TOPIC_NONE], stuck[EK_TOPIC_NONE]; /* already logged as unreadable, unwritable */
    int64_t missing_since_ms;                         /* a topic; 0: none */
    struct ek_fleet_traffic traffic;
};

static const char *name_of(const struct ek_fleet_link *l, enum ek_fleet_topic topic)
{
    return topic == EK_TOPIC_PLAN ? l->config->fleet_topic : l->evidence_topic;
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *report, void *opaque)
{
    struct ek_fleet_link *l = ((struct ek_kafka_watch *)opaque)->owner;
    enum ek_fleet_topic topic = strcmp(rd_kafka_topic_name(report->rkt), l->evidence_topic)
                                    ? EK_TOPIC_PLAN
                                    : EK_TOPIC_EVIDENCE;
    (void)rk;
    if (report->err) {
        l->traffic.lost[topic]++;
        if (!l->stuck[topic])
            ek_log_write(l->log, EK_LOG_WARN, "fleet_record_dropped", "topic=%s reason=\"%s\"",
                         name_of(l, topic), rd_kafka_err2str(report->err));
    } else {
        l->traffic.sent[topic]++;
        if (l->stuck[topic])
            ek_log_write(l->log, EK_LOG_INFO, "fleet_records_delivered", "topic=%s",
                         name_of(l, topic));
    }
    l->stuck[topic] = report->err != 0;
}

static int make_client(rd_kafka_t **out, rd_kafka_type_t type, const struct ek_config *c,
                       const struct ek_kafka_setting *own, struct ek_kafka_watch *watch,
                       struct ek_error *e)
{
    rd_kafka_conf_t *conf;
    int rc = ek_kafka_conf_auxiliary(&conf, c, own, e);
    if (rc)
        return rc;
    ek_kafka_watch_attach(watch, conf);
    if (type == RD_KAFKA_PRODUCER)
        rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    return ek_kafka_make(out, type, conf, EK_ECONFIG, "kafka client of the fleet", e);
}

/* The group id only serves authorization: the consumer does not join the group or commit. */
static int make_reader(struct ek_fleet_link *l, struct ek_error *e)
{
    const struct ek_kafka_setting own[] = {{"group.id", l->config->group},
                                           {"enable.auto.commit", "false"},
                                           {"enable.partition.eof", "true"},
                                           {"auto.offset.reset", "earliest"},
                                           {"fetch.wait.max.ms", "100"},
                                           {"fetch.min.bytes", "1"},
                                           {"queued.max.messages.kbytes", "16384"},
                                           {"max.partition.fetch.bytes", "8388608"},
                                           {NULL, NULL}};
    int rc = make_client(&l->reader, RD_KAFKA_CONSUMER, l->config, own, &l->reading, e);
    if (!rc)
        l->records = rd_kafka_queue_get_consumer(l->reader);
    return rc;
}

/* Records may arrive twice or out of order: readers identify them by number. */
static int make_writer(struct ek_fleet_link *l, struct ek_error *e)
{
    char timeout[24];
    const struct ek_kafka_setting own[] = {{"enable.idempotence", "false"},
                                           {"enable.gapless.guarantee", "false"},
                                           {"acks", "all"},
                                           {"message.timeout.ms", timeout},
                                           {"linger.ms", "0"},
                                           {"compression.type", "lz4"},
                                           {"message.max.bytes", "67108864"},
                                           {"queue.buffering.max.messages", "10000"},
                                           {"queue.buffering.max.kbytes", "65536"},
                                           {NULL, NULL}};
    snprintf(timeout, sizeof timeout, "%" PRId64, l->config->fleet_leader_timeout_ms);
    return make_client(&l->writer, RD_KAFKA_PRODUCER, l->config, own, &l->writing, e);
}

int ek_fleet_link_new(struct ek_fleet_link **out, const struct ek_config *c,
                      struct ek_metrics *metrics, struct ek_log *log, struct ek_error *e)
{
    struct ek_fleet_link *l = ek_calloc(1, sizeof *l);
    if (!l)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    l->config = c;
    l->log = log;
    l->position = -1;
    l->reading = (struct ek_kafka_watch){
        .log = log, .metrics = metrics, .role = "fleet consumer", .owner = l};
    l->writing = (struct ek_kafka_watch){
        .log = log, .metrics = metrics, .role = "fleet producer", .owner = l};
    ek_config_evidence_topic(c, l->evidence_topic);
    int rc = make_reader(l, e);
    if (!rc)
        rc = make_writer(l, e);
    if (rc)
        ek_fleet_link_free(l);
    else
        *out = l;
    return rc;
}

void ek_fleet_link_free(struct ek_fleet_link *l)
{
    if (!l)
        return;
    if (l->current)
        rd_kafka_message_destroy(l->current);
    if (l->writer) {
        rd_kafka_purge(l->writer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_destroy(l->writer);
    }
    if (l->reader) {
        rd_kafka_queue_destroy(l->records);
        rd_kafka_consumer_close(l->reader);
        rd_kafka_destroy(l->reader);
    }
    ek_free(l);
}

static const char *remedy(enum ek_fleet_topic topic)
{
    return topic == EK_TOPIC_PLAN ? "one partition and cleanup.policy=compact"
                                  : "one partition and a retention of an hour";
}

static int missing(struct ek_fleet_link *l, enum ek_fleet_topic topic, struct ek_error *e)
{
    if (ek_topic_is_awaited(&l->missing_since_ms, name_of(l, topic), l->log))
        return EK_OK;
    return ek_fail_fatal(e, EK_ESTATE,
                         "topic '%s' of the fleet is not there: create it with %s, or correct "
                         "its name",
                         name_of(l, topic), remedy(topic));
}

/* Log topic properties that lose records but do not prevent a start. */
static void check_properties(struct ek_fleet_link *l)
{
    char policy[100] = "", text[40];
    int64_t ms;
    if (ek_kafka_get_topic_property(l->writer, name_of(l, EK_TOPIC_PLAN), "cleanup.policy",
                                    PROPERTY_MS, policy, sizeof policy) &&
        !strstr(policy, "compact"))
        ek_log_write(l->log, EK_LOG_WARN, "fleet_topic_misconfigured",
                     "topic=%s message=\"cleanup.policy is %s, which deletes old plans; set it to "
                     "compact\"",
                     name_of(l, EK_TOPIC_PLAN), policy);
    if (ek_kafka_get_topic_property(l->writer, l->evidence_topic, "retention.ms", PROPERTY_MS, text,
                                    sizeof text) &&
        !ek_parse_i64(text, EK_WHOLE, &ms) &&
        (ms < 0 || ms > (int64_t)RETENTION_HOURS_MAX * HOUR_MS))
        ek_log_write(l->log, EK_LOG_WARN, "fleet_topic_misconfigured",
                     "topic=%s message=\"retention.ms is %s: old reports are not read, set it "
                     "to 3600000\"",
                     l->evidence_topic, text);
}

static int check_topic(struct ek_fleet_link *l, enum ek_fleet_topic topic, int wait_ms, bool *good,
                       struct ek_error *e)
{
    char text[EK_KAFKA_HEALTH_TEXT];
    struct ek_topic_info answer;
    rd_kafka_resp_err_t err = ek_kafka_get_topic(l->writer, name_of(l, topic), wait_ms, &answer);
    *good = !err && answer.partitions == 1;
    if (*good || !answer.responded)
        return EK_OK;
    if (!err)
        return ek_fail_fatal(e, EK_ESTATE,
                             "topic '%s' of the fleet has %d partitions: create it again with %s",
                             name_of(l, topic), answer.partitions, remedy(topic));
    if (err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        return missing(l, topic, e);
    if (ek_kafka_topic_of_error(err, NULL) != EK_KAFKA_AUTHORIZATION)
        return EK_OK;
    ek_kafka_errmsg(text, sizeof text, &l->writing, err, EK_KAFKA_DELIVER, name_of(l, topic), NULL);
    return ek_fail_fatal(e, EK_EIO, "kafka: %s", text);
}

int ek_fleet_link_prepare(struct ek_fleet_link *l, int wait_ms, bool *ready, struct ek_error *e)
{
    int rc = EK_OK;
    *ready = true;
    for (int i = 0; !rc && *ready && i < EK_TOPIC_NONE; i++)
        rc = check_topic(l, (enum ek_fleet_topic)i, wait_ms, ready, e);
    rd_kafka_poll(l->writer, 0);
    if (!rc && *ready)
        check_properties(l);
    return rc;
}

static void assign(struct ek_fleet_link *l)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);
    rd_kafka_topic_partition_list_add(list, l->config->fleet_topic, 0)->offset = l->position;
    if (l->receives_evidence)
        rd_kafka_topic_partition_list_add(list, l->evidence_topic, 0)->offset = RD_KAFKA_OFFSET_END;
    rd_kafka_resp_err_t err = rd_kafka_assign(l->reader, list);
    if (err)
        ek_kafka_report(&l->reading, err, EK_KAFKA_CONSUME, NULL);
    rd_kafka_topic_partition_list_destroy(list);
}

static void log_silent(struct ek_fleet_link *l, enum ek_fleet_topic topic, rd_kafka_resp_err_t err,
                       const char *reason)
{
    char text[EK_KAFKA_HEALTH_TEXT];
    if (l->silent[topic])
        return;
    l->silent[topic] = true;
    ek_kafka_errmsg(text, sizeof text, &l->reading, err, EK_KAFKA_CONSUME, name_of(l, topic),
                    reason);
    ek_log_text(l->log, EK_LOG_WARN, "fleet_topic_unreadable", text);
}

static void log_recovered(struct ek_fleet_link *l, enum ek_fleet_topic topic)
{
    if (l->silent[topic])
        ek_log_write(l->log, EK_LOG_INFO, "fleet_topic_recovered", "topic=%s", name_of(l, topic));
    l->silent[topic] = false;
}

/* Assign the tail of the plan log. Return false if no broker responds. */
static bool start(struct ek_fleet_link *l)
{
    int64_t low = 0, high = 0;
    rd_kafka_resp_err_t err = rd_kafka_query_watermark_offsets(l->reader, l->config->fleet_topic, 0,
                                                               &low, &high, WATERMARK_MS);
    if (err) {
        ek_kafka_refresh_leaders(l->reader, l->config->fleet_topic, WATERMARK_MS);
        log_silent(l, EK_TOPIC_PLAN, err, NULL);
        return false;
    }
    l->position = high - PLAN_TAIL > low ? high - PLAN_TAIL : low;
    assign(l);
    return true;
}

/* Handle an event that is not a record. The client reports unreachable brokers itself. */
static void handle_error(struct ek_fleet_link *l, enum ek_fleet_topic topic,
                         const rd_kafka_message_t *m)
{
    if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        if (topic == EK_TOPIC_PLAN)
            l->position = m->offset;
        log_recovered(l, topic);
    } else if (topic != EK_TOPIC_NONE) {
        log_silent(l, topic, m->err, rd_kafka_message_errstr(m));
    }
}

static enum ek_fleet_topic topic_of(const struct ek_fleet_link *l, const rd_kafka_message_t *m)
{
    const char *name = m->rkt ? rd_kafka_topic_name(m->rkt) : "";
    return !strcmp(name, l->config->fleet_topic) ? EK_TOPIC_PLAN
           : !strcmp(name, l->evidence_topic)    ? EK_TOPIC_EVIDENCE
                                                 : EK_TOPIC_NONE;
}

enum ek_fleet_topic ek_fleet_link_next(struct ek_fleet_link *l, int wait_ms, const void **bytes,
                                       size_t *length)
{
    if (l->current)
        rd_kafka_message_destroy(l->current);
    l->current = NULL;
    rd_kafka_poll(l->writer, 0);
    if (l->position < 0)
        start(l);
    rd_kafka_message_t *m = rd_kafka_consumer_poll(l->reader, wait_ms);
    if (!m)
        return EK_TOPIC_NONE;
    enum ek_fleet_topic topic = topic_of(l, m);
    l->current = m;
    if (m->err || topic == EK_TOPIC_NONE) {
        handle_error(l, topic, m);
        return EK_TOPIC_NONE;
    }
    log_recovered(l, topic);
    if (topic == EK_TOPIC_PLAN)
        l->position = m->offset + 1;
    if (!m->payload)
        return EK_TOPIC_NONE;
    *bytes = m->payload;
    *length = m->len;
    return topic;
}

void ek_fleet_link_wake(struct ek_fleet_link *l)
{
    rd_kafka_queue_yield(l->records);
}

void ek_fleet_link_set_reports(struct ek_fleet_link *l, bool enabled)
{
    if (l->receives_evidence == enabled)
        return;
    l->receives_evidence = enabled;
    if (l->position >= 0)
        assign(l);
}

bool ek_fleet_link_at_end(struct ek_fleet_link *l, int wait_ms)
{
    int64_t low = 0, high = 0;
    rd_kafka_resp_err_t err = rd_kafka_query_watermark_offsets(l->reader, l->config->fleet_topic, 0,
                                                               &low, &high, wait_ms);
    return !err && l->position >= high;
}

void ek_fleet_link_send(struct ek_fleet_link *l, enum ek_fleet_topic topic, const char *key,
                        const void *bytes, size_t length)
{
    rd_kafka_resp_err_t err = rd_kafka_producev(
        l->writer, RD_KAFKA_V_TOPIC(name_of(l, topic)), RD_KAFKA_V_PARTITION(0),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, strlen(key)),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)bytes, length), RD_KAFKA_V_END);
    if (!err)
        return;
    l->traffic.lost[topic]++;
    if (!l->stuck[topic])
        ek_log_write(l->log, EK_LOG_WARN, "fleet_record_dropped",
                     "topic=%s bytes=%zu reason=\"%s\"", name_of(l, topic), length,
                     rd_kafka_err2str(err));
    l->stuck[topic] = true;
}

struct ek_fleet_traffic ek_fleet_link_traffic(const struct ek_fleet_link *l)
{
    return l->traffic;
}
