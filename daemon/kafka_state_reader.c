#include "daemon/kafka_state_reader.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "daemon/cli.h"
#include "daemon/kafka_conf.h"
#include "daemon/kafka_error.h"
#include "guard/state_head.h"

#include <string.h>

enum {
    ASK_MS = 2000,    /* one question where to begin */
    SLICE_MS = 20,    /* one wait for a record */
    VISIBLE_MS = 500, /* for so long a record of that time may be on its way */
    AGAIN_MS = 10
};

struct ek_state_reader {
    rd_kafka_t *client;
    const struct ek_config *config;
    struct ek_kafka_watch watch;
};

size_t ek_state_key(char *out, size_t size, const char *topic, int partition, const char *name)
{
    int length = snprintf(out, size, "%s/%d:%s", topic, partition, name);
    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

/* Clients that read want a group; nothing is joined or committed. */
static int configure(struct ek_state_reader *r, rd_kafka_conf_t **out, struct ek_error *e)
{
    const struct ek_kafka_setting own[] = {
        {"group.id", r->config->group},           {"enable.auto.commit", "false"},
        {"max.partition.fetch.bytes", "8388608"}, {"queued.max.messages.kbytes", "65536"},
        {"auto.offset.reset", "earliest"},        {"enable.partition.eof", "true"},
        {"fetch.error.backoff.ms", "50"},         {NULL, NULL}};
    int rc = ek_kafka_conf_beside(out, r->config, own, e);
    if (!rc)
        ek_kafka_watch_over(&r->watch, *out);
    return rc;
}

int ek_state_reader_new(struct ek_state_reader **out, const struct ek_config *config,
                        struct ek_log *log, struct ek_error *e)
{
    char why[300];
    rd_kafka_conf_t *conf;
    struct ek_state_reader *r = ek_calloc(1, sizeof *r);
    if (!r)
        return ek_fail(e, EK_ENOMEM, "no memory for the reader of states");
    r->config = config;
    r->watch = (struct ek_kafka_watch){.log = log, .role = "state reader", .owner = r};
    int rc = configure(r, &conf, e);
    if (!rc && !(r->client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why))) {
        rd_kafka_conf_destroy(conf);
        rc = ek_fail(e, EK_ECONFIG, "kafka state reader: %s", why);
    }
    if (rc) {
        ek_free(r);
        return rc;
    }
    rd_kafka_poll_set_consumer(r->client);
    *out = r;
    return EK_OK;
}

