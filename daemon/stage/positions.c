#include "daemon/base/clock.h"
#include "daemon/kafka/topics.h"
#include "daemon/stage/consumer_internal.h"

#include <string.h>

/* Positions of assigned partitions: the stage resolves and commits them itself, because a client
 * that resets offsets by its own rule skips messages without an error.
 *
 * A committed offset is kept while the log has it. Below the log's start the messages up to it are
 * lost, which is reported. Above the log's end, or where the message before it is another one than
 * was processed, the topic was deleted and created again: reading begins at its start. Without a
 * committed offset a partition begins at the log's start; with `latest` at its end, but only while
 * the group has committed no offset of any partition of the topic.
 */
enum { FIRST_MS = 5000, LOG_INTERVAL_MS = 30000 };

bool ek_input_is_stopping(const struct ek_input *in)
{
    return in->hooks.stopping && in->hooks.stopping(in->hooks.context);
}

bool ek_input_may_log(struct ek_input *in)
{
    int64_t now = ek_now_ms();
    if (now < in->next_log_ms)
        return false;
    in->next_log_ms = now + LOG_INTERVAL_MS;
    return true;
}

rd_kafka_resp_err_t ek_input_get_committed(const struct ek_input *in,
                                           rd_kafka_topic_partition_list_t *parts, int wait_ms)
{
    rd_kafka_resp_err_t err = rd_kafka_committed(in->client, parts, wait_ms);
    for (int i = 0; !err && i < parts->cnt; i++)
        err = parts->elems[i].err;
    return err;
}

/* Log at intervals that a position waits for brokers, and pause. Return false to give up. */
static bool wait_again(struct ek_input *in, const char *topic, rd_kafka_resp_err_t err)
{
    if (ek_kafka_classify(err, EK_KAFKA_COMMIT) == EK_KAFKA_FATAL) {
        ek_kafka_report_topic(&in->watch, err, EK_KAFKA_COMMIT, topic, NULL);
        return false;
    }
    if (ek_input_may_log(in))
        ek_log_write(in->watch.log, EK_LOG_WARN, "position_pending", "topic=%s reason=%s", topic,
                     rd_kafka_err2name(err));
    if (ek_input_is_stopping(in))
        return false;
    ek_wakeup_wait(in->wakeup, EK_INPUT_RETRY_MS);
    return true;
}

/* Return the log's range from the broker; retry until it is known. Return false to give up. */
static bool find_range(struct ek_input *in, const char *topic, int partition, int64_t *low,
                       int64_t *high)
{
    rd_kafka_resp_err_t err;
    while ((err = rd_kafka_query_watermark_offsets(in->client, topic, partition, low, high,
                                                   EK_INPUT_REQUEST_MS)))
        if (!wait_again(in, topic, err))
            return false;
    return true;
}

/* Return the committed offsets of all partitions of a topic, NULL to give up. */
static rd_kafka_topic_partition_list_t *commits_of_topic(struct ek_input *in, const char *topic)
{
    struct ek_topic_info info;
    rd_kafka_resp_err_t err;
    while ((err = ek_kafka_get_topic(in->client, topic, EK_INPUT_REQUEST_MS, &info)))
        if (!wait_again(in, topic, err))
            return NULL;
    for (;;) {
        rd_kafka_topic_partition_list_t *all = rd_kafka_topic_partition_list_new(info.partitions);
        for (int i = 0; i < info.partitions; i++)
            rd_kafka_topic_partition_list_add(all, topic, i);
        err = ek_input_get_committed(in, all, EK_INPUT_REQUEST_MS);
        if (!err)
            return all;
        rd_kafka_topic_partition_list_destroy(all);
        if (!wait_again(in, topic, err))
            return NULL;
    }
}

static bool any_commit(const rd_kafka_topic_partition_list_t *all)
{
    for (int i = 0; i < all->cnt; i++)
        if (all->elems[i].offset >= 0)
            return true;
    return false;
}

static rd_kafka_resp_err_t commit_list(struct ek_input *in, rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_resp_err_t err = list->cnt ? rd_kafka_commit(in->client, list, 0) : 0;
    for (int i = 0; !err && i < list->cnt; i++)
        err = list->elems[i].err;
    if (err)
        ek_kafka_report_topic(&in->watch, err, EK_KAFKA_COMMIT, list->elems[0].topic,
                              "positions are not committed yet");
    return err;
}

/* First start of a group with `latest`: commit the ends of all partitions of the topic. */
static bool commit_ends(struct ek_input *in, rd_kafka_topic_partition_list_t *all)
{
    for (int i = 0; i < all->cnt; i++) {
        int64_t low, high;
        if (!find_range(in, all->elems[i].topic, all->elems[i].partition, &low, &high))
            return false;
        all->elems[i].offset = high;
    }
    commit_list(in, all);
    return true;
}

