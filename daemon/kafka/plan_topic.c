#include "daemon/kafka/plan_topic.h"

#include "base/alloc.h"
#include "daemon/base/clock.h"
#include "daemon/kafka/client.h"
#include "daemon/kafka/topics.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    SLICE_MS = 100,    /* between looks at the plan */
    REPORT_MS = 1000,  /* between reports of the condition */
    RETRY_MS = 5000,   /* after a failure */
    BROKER_MS = 2000,  /* one request */
    READ_MS = 30000,   /* longest read of the topic, before it is tried again */
    FLUSH_MS = 500,    /* at the end */
    PREFIX_BYTES = 40, /* "{\"version\":7," */
    PARTITIONS_MAX = 1024
};

/* Key in the topic. */
struct key {
    struct key *next;
    uint64_t hash; /* of the entry that was sent last; 0: unknown, or a tombstone */
    int in_flight;
    bool in_plan, ended, failed; /* ended: a tombstone was sent */
    char text[];
};

struct ek_plan_topic {
    struct ek_plan_topic_tools tools;
    struct ek_kafka_watch reading, writing;
    rd_kafka_t *reader, *writer;
    struct key *keys;
    struct ek_plan_document plan;
    struct ek_buf value;
    bool is_synced;                     /* its keys were read */
    int64_t retry_ms, report_ms;        /* earliest next attempt, next report */
    char problem[EK_KAFKA_HEALTH_TEXT]; /* "": none */
    pthread_t thread;
    bool started;
    atomic_bool stopping;
};

static const char *name_of(const struct ek_plan_topic *t)
{
    return t->tools.config->plan_topic;
}

/* Log a problem, if there was none, and try again later. */
static void fail(struct ek_plan_topic *t, const char *text)
{
    if (!*t->problem)
        ek_log_write(t->tools.log, EK_LOG_WARN, "plan_topic_unavailable", "topic=%s message=\"%s\"",
                     name_of(t), text);
    snprintf(t->problem, sizeof t->problem, "plan.topic %.120s: %.250s", name_of(t), text);
    t->retry_ms = ek_now_ms() + RETRY_MS;
}

static void recover(struct ek_plan_topic *t)
{
    if (*t->problem)
        ek_log_write(t->tools.log, EK_LOG_INFO, "plan_topic_recovered", "topic=%s", name_of(t));
    *t->problem = 0;
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    struct ek_plan_topic *t = ((struct ek_kafka_watch *)opaque)->owner;
    struct key *k = m->_private;
    char text[EK_KAFKA_HEALTH_TEXT];
    (void)rk;
    k->in_flight--;
    if (!m->err) {
        recover(t);
        return;
    }
    k->failed = true;
    ek_kafka_errmsg(text, sizeof text, &t->writing, m->err, EK_KAFKA_DELIVER, name_of(t), NULL);
    fail(t, text);
}

static int make_client(struct ek_plan_topic *t, rd_kafka_t **out, rd_kafka_type_t type,
                       const struct ek_kafka_setting *own, struct ek_kafka_watch *watch,
                       const char *role, struct ek_error *e)
{
    rd_kafka_conf_t *conf;
    int rc = ek_kafka_conf_auxiliary(&conf, t->tools.config, own, e);
    if (rc)
        return rc;
    watch->log = t->tools.log;
    watch->metrics = t->tools.metrics;
    watch->role = role;
    watch->owner = t;
    ek_kafka_watch_attach(watch, conf);
    if (type == RD_KAFKA_PRODUCER)
        rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    return ek_kafka_make(out, type, conf, EK_ECONFIG, "kafka client of the plan topic", e);
}

/* One request in flight keeps the records of a key in order. */
static int make_clients(struct ek_plan_topic *t, struct ek_error *e)
{
    static const struct ek_kafka_setting writes[] = {{"enable.idempotence", "false"},
                                                     {"max.in.flight.requests.per.connection", "1"},
                                                     {"acks", "all"},
                                                     {"message.timeout.ms", "10000"},
                                                     {"linger.ms", "0"},
                                                     {"compression.type", "lz4"},
                                                     {"message.max.bytes", "67108864"},
                                                     {NULL, NULL}};
    const struct ek_kafka_setting reads[] = {
        {"group.id", t->tools.config->group}, {"enable.auto.commit", "false"},
        {"enable.partition.eof", "true"},     {"auto.offset.reset", "earliest"},
        {"fetch.wait.max.ms", "100"},         {NULL, NULL}};
    int rc = make_client(t, &t->writer, RD_KAFKA_PRODUCER, writes, &t->writing, "plan producer", e);
    return rc ? rc
              : make_client(t, &t->reader, RD_KAFKA_CONSUMER, reads, &t->reading, "plan consumer",
                            e);
}

