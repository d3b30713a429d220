#include "base/alloc.h"
#include "daemon/stage/consumer_internal.h"
#include "daemon/state/checkpoint_ref.h"

#include <stdio.h>
#include <string.h>

enum { SEEK_FOR_EVER = -1 }; /* before 2.1 librdkafka uses any other timeout in the wrong unit */

void ek_input_add_offset(const struct ek_input *in, rd_kafka_topic_partition_list_t *list,
                         const struct ek_partition *assignment, int64_t offset, const char *pointer)
{
    rd_kafka_topic_partition_t *p =
        rd_kafka_topic_partition_list_add(list, assignment->topic, assignment->partition);
    char print[EK_PRINT_TEXT_BYTES];
    size_t length = pointer ? strlen(pointer) : 0;
    p->offset = offset;
    ek_print_write(offset == assignment->reached ? assignment->reached_print
                   : offset == assignment->next  ? assignment->print
                                                 : 0,
                   in->owner, pointer != NULL, print);
    p->metadata_size = length + strlen(print);
    if (!p->metadata_size)
        return;
    p->metadata = rd_kafka_mem_malloc(NULL, p->metadata_size); /* freed with the list */
    memcpy(p->metadata, pointer ? pointer : "", length);
    memcpy((char *)p->metadata + length, print, p->metadata_size - length);
}

/* Return the offsets whose position or checkpoint reference changed since the last commit; NULL if
 * none. */
static rd_kafka_topic_partition_list_t *moved(struct ek_input *in)
{
    rd_kafka_topic_partition_list_t *list = NULL;
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(in->partitions, assignment));) {
        bool same = assignment->next == assignment->committed &&
                    (assignment->pointed || !assignment->pointer);
        bool held = in->checkpoint_store &&
                    ek_checkpoint_store_blocks_commit(in->checkpoint_store, assignment);
        if (!assignment->open || assignment->next < 0 || same || held)
            continue;
        if (!list)
            list = rd_kafka_topic_partition_list_new(8);
        ek_input_add_offset(in, list, assignment, assignment->next, assignment->pointer);
    }
    return list;
}

static bool carries(const rd_kafka_topic_partition_t *p, const char *pointer)
{
    return pointer && p->metadata_size >= strlen(pointer) &&
           !memcmp(p->metadata, pointer, strlen(pointer));
}

static void store_offsets(struct ek_input *in, const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &list->elems[i];
        struct ek_partition *assignment =
            ek_partition_offsets_find(in->partitions, p->topic, p->partition);
        if (!assignment || p->err)
            continue;
        assignment->committed = p->offset;
        assignment->pointed = assignment->pointed || carries(p, assignment->pointer);
    }
}

/* Report each distinct error of a partition with its topic. Return false if none has an error. */
static bool log_rejected(struct ek_kafka_watch *w, const rd_kafka_topic_partition_list_t *offsets)
{
    rd_kafka_resp_err_t last = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; offsets && i < offsets->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &offsets->elems[i];
        if (p->err && p->err != last)
            ek_kafka_report_topic(w, p->err, EK_KAFKA_COMMIT, p->topic, NULL);
        last = p->err ? p->err : last;
    }
    return last != RD_KAFKA_RESP_ERR_NO_ERROR;
}

void ek_input_on_commit(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                        rd_kafka_topic_partition_list_t *offsets, void *opaque)
{
    struct ek_kafka_watch *w = opaque;
    struct ek_input *in = w->owner;
    (void)rk;
    if (err == RD_KAFKA_RESP_ERR__NO_OFFSET)
        return;
    if (!log_rejected(w, offsets) && err)
        ek_kafka_report(w, err, EK_KAFKA_COMMIT, NULL);
    if (err)
        return;
    ek_metrics_count(w->metrics, EK_COUNT_COMMITS, 1);
    if (offsets)
        store_offsets(in, offsets);
}

void ek_input_commit(struct ek_input *in)
{
    rd_kafka_topic_partition_list_t *list = moved(in);
    if (!list)
        return;
    rd_kafka_resp_err_t err = rd_kafka_commit(in->client, list, 1);
    if (err)
        ek_kafka_report(&in->watch, err, EK_KAFKA_COMMIT, NULL);
    rd_kafka_topic_partition_list_destroy(list);
}

