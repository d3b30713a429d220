#include "daemon/stage/consumer.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "daemon/base/clock.h"
#include "daemon/kafka/client.h"
#include "daemon/kafka/topics.h"
#include "daemon/stage/consumer_internal.h"
#include "daemon/stage/fence.h"
#include "daemon/state/checkpoint_ref.h"

#include <string.h>

/* Return the reader of a partition, constant for a given number of readers. */
static int find_reader(const struct ek_input *in, const char *topic, int partition)
{
    size_t number = ek_config_topic(in->config, topic);
    return (int)((number + (size_t)partition) % (size_t)in->readers);
}

/* Forward a partition's queue to its reader before fetching starts, so that no message enters the
 * consumer queue. Undo it on revocation, so that none arrives late. */
static bool forward(struct ek_input *in, const rd_kafka_topic_partition_t *p, bool to_reader)
{
    rd_kafka_queue_t *own = rd_kafka_queue_get_partition(in->client, p->topic, p->partition);
    if (!own)
        return false;
    rd_kafka_queue_forward(own,
                           to_reader ? in->reader[find_reader(in, p->topic, p->partition)] : NULL);
    rd_kafka_queue_destroy(own);
    return true;
}

enum {
    FIRST_QUERY_MS = 100, /* while other partitions are read */
    DETACHED_MS = 200,
    RESTART_MS = 500
};

/* Return the offset to read next. */
static int64_t position_of(const struct ek_partition *assignment)
{
    return assignment->last_seen >= 0 ? assignment->last_seen : assignment->next;
}

/* Check the position of a partition later; its messages are not processed before. */
static void restart_later(struct ek_input *in, struct ek_partition *assignment)
{
    assignment->misplaced = true;
    in->restart_ms = ek_now_ms() + RESTART_MS;
}

/* Begin again at the start of a topic that was created again. Its messages are new to the guard. */
static void reopen(struct ek_input *in, struct ek_partition *assignment, int64_t low)
{
    ek_input_log_recreated(in, assignment->topic, assignment->partition, position_of(assignment),
                           low);
    ek_partition_offsets_reset(in->partitions, assignment, low);
    if (in->hooks.reset)
        in->hooks.reset(in->hooks.context, assignment, low);
}

rd_kafka_resp_err_t ek_input_detach(struct ek_input *in, struct ek_partition *one)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_error_t *problem = NULL;
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(in->partitions, assignment));)
        assignment->detached = assignment->open && (assignment == one || !in->cooperative);
    in->attach_ms = ek_now_ms() + DETACHED_MS;
    rd_kafka_topic_partition_list_add(list, one->topic, one->partition);
    if (in->cooperative)
        problem = rd_kafka_incremental_unassign(in->client, list);
    else
        err = rd_kafka_assign(in->client, NULL);
    if (problem)
        err = rd_kafka_error_code(problem);
    rd_kafka_error_destroy(problem);
    rd_kafka_topic_partition_list_destroy(list);
    return err;
}

/* Assign the detached partitions at their positions. */
static void attach(struct ek_input *in)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(in->partitions, assignment));) {
        if (!assignment->open || !assignment->detached)
            continue;
        assignment->detached = false;
        rd_kafka_topic_partition_t *p =
            rd_kafka_topic_partition_list_add(list, assignment->topic, assignment->partition);
        p->offset =
            assignment->verify_offset >= 0 ? assignment->verify_offset : position_of(assignment);
        forward(in, p, true);
    }
    rd_kafka_error_t *problem =
        list->cnt && in->cooperative ? rd_kafka_incremental_assign(in->client, list) : NULL;
    if (list->cnt && !in->cooperative)
        err = rd_kafka_assign(in->client, list);
    if (problem)
        err = rd_kafka_error_code(problem);
    if (err)
        ek_kafka_report(&in->watch, err, EK_KAFKA_CONSUME, "cannot assign partitions again");
    rd_kafka_error_destroy(problem);
    rd_kafka_topic_partition_list_destroy(list);
}

