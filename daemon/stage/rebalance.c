#include "daemon/stage/consumer_internal.h"

#include "daemon/base/clock.h"
#include "daemon/state/checkpoint_ref.h"

#include <string.h>

enum { COMMITTED_SLICE_MS = 1000, AGAIN_MS = 50, LOG_INTERVAL_MS = 30000 };

int ek_input_find_partition(const struct ek_input *in, const char *topic, int partition)
{
    size_t number = ek_config_topic(in->config, topic);
    return (int)((number + (size_t)partition) % (size_t)in->readers);
}

/* Forward a partition's queue to its reader before fetching starts, so that no message enters the
 * consumer queue. Undo it on revocation, so that none arrives late. */
bool ek_input_forward(struct ek_input *in, const rd_kafka_topic_partition_t *p, bool to_reader)
{
    rd_kafka_queue_t *own = rd_kafka_queue_get_partition(in->client, p->topic, p->partition);
    if (!own)
        return false;
    rd_kafka_queue_forward(
        own, to_reader ? in->reader[ek_input_find_partition(in, p->topic, p->partition)] : NULL);
    rd_kafka_queue_destroy(own);
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

/* Report that the committed offsets are awaited. Return false to give up. */
static bool retry(struct ek_input *in, const char *why)
{
    int64_t now = ek_now_ms();
    if (in->checkpoint_store)
        return ek_checkpoint_store_retry_restore(in->checkpoint_store, why);
    if (now >= in->next_log_ms) {
        in->next_log_ms = now + LOG_INTERVAL_MS;
        ek_log_text(in->watch.log, EK_LOG_WARN, "position_pending", why);
    }
    return !in->hooks.stopping || !in->hooks.stopping(in->hooks.context);
}

rd_kafka_topic_partition_list_t *ek_input_committed(struct ek_input *in,
                                                    const rd_kafka_topic_partition_list_t *parts)
{
    char why[EK_KAFKA_HEALTH_TEXT];
    for (;;) {
        rd_kafka_topic_partition_list_t *known = rd_kafka_topic_partition_list_copy(parts);
        rd_kafka_resp_err_t err = rd_kafka_committed(in->client, known, COMMITTED_SLICE_MS);
        for (int i = 0; !err && i < known->cnt; i++)
            err = known->elems[i].err;
        if (!err)
            return known;
        bool fatal = ek_kafka_classify(err, EK_KAFKA_COMMIT) == EK_KAFKA_FATAL;
        if (fatal)
            ek_kafka_report_topic(&in->watch, err, EK_KAFKA_COMMIT, topic_of(known, err), NULL);
        rd_kafka_topic_partition_list_destroy(known);
        if (fatal)
            return NULL;
        snprintf(why, sizeof why, "committed offsets of group '%s': %s", in->config->group,
                 rd_kafka_err2str(err));
        if (!retry(in, why))
            return NULL;
        ek_wakeup_wait(in->wakeup, AGAIN_MS);
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
            ek_input_forward(in, p, true)
                ? ek_partition_offsets_open(in->partitions, p->topic, p->partition, offset)
                : NULL;
        if (assignment && p->opaque != EK_INPUT_NO_PROBE)
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

/* With checkpoints, restoring them sets the start offsets. */
static void open_partitions(struct ek_input *in, rd_kafka_topic_partition_list_t *parts)
{
    rd_kafka_topic_partition_list_t *known = ek_input_committed(in, parts);
    if (known && ek_input_resolve_positions(in, known) && open_each(in, known)) {
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
        ek_input_forward(in, p, false);
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

/* Query the protocol during an assignment: after the group has forgotten a closing member, none is
 * known. */
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

void ek_input_on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                           rd_kafka_topic_partition_list_t *parts, void *opaque)
{
    struct ek_input *in = ((struct ek_kafka_watch *)opaque)->owner;
    bool assign = err == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
    (void)rk;
    ek_metrics_count(in->watch.metrics, EK_COUNT_REBALANCES, 1);
    if (assign) {
        note_protocol(in);
        open_partitions(in, parts);
    } else {
        if (err != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS)
            ek_kafka_report(&in->watch, err, EK_KAFKA_CONSUME, "rebalance failed");
        lose_partitions(in, parts);
    }
    apply_assignment(in, assign, parts);
    int count = ek_input_open_count(in);
    in->hooks.assigned(in->hooks.context, assign || count, count);
}