int ek_plan_topic_new(struct ek_plan_topic **out, const struct ek_plan_topic_tools *tools,
                      struct ek_error *e)
{
    struct ek_plan_topic *t = ek_calloc(1, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    t->tools = *tools;
    ek_plan_document_init(&t->plan);
    ek_buf_init(&t->value, 0);
    int rc = make_clients(t, e);
    if (rc)
        ek_plan_topic_free(t);
    else
        *out = t;
    return rc;
}

void ek_plan_topic_free(struct ek_plan_topic *t)
{
    if (!t)
        return;
    if (t->writer) {
        rd_kafka_purge(t->writer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_destroy(t->writer);
    }
    if (t->reader) {
        rd_kafka_consumer_close(t->reader);
        rd_kafka_destroy(t->reader);
    }
    for (struct key *k = t->keys, *next; k; k = next) {
        next = k->next;
        ek_free(k);
    }
    ek_plan_document_release(&t->plan);
    ek_buf_release(&t->value);
    ek_free(t);
}

/* Return a key, which is added if it is new; NULL if out of memory. */
static struct key *get_key(struct ek_plan_topic *t, const char *text, size_t length)
{
    struct key *k = t->keys;
    while (k && (strncmp(k->text, text, length) != 0 || k->text[length]))
        k = k->next;
    if (k || !(k = ek_calloc(1, sizeof *k + length + 1)))
        return k;
    memcpy(k->text, text, length);
    k->next = t->keys;
    return t->keys = k;
}

/* Note a record of the topic. Return false if out of memory. */
static bool note_record(struct ek_plan_topic *t, const rd_kafka_message_t *m)
{
    struct key *k = m->key ? get_key(t, m->key, m->key_len) : NULL;
    if (k)
        k->ended = !m->payload;
    return k || !m->key;
}

static bool assign_all(struct ek_plan_topic *t, int partitions)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int p = 0; p < partitions; p++)
        rd_kafka_topic_partition_list_add(list, name_of(t), p)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_resp_err_t err = rd_kafka_assign(t->reader, list);
    rd_kafka_topic_partition_list_destroy(list);
    return !err;
}

/* Read all partitions to their ends. Return the first error, or that of a read without an end. */
static rd_kafka_resp_err_t read_records(struct ek_plan_topic *t, int partitions)
{
    int64_t until = ek_now_ms() + READ_MS;
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    while (partitions && !err && !atomic_load(&t->stopping)) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(t->reader, SLICE_MS);
        if (!m && ek_now_ms() >= until)
            err = RD_KAFKA_RESP_ERR__TIMED_OUT;
        if (!m)
            continue;
        if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
            partitions--;
        else if (m->err)
            err = m->rkt ? m->err : RD_KAFKA_RESP_ERR_NO_ERROR; /* else of the connection */
        else if (!note_record(t, m))
            err = RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE;
        rd_kafka_message_destroy(m);
    }
    return err;
}

/* Read the keys of the topic. Return false if it does not exist or cannot be read. */
static bool read_topic(struct ek_plan_topic *t)
{
    char text[EK_KAFKA_HEALTH_TEXT];
    struct ek_topic_info info = {0};
    rd_kafka_resp_err_t err = ek_kafka_get_topic(t->reader, name_of(t), BROKER_MS, &info);
    if (err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
        fail(t, "it does not exist; create it with cleanup.policy=compact");
        return false;
    }
    if (!err && info.partitions > PARTITIONS_MAX)
        err = RD_KAFKA_RESP_ERR_INVALID_PARTITIONS;
    if (!err && info.partitions > 0 && assign_all(t, info.partitions))
        err = read_records(t, info.partitions);
    rd_kafka_assign(t->reader, NULL);
    if (!err && info.partitions > 0)
        return true;
    if (!info.responded && !err)
        err = RD_KAFKA_RESP_ERR__TIMED_OUT;
    ek_kafka_errmsg(text, sizeof text, &t->reading, err, EK_KAFKA_CONSUME, name_of(t), NULL);
    fail(t, text);
    return false;
}