static void seek_to(struct ek_input *in, struct ek_partition *assignment, int64_t offset)
{
    if (assignment->detached) /* assigned at its position later */
        return;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, assignment->topic, assignment->partition)->offset =
        offset;
    rd_kafka_error_t *problem = rd_kafka_seek_partitions(in->client, list, -1);
    rd_kafka_resp_err_t err = problem ? rd_kafka_error_code(problem) : list->elems[0].err;
    if (err == RD_KAFKA_RESP_ERR__STATE) /* the client has stopped fetching */
        err = ek_input_detach(in, assignment);
    if (err)
        ek_kafka_report_topic(&in->watch, err, EK_KAFKA_CONSUME, assignment->topic,
                              "cannot move to the new position");
    rd_kafka_error_destroy(problem);
    rd_kafka_topic_partition_list_destroy(list);
}

/* Find the position of a partition again after the client lost it: messages before the log's start
 * are lost, and a log that ends before the position was created again. The start of the log is
 * committed before a message is read: brokers deleted the offset with the topic, and the next owner
 * would begin at the end with `latest`. */
static void restart_partition(struct ek_input *in, struct ek_partition *assignment)
{
    struct ek_topic_info info;
    int64_t low, high, at = position_of(assignment);
    /* a query of the offsets of an unknown topic would wait until its time-out */
    if (ek_kafka_get_topic(in->client, assignment->topic, EK_INPUT_REQUEST_MS, &info) ||
        rd_kafka_query_watermark_offsets(in->client, assignment->topic, assignment->partition, &low,
                                         &high, EK_INPUT_REQUEST_MS) ||
        ((at > high || at == 0) && !ek_input_commit_start(in, assignment, low))) {
        restart_later(in, assignment);
        return;
    }
    assignment->misplaced = false;
    if (at > high) {
        reopen(in, assignment, low);
    } else if (at < low) {
        if (in->hooks.lost)
            in->hooks.lost(in->hooks.context, assignment->topic, assignment->partition, at, low);
        ek_partition_skip_to(assignment, low);
    } else {
        low = assignment->last_print && at > low ? at - 1 : at;
        assignment->verify_offset = low < at ? low : -1;
    }
    seek_to(in, assignment, low);
}

/* After a fetch from an unknown topic, check all positions before another message is processed: the
 * topic may have been created again and have grown past the position. */
static void find_misplaced(struct ek_input *in)
{
    unsigned unknown_topics = atomic_load(&in->watch.unknown_topics);
    if (unknown_topics == in->unknown_topics)
        return;
    in->unknown_topics = unknown_topics;
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(in->partitions, assignment));)
        assignment->misplaced = assignment->open;
}

/* Assign detached partitions again, and restart misplaced ones. */
static void restart_misplaced(struct ek_input *in)
{
    if (ek_now_ms() >= in->attach_ms)
        attach(in);
    find_misplaced(in);
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(in->partitions, assignment));)
        if (assignment->open && assignment->misplaced && ek_now_ms() >= in->restart_ms)
            restart_partition(in, assignment);
}

/* Return whether the message is the one before the position, read to verify the topic, or of a
 * topic that was created again; it must not be processed. */
static bool is_probe(struct ek_input *in, struct ek_partition *assignment, int64_t offset,
                     uint64_t print)
{
    int64_t wanted = assignment->verify_offset, low = 0, high;
    assignment->verify_offset = -1;
    if (wanted < 0 || offset > wanted) /* no probe, or the message before was compacted */
        return false;
    if (offset == wanted && print == assignment->last_print)
        return true;
    if (rd_kafka_query_watermark_offsets(in->client, assignment->topic, assignment->partition, &low,
                                         &high, EK_INPUT_REQUEST_MS))
        low = 0;
    if (!ek_input_commit_start(in, assignment, low)) {
        restart_later(in, assignment);
        return true;
    }
    reopen(in, assignment, low);
    seek_to(in, assignment, low);
    return true;
}

/* Return the topic of the first partition with the error, or NULL. */
static const char *topic_of(const rd_kafka_topic_partition_list_t *parts, rd_kafka_resp_err_t err)
{
    for (int i = 0; i < parts->cnt; i++)
        if (parts->elems[i].err == err)
            return parts->elems[i].topic;
    return NULL;
}