typedef void commit_result_fn(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                              rd_kafka_topic_partition_list_t *offsets, void *opaque);

static void set_result(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                       rd_kafka_topic_partition_list_t *offsets, void *opaque)
{
    (void)rk;
    *(rd_kafka_resp_err_t *)opaque = err || !offsets || !offsets->cnt ? err : offsets->elems[0].err;
}

/* Commit a list, which is freed, and wait for the result. Return the error of the request, or
 * RD_KAFKA_RESP_ERR__TIMED_OUT without a result; other errors are passed to `on_result`. */
static rd_kafka_resp_err_t commit_and_wait(struct ek_input *in,
                                           rd_kafka_topic_partition_list_t *list, int64_t wait_ms,
                                           commit_result_fn *on_result, void *opaque)
{
    rd_kafka_queue_t *answers = rd_kafka_queue_new(in->client);
    rd_kafka_resp_err_t err = rd_kafka_commit_queue(in->client, list, answers, on_result, opaque);
    if (!err && !rd_kafka_queue_poll_callback(answers, (int)wait_ms))
        err = RD_KAFKA_RESP_ERR__TIMED_OUT;
    rd_kafka_queue_destroy(answers);
    rd_kafka_topic_partition_list_destroy(list);
    return err;
}

bool ek_input_commit_start(struct ek_input *in, const struct ek_partition *assignment, int64_t low)
{
    rd_kafka_resp_err_t result = RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    ek_input_add_offset(in, list, assignment, low, NULL);
    rd_kafka_resp_err_t err = commit_and_wait(in, list, EK_INPUT_REQUEST_MS, set_result, &result);
    err = err ? err : result;
    if (err)
        ek_kafka_report_topic(&in->watch, err, EK_KAFKA_COMMIT, assignment->topic,
                              "positions are not committed yet");
    return !err;
}

void ek_input_commit_now(struct ek_input *in, int64_t wait_ms)
{
    rd_kafka_topic_partition_list_t *list = moved(in);
    if (!list)
        return;
    rd_kafka_resp_err_t err = commit_and_wait(in, list, wait_ms, ek_input_on_commit, &in->watch);
    if (err == RD_KAFKA_RESP_ERR__TIMED_OUT)
        ek_log_text(in->watch.log, EK_LOG_WARN, "commit_timeout",
                    "no commit response in time; the last messages may be processed again");
    else if (err)
        ek_kafka_report(&in->watch, err, EK_KAFKA_COMMIT, NULL);
}

rd_kafka_consumer_group_metadata_t *ek_input_group(struct ek_input *in)
{
    return rd_kafka_consumer_group_metadata(in->client);
}

static int seek(struct ek_input *in, rd_kafka_topic_partition_list_t *list, struct ek_error *e)
{
    rd_kafka_error_t *problem = rd_kafka_seek_partitions(in->client, list, SEEK_FOR_EVER);
    rd_kafka_resp_err_t err = problem ? rd_kafka_error_code(problem) : 0;
    for (int i = 0; i < list->cnt && !err; i++) {
        const rd_kafka_topic_partition_t *p = &list->elems[i];
        err = p->err;
        if (err == RD_KAFKA_RESP_ERR__STATE) /* the client has stopped fetching */
            err = ek_input_detach(
                in, ek_partition_offsets_find(in->partitions, p->topic, p->partition));
    }
    rd_kafka_error_destroy(problem);
    if (!err)
        return EK_OK;
    return ek_fail_fatal(e, EK_EIO, "kafka: cannot go back to the committed offsets: %s",
                         rd_kafka_err2str(err));
}

/* Set and return the offset to resume at: the committed offset, or the offset the guard has not
 * counted if that is lower. */
static int64_t resume_at(struct ek_input *in, struct ek_partition *assignment)
{
    int64_t seen = in->checkpoint_store
                       ? ek_checkpoint_store_last_seen(in->checkpoint_store, assignment)
                       : assignment->committed;
    int64_t from = seen < assignment->committed ? seen : assignment->committed;
    ek_partition_expect_offset(assignment, from);
    return from;
}

