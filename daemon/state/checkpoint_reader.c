#include "daemon/state/checkpoint_reader.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "daemon/base/clock.h"
#include "daemon/kafka/client.h"
#include "daemon/kafka/errors.h"
#include "daemon/kafka/topics.h"
#include "guard/state.h"

#include <string.h>

enum {
    REQUEST_TIMEOUT_MS = 2000, /* timeout of one offset query */
    SLICE_MS = 20,             /* one poll for a record */
    VISIBLE_MS = 500,          /* delay until a committed record is visible */
    AGAIN_MS = 10,             /* pause after a response, and without one */
    LATER_MS = 100,
    WHY_BYTES = 300
};

struct ek_checkpoint_reader {
    rd_kafka_t *client;
    const struct ek_config *config;
    struct ek_kafka_watch watch;
    int64_t received_ms; /* time of the last broker response */
    char why[WHY_BYTES]; /* last error */
};

size_t ek_checkpoint_state_key(char *out, size_t size, const char *topic, int partition,
                               const char *name)
{
    int length = snprintf(out, size, "%s/%d:%s", topic, partition, name);
    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

/* librdkafka consumers need a group id; the reader neither joins nor commits. */
static int make_client(struct ek_checkpoint_reader *r, struct ek_error *e)
{
    rd_kafka_conf_t *conf;
    const struct ek_kafka_setting own[] = {
        {"group.id", r->config->group},           {"enable.auto.commit", "false"},
        {"max.partition.fetch.bytes", "8388608"}, {"queued.max.messages.kbytes", "65536"},
        {"auto.offset.reset", "earliest"},        {"enable.partition.eof", "true"},
        {"fetch.error.backoff.ms", "50"},         {NULL, NULL}};
    int rc = ek_kafka_conf_auxiliary(&conf, r->config, own, e);
    if (rc)
        return rc;
    ek_kafka_watch_attach(&r->watch, conf);
    return ek_kafka_make(&r->client, RD_KAFKA_CONSUMER, conf, EK_ECONFIG, "kafka state reader", e);
}

int ek_checkpoint_reader_new(struct ek_checkpoint_reader **out, const struct ek_config *config,
                             struct ek_log *log, struct ek_error *e)
{
    struct ek_checkpoint_reader *r = ek_calloc(1, sizeof *r);
    if (!r)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    r->config = config;
    r->watch = (struct ek_kafka_watch){.log = log, .role = "state reader", .owner = r};
    int rc = make_client(r, e);
    if (rc)
        ek_free(r);
    else
        *out = r;
    return rc;
}

void ek_checkpoint_reader_free(struct ek_checkpoint_reader *r)
{
    if (!r)
        return;
    rd_kafka_destroy_flags(r->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    ek_free(r);
}

static void note_answer(struct ek_checkpoint_reader *r)
{
    r->received_ms = ek_now_ms();
}

static void note_trouble(struct ek_checkpoint_reader *r, const char *topic, rd_kafka_resp_err_t err)
{
    snprintf(r->why, sizeof r->why, "topic '%s': %s", topic, rd_kafka_err2str(err));
}

static void begin_waiting(struct ek_checkpoint_reader *r, const char *topic)
{
    note_answer(r);
    note_trouble(r, topic, RD_KAFKA_RESP_ERR__TIMED_OUT);
}

static bool keep_waiting(const struct ek_checkpoint_reader *r,
                         const struct ek_checkpoint_read_waiter *w)
{
    bool silent = ek_now_ms() - r->received_ms >= REQUEST_TIMEOUT_MS;
    return w->wait(w->context, silent ? r->why : NULL);
}

/* Serve client events; no partition is assigned. */
static void pause_for(struct ek_checkpoint_reader *r, int ms)
{
    rd_kafka_message_t *m = rd_kafka_consumer_poll(r->client, ms);
    if (m)
        rd_kafka_message_destroy(m);
}

/* Pause and refresh leaders before a retry. */
static void prepare_another(struct ek_checkpoint_reader *r, const char *topic)
{
    pause_for(r, LATER_MS);
    ek_kafka_refresh_leaders(r->client, topic, REQUEST_TIMEOUT_MS);
}

/* Return the partitions of unfinished jobs, each with its earliest time in `offset`. */
static rd_kafka_topic_partition_list_t *desired(const struct ek_checkpoint_reader *r,
                                                const struct ek_checkpoint_read_job *jobs,
                                                size_t count)
{
    const char *topic = r->config->state_topic;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (size_t i = 0; i < count; i++) {
        int64_t since = jobs[i].earliest ? 0 : jobs[i].pointer.since_ms;
        if (jobs[i].found)
            continue;
        rd_kafka_topic_partition_t *p =
            rd_kafka_topic_partition_list_find(list, topic, jobs[i].pointer.at);
        if (!p) {
            p = rd_kafka_topic_partition_list_add(list, topic, jobs[i].pointer.at);
            p->offset = since;
        }
        p->offset = since < p->offset ? since : p->offset;
    }
    return list;
}

enum starts { FOUND, HIDDEN, UNANSWERED };

/* Replace times by offsets. A missing record may still be in flight, because transaction markers
 * reach partitions one after the other. */
static enum starts find_starts(struct ek_checkpoint_reader *r,
                               rd_kafka_topic_partition_list_t *list)
{
    enum starts all = FOUND;
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_copy(list);
    rd_kafka_resp_err_t err = rd_kafka_offsets_for_times(r->client, offsets, REQUEST_TIMEOUT_MS);
    for (int i = 0; i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &offsets->elems[i];
        bool known = !err && !p->err && p->offset >= 0;
        if (list->elems[i].offset > 0 && !known && all == FOUND)
            all = HIDDEN;
        list->elems[i].offset =
            list->elems[i].offset > 0 && known ? p->offset : RD_KAFKA_OFFSET_BEGINNING;
    }
    rd_kafka_topic_partition_list_destroy(offsets);
    if (!err)
        note_answer(r);
    else
        note_trouble(r, r->config->state_topic, err);
    if (ek_kafka_classify(err, EK_KAFKA_CONSUME) == EK_KAFKA_FATAL)
        ek_kafka_report_topic(&r->watch, err, EK_KAFKA_CONSUME, r->config->state_topic, NULL);
    return err ? UNANSWERED : all;
}

static void note_starts(struct ek_checkpoint_read_job *jobs, size_t count, const char *topic,
                        rd_kafka_topic_partition_list_t *list)
{
    for (size_t i = 0; i < count; i++) {
        const rd_kafka_topic_partition_t *p =
            rd_kafka_topic_partition_list_find(list, topic, jobs[i].pointer.at);
        jobs[i].earliest = jobs[i].earliest || (p && p->offset == RD_KAFKA_OFFSET_BEGINNING);
    }
}

static void begin(struct ek_checkpoint_reader *r, struct ek_checkpoint_read_job *jobs, size_t count,
                  const struct ek_checkpoint_read_waiter *w)
{
    int64_t visible_ms = ek_now_ms() + VISIBLE_MS;
    rd_kafka_topic_partition_list_t *list = desired(r, jobs, count);
    enum starts starts;
    while ((starts = find_starts(r, list)) != FOUND && keep_waiting(r, w) &&
           !ek_kafka_failure(&r->watch, NULL) &&
           (starts == UNANSWERED || ek_now_ms() < visible_ms)) {
        rd_kafka_topic_partition_list_destroy(list);
        if (starts == UNANSWERED)
            prepare_another(r, r->config->state_topic);
        else
            pause_for(r, AGAIN_MS);
        list = desired(r, jobs, count);
    }
    note_starts(jobs, count, r->config->state_topic, list);
    rd_kafka_assign(r->client, list);
    rd_kafka_topic_partition_list_destroy(list);
}

/* Return the record name after the job's key prefix, copied to `key`, or NULL for a record of
 * another shard. */
static const char *name_of(const struct ek_checkpoint_read_job *job, const rd_kafka_message_t *m,
                           char key[EK_STATE_KEY_BYTES])
{
    char prefix[EK_STATE_KEY_BYTES];
    size_t size = ek_checkpoint_state_key(prefix, sizeof prefix, job->pointer.topic,
                                          job->pointer.partition, "");
    if (m->partition != job->pointer.at || m->key_len >= EK_STATE_KEY_BYTES || m->key_len <= size ||
        memcmp(m->key, prefix, size) != 0)
        return NULL;
    memcpy(key, m->key, m->key_len);
    key[m->key_len] = 0;
    return key + size;
}

/* Add a record to its job; skip others. A new record restarts the wait at the end. */
static int process_record(struct ek_checkpoint_read_job *job, const rd_kafka_message_t *m,
                          struct ek_error *e)
{
    char key[EK_STATE_KEY_BYTES];
    const char *name = job->found || job->broken ? NULL : name_of(job, m, key);
    if (!name)
        return EK_OK;
    job->end_ms = 0;
    bool named = !strcmp(name, EK_STATE_HEAD) && m->payload &&
                 ek_hash(m->payload, m->len, 0) == job->pointer.head;
    int rc = ek_state_add(job->state, name, m->payload, m->len, e);
    job->found = named && ek_checkpoint_number(job->state) == job->pointer.base;
    job->broken = named && !job->found;
    return rc == EK_EFORMAT ? EK_OK : rc;
}

/* Return true while the job is incomplete and not at the end of its partition for too long. */
static bool waited_for(const struct ek_checkpoint_read_job *job)
{
    return !job->found && !job->broken &&
           (!job->end_ms || ek_now_ms() - job->end_ms < EK_STATE_LEADER_TIMEOUT_MS);
}

static bool any_left(const struct ek_checkpoint_read_job *jobs, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any = any || waited_for(&jobs[i]);
    return any;
}

/* Other instances keep writing, so the end may be reached repeatedly. */
static void note_end(struct ek_checkpoint_read_job *job, int32_t partition)
{
    if (partition == job->pointer.at && !job->end_ms)
        job->end_ms = ek_now_ms();
}

/* Handle a record, the end of a partition or an error. */
static int process_any(struct ek_checkpoint_reader *r, struct ek_checkpoint_read_job *jobs,
                       size_t count, const rd_kafka_message_t *m, struct ek_error *e)
{
    int rc = EK_OK;
    if (m->err && m->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        const char *topic = m->rkt ? rd_kafka_topic_name(m->rkt) : r->config->state_topic;
        note_trouble(r, topic, m->err);
        ek_kafka_report_topic(&r->watch, m->err, EK_KAFKA_CONSUME, topic,
                              rd_kafka_message_errstr(m));
        return EK_OK;
    }
    note_answer(r);
    for (size_t i = 0; !rc && i < count; i++)
        if (m->err)
            note_end(&jobs[i], m->partition);
        else
            rc = process_record(&jobs[i], m, e);
    return rc;
}

/* Return true if every unfinished job is at the end of its partition. */
static bool at_ends(const struct ek_checkpoint_read_job *jobs, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++)
        all = all && (jobs[i].end_ms || !waited_for(&jobs[i]));
    return all;
}

/* Drop prefetched messages: the client would keep them, with their whole fetch responses, until the
 * next read. A paused partition still delivers fetches in flight. */
static void end_reading(struct ek_checkpoint_reader *r)
{
    rd_kafka_topic_partition_list_t *list = NULL;
    rd_kafka_message_t *m;
    rd_kafka_assignment(r->client, &list);
    if (list)
        rd_kafka_pause_partitions(r->client, list);
    while ((m = rd_kafka_consumer_poll(r->client, SLICE_MS)))
        rd_kafka_message_destroy(m);
    rd_kafka_assign(r->client, NULL);
    if (!list)
        return;
    rd_kafka_resume_partitions(r->client, list);
    rd_kafka_topic_partition_list_destroy(list);
}

static int read_on(struct ek_checkpoint_reader *r, struct ek_checkpoint_read_job *jobs,
                   size_t count, const struct ek_checkpoint_read_waiter *w, struct ek_error *e)
{
    int rc = EK_OK;
    while (!rc && any_left(jobs, count) && keep_waiting(r, w)) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(r->client, SLICE_MS);
        if (m)
            rc = process_any(r, jobs, count, m, e);
        if (m)
            rd_kafka_message_destroy(m);
        if (at_ends(jobs, count))
            note_answer(r);
        if (!rc)
            rc = ek_kafka_failure(&r->watch, e);
    }
    end_reading(r);
    return rc;
}