/* Report that the committed offsets are awaited. Return whether to query them again. */
static bool may_retry(struct ek_input *in, const char *why)
{
    if (in->checkpoint_store)
        return ek_checkpoint_store_retry_restore(in->checkpoint_store, why);
    if (ek_input_may_log(in))
        ek_log_text(in->watch.log, EK_LOG_WARN, "position_pending", why);
    return !ek_input_is_stopping(in);
}

/* Query the committed offsets once. Return NULL if they are unknown, and set *again if another
 * query may know them. */
static rd_kafka_topic_partition_list_t *
query_committed(struct ek_input *in, const rd_kafka_topic_partition_list_t *parts, int wait_ms,
                bool *again)
{
    char why[EK_KAFKA_HEALTH_TEXT];
    rd_kafka_topic_partition_list_t *known = rd_kafka_topic_partition_list_copy(parts);
    rd_kafka_resp_err_t err = ek_input_get_committed(in, known, wait_ms);
    if (!err)
        return known;
    bool fatal = ek_kafka_classify(err, EK_KAFKA_COMMIT) == EK_KAFKA_FATAL;
    if (fatal)
        ek_kafka_report_topic(&in->watch, err, EK_KAFKA_COMMIT, topic_of(known, err), NULL);
    rd_kafka_topic_partition_list_destroy(known);
    snprintf(why, sizeof why, "committed offsets of group '%s': %s", in->config->group,
             rd_kafka_err2str(err));
    *again = !fatal && may_retry(in, why);
    return NULL;
}

static int longer_query_ms(int ms)
{
    return 2 * ms < EK_INPUT_REQUEST_MS ? 2 * ms : EK_INPUT_REQUEST_MS;
}

/* Fence instances that have left the group with the offsets of `held` in an open transaction.
 * Return true if another query may know them. */
static bool fence_owners(struct ek_input *in, const rd_kafka_topic_partition_list_t *held)
{
    return in->fence && ek_fence_step(in->fence, in->client, held);
}

/* Pause before the next query, until the owners are fenced if that has begun. */
static void wait_for_owners(struct ek_input *in, const rd_kafka_topic_partition_list_t *held)
{
    do
        ek_wakeup_wait(in->wakeup, EK_INPUT_RETRY_MS);
    while (!fence_owners(in, held) && in->fence && ek_fence_is_busy(in->fence) &&
           !ek_input_is_stopping(in));
}

rd_kafka_topic_partition_list_t *ek_input_committed(struct ek_input *in,
                                                    const rd_kafka_topic_partition_list_t *parts)
{
    for (int wait_ms = FIRST_QUERY_MS;; wait_ms = longer_query_ms(wait_ms)) {
        bool again;
        rd_kafka_topic_partition_list_t *known = query_committed(in, parts, wait_ms, &again);
        if (known || !again)
            return known;
        wait_for_owners(in, parts);
    }
}

static void note_starts(rd_kafka_topic_partition_list_t *parts,
                        const rd_kafka_topic_partition_list_t *known)
{
    for (int i = 0; i < parts->cnt; i++)
        if (known->elems[i].offset >= 0)
            parts->elems[i].offset = known->elems[i].offset;
}

static bool open_each(struct ek_input *in, const rd_kafka_topic_partition_list_t *known)
{
    for (int i = 0; i < known->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &known->elems[i];
        int64_t offset = p->offset < 0 ? -1 : p->offset;
        struct ek_partition *assignment =
            forward(in, p, true)
                ? ek_partition_offsets_open(in->partitions, p->topic, p->partition, offset)
                : NULL;
        if (assignment && p->opaque != EK_NO_PROBE)
            assignment->print = assignment->last_print =
                ek_print_read(p->metadata, p->metadata_size);
        if (assignment && assignment->recreated && in->hooks.reset)
            in->hooks.reset(in->hooks.context, assignment, offset);
        if (!assignment) {
            struct ek_error e;
            ek_fail(&e, EK_ENOMEM, "out of memory");
            ek_kafka_fail(&in->watch, &e);
            return false;
        }
        ek_log_write(in->watch.log, EK_LOG_INFO, "partitions_assigned",
                     "topic=%s partition=%d offset=%lld", p->topic, p->partition,
                     (long long)offset);
    }
    return true;
}