/* Queue a record of a key; value NULL: a tombstone. */
static void send_record(struct ek_plan_topic *t, struct key *k, const void *value, size_t length)
{
    rd_kafka_resp_err_t err = rd_kafka_producev(
        t->writer, RD_KAFKA_V_TOPIC(name_of(t)), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(k->text, strlen(k->text)),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)value, length), RD_KAFKA_V_OPAQUE(k), RD_KAFKA_V_END);
    k->failed = err != RD_KAFKA_RESP_ERR_NO_ERROR;
    k->in_flight += !err;
    if (err)
        fail(t, rd_kafka_err2str(err));
}

/* Queue the record of an entry unless it was sent. */
static void send_part(struct ek_plan_topic *t, const struct ek_plan_part *part)
{
    const char *key = (const char *)t->plan.keys.data + part->key;
    struct key *k = get_key(t, key, strlen(key));
    if (!k) {
        fail(t, "out of memory");
        t->is_synced = false;
        return;
    }
    k->in_plan = true;
    if (k->hash == part->hash && !k->failed)
        return;
    ek_buf_clear(&t->value);
    ek_buf_printf(&t->value, "{\"version\":%" PRIu64 ",", t->plan.version);
    ek_buf_add(&t->value, t->plan.text.data + part->at + 1, part->length - 1);
    if (t->value.rc) {
        fail(t, "out of memory");
        k->failed = true;
        return;
    }
    k->hash = part->hash;
    k->ended = false;
    send_record(t, k, t->value.data, t->value.length);
}

/* Remove keys whose tombstone was delivered. */
static void remove_ended(struct ek_plan_topic *t)
{
    for (struct key **at = &t->keys; *at;) {
        struct key *k = *at;
        if (k->in_plan || !k->ended || k->failed || k->in_flight) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        ek_free(k);
    }
}

/* Queue the records by which topic and plan differ. */
static void send_changes(struct ek_plan_topic *t)
{
    for (struct key *k = t->keys; k; k = k->next)
        k->in_plan = false;
    for (size_t i = 0; i < ek_plan_document_count(&t->plan); i++)
        send_part(t, ek_plan_document_part(&t->plan, i));
    for (struct key *k = t->keys; k; k = k->next) {
        if (k->in_plan || (k->ended && !k->failed))
            continue;
        k->hash = 0;
        k->ended = true;
        send_record(t, k, NULL, 0);
    }
    remove_ended(t);
}

static bool has_failed(const struct ek_plan_topic *t)
{
    for (const struct key *k = t->keys; k; k = k->next)
        if (k->failed)
            return true;
    return false;
}

/* Write all that is due. */
static void step(struct ek_plan_topic *t, int64_t now)
{
    bool changed = false, was = t->is_synced;
    if (!t->tools.is_writer(t->tools.context)) {
        t->is_synced = false;
        recover(t);
        return;
    }
    if (now < t->retry_ms)
        return;
    if (!t->is_synced)
        t->is_synced = read_topic(t);
    if (!t->is_synced)
        return;
    if (!was) {
        recover(t);
        for (struct key *k = t->keys; k; k = k->next) /* all are written once after the start */
            k->hash = 0;
    }
    if (t->tools.copy(t->tools.context, &t->plan, &changed)) {
        fail(t, "out of memory");
        t->plan.version = t->plan.hash = 0;
        return;
    }
    if (changed || !was || has_failed(t))
        send_changes(t);
}

static void *run(void *context)
{
    struct ek_plan_topic *t = context;
    while (!atomic_load(&t->stopping)) {
        int64_t now = ek_now_ms();
        step(t, now);
        if (now >= t->report_ms) {
            t->report_ms = now + REPORT_MS;
            t->tools.degraded(t->tools.context, *t->problem ? t->problem : NULL);
        }
        rd_kafka_poll(t->writer, SLICE_MS);
    }
    rd_kafka_flush(t->writer, FLUSH_MS);
    return NULL;
}

int ek_plan_topic_start(struct ek_plan_topic *t, struct ek_error *e)
{
    int problem = pthread_create(&t->thread, NULL, run, t);
    if (problem)
        return ek_fail(e, EK_EIO, "cannot start the thread of the plan topic: %s",
                       strerror(problem));
    t->started = true;
    return EK_OK;
}

void ek_plan_topic_stop(struct ek_plan_topic *t)
{
    if (!t || !t->started)
        return;
    atomic_store(&t->stopping, true);
    pthread_join(t->thread, NULL);
    t->started = false;
}