/* Reset the jobs for a pass. Return false if the pass has no work. */
static bool again(struct ek_checkpoint_read_job *jobs, size_t count, bool earliest)
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

/* A second pass reads from the beginning, because record times set by brokers may be wrong. */
int ek_checkpoint_reader_read(struct ek_checkpoint_reader *r, struct ek_checkpoint_read_job *jobs,
                              size_t count, const struct ek_checkpoint_read_waiter *w,
                              struct ek_error *e)
{
    int rc = EK_OK;
    begin_waiting(r, r->config->state_topic);
    for (int pass = 0; !rc && pass < 2 && keep_waiting(r, w) && again(jobs, count, pass > 0);
         pass++) {
        begin(r, jobs, count, w);
        rc = read_on(r, jobs, count, w, e);
    }
    return rc;
}

/* Return true if a retry may succeed. */
static bool passing(rd_kafka_resp_err_t err)
{
    return err != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART &&
           err != RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC && err != RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION &&
           ek_kafka_classify(err, EK_KAFKA_CONSUME) == EK_KAFKA_RETRIABLE;
}

int64_t ek_checkpoint_reader_low(struct ek_checkpoint_reader *r, const char *topic, int partition,
                                 const struct ek_checkpoint_read_waiter *w)
{
    int64_t low = 0, high = 0;
    rd_kafka_resp_err_t err;
    begin_waiting(r, topic);
    while ((err = rd_kafka_query_watermark_offsets(r->client, topic, partition, &low, &high,
                                                   REQUEST_TIMEOUT_MS)) &&
           passing(err) && keep_waiting(r, w)) {
        note_trouble(r, topic, err);
        prepare_another(r, topic);
    }
    return err ? -1 : low;
}