/* Begin with the message before the position, where its fingerprint is known. */
static void verify_first(struct ek_input *in, rd_kafka_topic_partition_list_t *parts)
{
    for (int i = 0; i < parts->cnt; i++) {
        rd_kafka_topic_partition_t *p = &parts->elems[i];
        struct ek_partition *assignment =
            ek_partition_offsets_find(in->partitions, p->topic, p->partition);
        if (!assignment || !assignment->last_print || p->offset <= 0 ||
            p->offset != assignment->next)
            continue;
        assignment->verify_offset = --p->offset;
    }
}

static void restore(struct ek_input *in, rd_kafka_topic_partition_list_t *known)
{
    struct ek_error e;
    if (ek_checkpoint_store_restore(in->checkpoint_store, known, &e))
        ek_kafka_fail(&in->watch, &e);
}

/* Open partitions at their committed offsets, which it frees; NULL if they are unknown. With
 * checkpoints, restoring them sets the start offsets. */
static void open_partitions(struct ek_input *in, rd_kafka_topic_partition_list_t *parts,
                            rd_kafka_topic_partition_list_t *known)
{
    if (known && ek_input_resolve_positions(in, known) && open_each(in, known)) {
        if (in->fence)
            ek_fence_add_opened(in->fence, known);
        if (in->checkpoint_store)
            restore(in, known);
        note_starts(parts, known);
        verify_first(in, parts);
    }
    if (in->checkpoint_store)
        ek_checkpoint_store_retry_restore(in->checkpoint_store, NULL); /* clears the waiting
                                                                        * state */
    if (known)
        rd_kafka_topic_partition_list_destroy(known);
}

int ek_input_open_count(struct ek_input *in)
{
    int count = 0;
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(in->partitions, assignment));)
        count += assignment->open;
    return count;
}

static void close_partitions(struct ek_input *in, const rd_kafka_topic_partition_list_t *parts)
{
    for (int i = 0; i < parts->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &parts->elems[i];
        struct ek_partition *assignment =
            ek_partition_offsets_find(in->partitions, p->topic, p->partition);
        if (assignment)
            ek_partition_offsets_close(in->partitions, assignment);
        forward(in, p, false);
        ek_log_write(in->watch.log, EK_LOG_INFO, "partitions_revoked", "topic=%s partition=%d",
                     p->topic, p->partition);
    }
}

static void apply_assignment(struct ek_input *in, bool assign,
                             const rd_kafka_topic_partition_list_t *parts)
{
    rd_kafka_error_t *problem = NULL;
    rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (in->cooperative)
        problem = assign ? rd_kafka_incremental_assign(in->client, parts)
                         : rd_kafka_incremental_unassign(in->client, parts);
    else
        err = rd_kafka_assign(in->client, assign ? parts : NULL);
    if (problem)
        err = rd_kafka_error_code(problem);
    if (err)
        ek_kafka_report(&in->watch, err, EK_KAFKA_CONSUME,
                        problem ? rd_kafka_error_string(problem) : NULL);
    rd_kafka_error_destroy(problem);
}

/* Read the protocol during an assignment; after the member left, librdkafka returns none. */
static void note_protocol(struct ek_input *in)
{
    const char *protocol = rd_kafka_rebalance_protocol(in->client);
    in->cooperative = protocol && !strcmp(protocol, "COOPERATIVE");
}

static void mark_leaving(struct ek_input *in, const rd_kafka_topic_partition_list_t *parts)
{
    for (int i = 0; i < parts->cnt; i++) {
        struct ek_partition *assignment = ek_partition_offsets_find(
            in->partitions, parts->elems[i].topic, parts->elems[i].partition);
        if (assignment)
            assignment->leaving = true;
    }
}

/* With exactly-once delivery the drain hook commits. */
static void lose_partitions(struct ek_input *in, const rd_kafka_topic_partition_list_t *parts)
{
    bool lost = rd_kafka_assignment_lost(in->client);
    mark_leaving(in, parts);
    if (lost) {
        ek_log_text(in->watch.log, EK_LOG_WARN, "partitions_lost",
                    "another member may have them already: nothing is committed");
    } else {
        in->hooks.drain(in->hooks.context, in->drain_ms);
        if (in->config->delivery == EK_AT_LEAST_ONCE)
            ek_input_commit_now(in, in->commit_ms);
    }
    if (in->checkpoint_store)
        ek_checkpoint_store_remove_closed(in->checkpoint_store, lost);
    close_partitions(in, parts);
}