static bool has_first(const rd_kafka_topic_partition_list_t *parts, const char *topic)
{
    return rd_kafka_topic_partition_list_find((rd_kafka_topic_partition_list_t *)(uintptr_t)parts,
                                              topic, 0) != NULL;
}

/* Set the offset of a partition without a commit, with `latest`. The owner of partition 0 commits
 * the ends for all members, and the others wait for it: else a member that starts a moment later
 * would take the topic for one that has grown. */
static bool begin_at_end(struct ek_input *in, const rd_kafka_topic_partition_list_t *parts,
                         rd_kafka_topic_partition_t *p, int64_t low, int64_t high)
{
    int64_t until = ek_now_ms() + FIRST_MS;
    for (;;) {
        rd_kafka_topic_partition_list_t *all = commits_of_topic(in, p->topic);
        if (!all)
            return false;
        bool some = any_commit(all), ours = has_first(parts, p->topic);
        bool good = some || !ours || commit_ends(in, all);
        const rd_kafka_topic_partition_t *own =
            rd_kafka_topic_partition_list_find(all, p->topic, p->partition);
        int64_t offset = own ? own->offset : -1;
        rd_kafka_topic_partition_list_destroy(all);
        if (!good)
            return false;
        bool late = ek_now_ms() >= until;
        if (offset >= 0 || some || late) {
            p->offset = offset >= 0 ? offset : some ? low : high;
            return true;
        }
        ek_wakeup_wait(in->wakeup, EK_INPUT_RETRY_MS);
        if (ek_input_is_stopping(in))
            return false;
    }
}

void ek_input_log_recreated(struct ek_input *in, const char *topic, int partition, int64_t was,
                            int64_t now)
{
    ek_log_write(in->watch.log, EK_LOG_WARN, "topic_recreated",
                 "topic=%s partition=%d from=%lld to=%lld", topic, partition, (long long)was,
                 (long long)now);
}

/* Set the position of one partition, and *changed if it must be committed. */
static bool resolve(struct ek_input *in, const rd_kafka_topic_partition_list_t *parts,
                    rd_kafka_topic_partition_t *p, bool *changed)
{
    int64_t low, high, was = p->offset;
    struct ek_partition *assignment =
        ek_partition_offsets_known(in->partitions, p->topic, p->partition);
    *changed = true;
    if (!find_range(in, p->topic, p->partition, &low, &high))
        return false;
    /* brokers delete the commits of a topic with it */
    bool recreated = was > high || (was < 0 && assignment && assignment->next > 0);
    bool owned = assignment && assignment->next == 0; /* by this instance, which read none of it */
    if (was < 0 && !recreated && !owned && in->config->offset_reset == EK_OFFSET_RESET_LATEST)
        return begin_at_end(in, parts, p, low, high);
    if (was >= 0 && was < low && in->hooks.lost)
        in->hooks.lost(in->hooks.context, p->topic, p->partition, was, low);
    if (recreated)
        ek_input_log_recreated(in, p->topic, p->partition, was < 0 ? assignment->next : was, low);
    if (recreated && assignment)
        assignment->recreated = true;
    *changed = was < low || was > high;
    p->offset = *changed ? low : was;
    p->opaque = *changed || p->offset <= low ? EK_NO_PROBE : NULL;
    return true;
}

static void copy_entry(rd_kafka_topic_partition_list_t *to, const rd_kafka_topic_partition_t *p)
{
    rd_kafka_topic_partition_t *copy =
        rd_kafka_topic_partition_list_add(to, p->topic, p->partition);
    copy->offset = p->offset;
    if (!p->metadata_size)
        return;
    copy->metadata = rd_kafka_mem_malloc(NULL, p->metadata_size); /* freed with the list */
    copy->metadata_size = p->metadata_size;
    memcpy(copy->metadata, p->metadata, p->metadata_size);
}

bool ek_input_resolve_positions(struct ek_input *in, rd_kafka_topic_partition_list_t *known)
{
    rd_kafka_topic_partition_list_t *news = rd_kafka_topic_partition_list_new(8);
    bool good = true;
    for (int i = 0; good && i < known->cnt; i++) {
        bool changed;
        int64_t was = known->elems[i].offset;
        good = resolve(in, known, &known->elems[i], &changed);
        if (good && changed && was > known->elems[i].offset) {
            /* the checkpoint reference is of the deleted topic */
            rd_kafka_mem_free(NULL, known->elems[i].metadata);
            known->elems[i].metadata = NULL;
            known->elems[i].metadata_size = 0;
        }
        if (good && changed)
            copy_entry(news, &known->elems[i]);
    }
    if (good)
        commit_list(in, news);
    rd_kafka_topic_partition_list_destroy(news);
    return good;
}