/* A partition without messages read since its commit needs no seek. */
int ek_input_rewind(struct ek_input *in, struct ek_error *e)
{
    int rc = EK_OK;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(in->partitions, assignment));) {
        if (!assignment->open || assignment->last_seen <= assignment->committed)
            continue;
        ek_partition_offsets_rewind(in->partitions, assignment);
        int64_t from = resume_at(in, assignment);
        if (assignment->detached) /* assigned at its position later */
            continue;
        rd_kafka_topic_partition_list_add(list, assignment->topic, assignment->partition)->offset =
            from;
        ek_log_write(in->watch.log, EK_LOG_INFO, "offsets_rewound",
                     "topic=%s partition=%d offset=%lld", assignment->topic, assignment->partition,
                     (long long)from);
    }
    if (list->cnt)
        rc = seek(in, list, e);
    rd_kafka_topic_partition_list_destroy(list);
    return rc;
}

/* Move a partition to a committed offset beyond the known one. Return the offset to resume at, or
 * -1 if it stays. */
static int64_t move_to(struct ek_input *in, const rd_kafka_topic_partition_t *p)
{
    struct ek_partition *partition =
        ek_partition_offsets_find(in->partitions, p->topic, p->partition);
    if (!partition || p->offset < 0 || p->offset <= partition->committed)
        return -1;
    partition->committed = p->offset;
    ek_partition_offsets_rewind(in->partitions, partition);
    partition->print = partition->last_print = ek_print_read(p->metadata, p->metadata_size);
    int64_t from = resume_at(in, partition);
    ek_log_write(in->watch.log, EK_LOG_INFO, "offsets_rewound", "topic=%s partition=%d offset=%lld",
                 partition->topic, partition->partition, (long long)from);
    return partition->detached ? -1 : from;
}

int ek_input_refresh_committed(struct ek_input *in, struct ek_error *e)
{
    rd_kafka_topic_partition_list_t *open = rd_kafka_topic_partition_list_new(8),
                                    *moves = rd_kafka_topic_partition_list_new(8);
    for (struct ek_partition *partition = NULL;
         (partition = ek_partition_offsets_each(in->partitions, partition));)
        if (partition->open)
            rd_kafka_topic_partition_list_add(open, partition->topic, partition->partition);
    rd_kafka_topic_partition_list_t *known = open->cnt ? ek_input_committed(in, open) : NULL;
    for (int i = 0; known && i < known->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &known->elems[i];
        int64_t from = move_to(in, p);
        if (from >= 0)
            rd_kafka_topic_partition_list_add(moves, p->topic, p->partition)->offset = from;
    }
    int rc = moves->cnt ? seek(in, moves, e) : EK_OK;
    if (in->checkpoint_store)
        ek_checkpoint_store_retry_restore(in->checkpoint_store, NULL); /* no longer waits */
    rd_kafka_topic_partition_list_destroy(moves);
    rd_kafka_topic_partition_list_destroy(open);
    if (known)
        rd_kafka_topic_partition_list_destroy(known);
    return rc;
}

/* Return the lag, or -1 if unknown. */
static int64_t lag_of(const struct ek_partition *assignment, int64_t low, int64_t high)
{
    int64_t next = assignment->next >= 0 ? assignment->next : low > 0 ? low : 0;
    return high < 0 ? -1 : high > next ? high - next : 0;
}

void ek_input_update_lags(struct ek_input *in)
{
    size_t count = 0, capacity = (size_t)ek_input_open_count(in);
    struct ek_lag *lags = ek_calloc(capacity, sizeof *lags);
    if (!lags)
        return;
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(in->partitions, assignment));) {
        int64_t low = -1, high = -1;
        if (!assignment->open || count == capacity)
            continue;
        struct ek_lag *lag = &lags[count++];
        snprintf(lag->topic, sizeof lag->topic, "%s", assignment->topic);
        lag->partition = assignment->partition;
        rd_kafka_get_watermark_offsets(in->client, assignment->topic, assignment->partition, &low,
                                       &high);
        lag->messages = lag_of(assignment, low, high);
    }
    ek_metrics_lags(in->watch.metrics, lags, count);
    ek_free(lags);
}