void ek_state_reader_free(struct ek_state_reader *r)
{
    if (!r)
        return;
    rd_kafka_destroy_flags(r->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    ek_free(r);
}

/* The state topic's partitions of the jobs that are not done, with the earliest time of each. */
static rd_kafka_topic_partition_list_t *wanted(const struct ek_state_reader *r,
                                               const struct ek_state_job *jobs, size_t count)
{
    const char *topic = r->config->state_topic;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (size_t i = 0; i < count; i++) {
        int64_t since = jobs[i].earliest ? 0 : jobs[i].pointer.since_ms;
        if (jobs[i].found)
            continue;
        rd_kafka_topic_partition_t *p =
            rd_kafka_topic_partition_list_find(list, topic, jobs[i].pointer.partition);
        if (!p) {
            p = rd_kafka_topic_partition_list_add(list, topic, jobs[i].pointer.partition);
            p->offset = since;
        }
        p->offset = since < p->offset ? since : p->offset;
    }
    return list;
}

enum starts { FOUND, HIDDEN, UNANSWERED };

/* Turns times into offsets. A partition may have no record of its time: it is on its way, since the
 * marks of one transaction reach partitions one after the other, or was never there. */
static enum starts find_starts(struct ek_state_reader *r, rd_kafka_topic_partition_list_t *list)
{
    enum starts all = FOUND;
    rd_kafka_topic_partition_list_t *asked = rd_kafka_topic_partition_list_copy(list);
    rd_kafka_resp_err_t err = rd_kafka_offsets_for_times(r->client, asked, ASK_MS);
    for (int i = 0; i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &asked->elems[i];
        bool known = !err && !p->err && p->offset >= 0;
        if (list->elems[i].offset > 0 && !known && all == FOUND)
            all = HIDDEN;
        list->elems[i].offset =
            list->elems[i].offset > 0 && known ? p->offset : RD_KAFKA_OFFSET_BEGINNING;
    }
    rd_kafka_topic_partition_list_destroy(asked);
    return err ? UNANSWERED : all;
}

struct patience {
    int64_t until_ms;
    bool (*stop)(void *context);
    void *context;
};

static bool over(const struct patience *p)
{
    return ek_now_ms() >= p->until_ms || p->stop(p->context);
}

static void note_starts(struct ek_state_job *jobs, size_t count, const char *topic,
                        rd_kafka_topic_partition_list_t *list)
{
    for (size_t i = 0; i < count; i++) {
        const rd_kafka_topic_partition_t *p =
            rd_kafka_topic_partition_list_find(list, topic, jobs[i].pointer.partition);
        jobs[i].earliest = jobs[i].earliest || (p && p->offset == RD_KAFKA_OFFSET_BEGINNING);
    }
}

static void begin(struct ek_state_reader *r, struct ek_state_job *jobs, size_t count,
                  const struct patience *p)
{
    int64_t visible_ms = ek_now_ms() + VISIBLE_MS;
    rd_kafka_topic_partition_list_t *list = wanted(r, jobs, count);
    enum starts starts;
    while ((starts = find_starts(r, list)) != FOUND && !over(p) &&
           (starts == UNANSWERED || ek_now_ms() < visible_ms)) {
        rd_kafka_topic_partition_list_destroy(list);
        rd_kafka_message_t *m = rd_kafka_consumer_poll(r->client, AGAIN_MS);
        if (m)
            rd_kafka_message_destroy(m);
        list = wanted(r, jobs, count);
    }
    note_starts(jobs, count, r->config->state_topic, list);
    rd_kafka_assign(r->client, list);
    rd_kafka_topic_partition_list_destroy(list);
}

/* The name behind the prefix of the job, terminated, when the record is one of its; else NULL. */
static const char *name_of(const struct ek_state_job *job, const rd_kafka_message_t *m,
                           char key[EK_STATE_KEY_BYTES])
{
    char prefix[EK_STATE_KEY_BYTES];
    size_t size =
        ek_state_key(prefix, sizeof prefix, job->pointer.topic, job->pointer.partition, "");
    if (m->partition != job->pointer.partition || m->key_len >= EK_STATE_KEY_BYTES ||
        m->key_len <= size || memcmp(m->key, prefix, size) != 0)
        return NULL;
    memcpy(key, m->key, m->key_len);
    key[m->key_len] = 0;
    return key + size;
}

/* A record that is none of a state is passed over. */
static int take(struct ek_state_job *job, const rd_kafka_message_t *m, struct ek_error *e)
{
    char key[EK_STATE_KEY_BYTES];
    const char *name = job->found || job->broken ? NULL : name_of(job, m, key);
    if (!name)
        return EK_OK;
    bool named = !strcmp(name, EK_STATE_HEAD) && m->payload &&
                 ek_hash(m->payload, m->len, 0) == job->pointer.head;
    int rc = ek_state_add(job->state, name, m->payload, m->len, e);
    job->found = named && ek_state_base(job->state) == job->pointer.base;
    job->broken = named && !job->found;
    return rc == EK_EFORMAT ? EK_OK : rc;
}

/* Still to be waited for: not found, and not at the end of its partition for long. */
static bool waited_for(const struct ek_state_job *job)
{
    return !job->found && !job->broken &&
           (!job->end_ms || ek_now_ms() - job->end_ms < EK_STATE_SILENCE_MS);
}

static bool any_left(const struct ek_state_job *jobs, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any = any || waited_for(&jobs[i]);
    return any;
}

/* A record starts the wait at the end anew. */
static void note_end(struct ek_state_job *job, const rd_kafka_message_t *m)
{
    bool end = m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (m->partition == job->pointer.partition && (end || !m->err))
        job->end_ms = end ? ek_now_ms() : 0;
}

static int read_on(struct ek_state_reader *r, struct ek_state_job *jobs, size_t count,
                   const struct patience *p, struct ek_error *e)
{
    int rc = EK_OK;
    while (!rc && any_left(jobs, count) && !over(p)) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(r->client, SLICE_MS);
        if (!m)
            continue;
        for (size_t i = 0; !rc && i < count; i++) {
            note_end(&jobs[i], m);
            rc = m->err ? EK_OK : take(&jobs[i], m, e);
        }
        rd_kafka_message_destroy(m);
    }
    rd_kafka_assign(r->client, NULL);
    return rc;
}

/* Readies the jobs for a pass; false when there is nothing for it to do. */
static bool again(struct ek_state_job *jobs, size_t count, bool earliest)
{
    bool some = false;
    for (size_t i = 0; i < count; i++) {
        some = some || (!jobs[i].found && (!earliest || !jobs[i].earliest));
        jobs[i].earliest = earliest;
        jobs[i].broken = false;
        jobs[i].end_ms = 0;
    }
    return some;
}

/* Times may mislead, where the broker sets them by a clock of its own. */
int ek_state_reader_read(struct ek_state_reader *r, struct ek_state_job *jobs, size_t count,
                         bool (*stop)(void *context), void *context, struct ek_error *e)
{
    const struct patience p = {ek_now_ms() + EK_STATE_READ_MS, stop, context};
    bool cut = false;
    int rc = EK_OK;
    for (int pass = 0; !rc && pass < 2 && !over(&p) && again(jobs, count, pass > 0); pass++) {
        begin(r, jobs, count, &p);
        rc = read_on(r, jobs, count, &p, e);
        cut = any_left(jobs, count);
    }
    if (!rc && cut && !stop(context))
        rc =
            ek_fail(e, EK_EIO,
                    "brokers do not give back the state in topic '%s': it is not given up for that",
                    r->config->state_topic);
    return rc;
}

int64_t ek_state_reader_low(struct ek_state_reader *r, const char *topic, int partition)
{
    int64_t low = 0, high = 0;
    return rd_kafka_query_watermark_offsets(r->client, topic, partition, &low, &high, ASK_MS) ? -1
                                                                                              : low;
}