static void finish_rebalance(struct ek_input *in, bool assign,
                             const rd_kafka_topic_partition_list_t *parts)
{
    apply_assignment(in, assign, parts);
    int count = ek_input_open_count(in);
    in->hooks.assigned(in->hooks.context, assign || count, count);
}

/* Open assigned partitions later, because their committed offsets are not known. The client is
 * given none of them for now: until it has an answer, it pauses the partitions that it has. */
static void postpone(struct ek_input *in, const rd_kafka_topic_partition_list_t *parts)
{
    rd_kafka_topic_partition_list_t *none = rd_kafka_topic_partition_list_new(1);
    if (!in->pending)
        in->pending = rd_kafka_topic_partition_list_new(parts->cnt);
    for (int i = 0; i < parts->cnt; i++)
        rd_kafka_topic_partition_list_add(in->pending, parts->elems[i].topic,
                                          parts->elems[i].partition);
    in->query_ms = FIRST_QUERY_MS;
    in->pending_ms = ek_now_ms() + in->query_ms;
    finish_rebalance(in, true, none);
    rd_kafka_topic_partition_list_destroy(none);
}

/* Open the pending partitions if their committed offsets are known. Those in the open transaction
 * of a killed instance are unknown until it ends. Between the queries other partitions continue. */
static void open_pending(struct ek_input *in)
{
    rd_kafka_topic_partition_list_t *parts = in->pending, *known;
    bool again, fenced = fence_owners(in, parts);
    if (!parts || (!fenced && ek_now_ms() < in->pending_ms))
        return;
    known = query_committed(in, parts, in->query_ms, &again);
    if (!known) {
        in->pending_ms = ek_now_ms() + in->query_ms;
        in->query_ms = longer_query_ms(in->query_ms);
        return;
    }
    in->pending = NULL;
    open_partitions(in, parts, known);
    finish_rebalance(in, true, parts);
    rd_kafka_topic_partition_list_destroy(parts);
}

static void gain_partitions(struct ek_input *in, rd_kafka_topic_partition_list_t *parts)
{
    bool again = false, waits = !in->cooperative || !ek_input_open_count(in);
    rd_kafka_topic_partition_list_t *known =
        waits ? ek_input_committed(in, parts) : query_committed(in, parts, FIRST_QUERY_MS, &again);
    if (!known && again) {
        postpone(in, parts);
        return;
    }
    open_partitions(in, parts, known);
    finish_rebalance(in, true, parts);
}

static void drop_pending(struct ek_input *in)
{
    if (in->pending)
        rd_kafka_topic_partition_list_destroy(in->pending);
    in->pending = NULL;
}

/* Forget the pending partitions among those revoked. Return the others, which the client has; the
 * caller destroys them. */
static rd_kafka_topic_partition_list_t *
without_pending(struct ek_input *in, const rd_kafka_topic_partition_list_t *parts)
{
    rd_kafka_topic_partition_list_t *others = rd_kafka_topic_partition_list_new(parts->cnt);
    for (int i = 0; i < parts->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &parts->elems[i];
        if (!in->pending || !rd_kafka_topic_partition_list_del(in->pending, p->topic, p->partition))
            rd_kafka_topic_partition_list_add(others, p->topic, p->partition);
    }
    if (in->pending && !in->pending->cnt)
        drop_pending(in);
    return others;
}

/* Remove detached partitions: the client has none of them, and an attempt to unassign one would
 * fail, so that the rebalance never ended. */
static void remove_detached(struct ek_input *in, rd_kafka_topic_partition_list_t *parts)
{
    for (int i = parts->cnt - 1; i >= 0; i--) {
        const struct ek_partition *assignment = ek_partition_offsets_known(
            in->partitions, parts->elems[i].topic, parts->elems[i].partition);
        if (assignment && assignment->detached)
            rd_kafka_topic_partition_list_del_by_idx(parts, i);
    }
}

static void on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                         rd_kafka_topic_partition_list_t *parts, void *opaque)
{
    struct ek_input *in = ((struct ek_kafka_watch *)opaque)->owner;
    (void)rk;
    ek_metrics_count(in->watch.metrics, EK_COUNT_REBALANCES, 1);
    if (err == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        note_protocol(in);
        gain_partitions(in, parts);
        return;
    }
    if (err != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS)
        ek_kafka_report(&in->watch, err, EK_KAFKA_CONSUME, "rebalance failed");
    rd_kafka_topic_partition_list_t *others = without_pending(in, parts);
    lose_partitions(in, others);
    remove_detached(in, others);
    finish_rebalance(in, false, others);
    rd_kafka_topic_partition_list_destroy(others);
}

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

/* Members recognize each other by their client ids. */
static int make_client(struct ek_input *in, const char *id, struct ek_error *e)
{
    rd_kafka_conf_t *conf;
    int rc = ek_kafka_conf_consumer(&conf, in->config, id, e);
    if (rc)
        return rc;
    warn_of_cooperative(in, conf);
    ek_kafka_watch_consumer(&in->watch, conf);
    ek_kafka_watch_attach(&in->watch, conf);
    rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
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

static int make_fence(struct ek_input *in, const struct ek_input_tools *tools, struct ek_error *e)
{
    char prefix[EK_TRANSACTIONAL_ID_BYTES];
    const struct ek_fence_tools with = {.config = tools->config,
                                        .transactional_id = tools->transactional_id,
                                        .log = tools->log,
                                        .wakeup = tools->wakeup};
    in->owner = tools->transactional_id + ek_transactional_id(tools->config, "", prefix);
    return ek_fence_new(&in->fence, &with, e);
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
    int rc = in->topics && in->watch.trouble ? make_client(in, tools->transactional_id, e)
                                             : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = make_readers(in, e);
    if (!rc && tools->transactional_id)
        rc = make_fence(in, tools, e);
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

static struct ek_partition *find_partition(struct ek_input *in, const rd_kafka_message_t *raw)
{
    return raw->rkt ? ek_partition_offsets_find(in->partitions, rd_kafka_topic_name(raw->rkt),
                                                raw->partition)
                    : NULL;
}

/* Handle an event that is not a message. */
static void handle_error(struct ek_input *in, const rd_kafka_message_t *raw)
{
    struct ek_partition *assignment = find_partition(in, raw);
    bool unknown = raw->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
                   raw->err == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
                   raw->err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
    bool reset = raw->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET;
    if (assignment && (unknown || reset))
        assignment->misplaced = true;
    if (unknown)
        ek_topics_recheck(in->topics); /* logs the topic by name */
    else if (reset && assignment)
        restart_partition(in, assignment);
    else if (raw->err == RD_KAFKA_RESP_ERR__FATAL)
        ek_kafka_report_fatal(&in->watch, in->client, rd_kafka_message_errstr(raw));
    else
        ek_kafka_report_topic(&in->watch, raw->err, EK_KAFKA_CONSUME,
                              raw->rkt ? rd_kafka_topic_name(raw->rkt) : NULL,
                              rd_kafka_message_errstr(raw));
}

/* Return 0, or a fatal error if a gap or jump in offsets would silently skip messages of
 * exactly-once delivery. */
static int check_contiguous(const struct ek_input *in, const struct ek_partition *assignment,
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
    struct ek_partition *assignment = raw->err ? NULL : find_partition(in, raw);
    if (!assignment)
        return EK_OK;
    find_misplaced(in);
    if (assignment->misplaced) /* read again from a position that is checked */
        return EK_OK;
    uint64_t print = print_of(raw);
    if (assignment->verify_offset >= 0 && is_probe(in, assignment, raw->offset, print))
        return EK_OK;
    int rc = check_contiguous(in, assignment, raw, e);
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
    open_pending(in);
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
        int64_t low = -1, high = -1, next = position_of(assignment);
        if (!assignment->open || next < 0 ||
            find_reader(in, assignment->topic, assignment->partition) != reader)
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
    restart_misplaced(in);
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
    drop_pending(in);
    ek_fence_free(in->fence);
    if (in->client)
        rd_kafka_destroy_flags(in->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    ek_topics_free(in->topics);
    ek_kafka_health_free(in->watch.trouble);
    ek_free(in->reader);
    ek_free(in);
}
