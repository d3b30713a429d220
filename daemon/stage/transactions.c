#include "daemon/stage/transactions.h"

#include "base/alloc.h"
#include "daemon/base/clock.h"
#include "daemon/kafka/producer_internal.h"
#include "daemon/kafka/topics.h"
#include "daemon/kafka/transaction_thread.h"
#include "daemon/state/checkpoint_store.h"

/* Isolate a message the broker rejects: the error does not name it. Abort, retry in transactions of
 * 1/8, and recurse until one message fails alone. It is sent once more as a dead letter or
 * truncated. Give up after REFUSALS_MAX aborts that isolate no message, as when a topic rejects an
 * alert. */
enum { REFUSALS_MAX = 4, SEARCH_PARTS = 8, HURRY_PART = 2, TEXT_BYTES = 600, NO_RIGHT_MS = 500 };
/* Replace a client that has lost its transaction, but at most REPLACED_MAX times in a row, each
 * time after a longer pause: two instances of one name take the transaction from each other. */
enum { REPLACED_MAX = 5, REPLACED_SOON_MS = 10000, REPLACED_PAUSE_MS = 500 };
enum { INTERVAL_LEAST_MS = 20 };

struct ek_txn_coordinator {
    struct ek_txn_coordinator_tools tools;
    struct ek_txn *txn;         /* NULL: the client is replaced at replace_ms */
    int64_t replace_ms;         /* monotonic */
    int replaced;               /* times in a row, each soon after the one before */
    struct ek_inflight *ending; /* messages of the transaction being ended */
    int64_t ending_ms, due_ms;  /* monotonic: begin of the last end, begin of the next one */
    bool unknown; /* whether the last transaction of the former client was committed */
    bool open;    /* a transaction was open at the last step; otherwise `wakeup` will be signaled */
    size_t most;  /* maximum messages per transaction during a search; such transactions have no
                   * checkpoint or alerts. 0: no search */
    int parts;    /* transactions until the maximum grows again */
    int refusals; /* aborts since the last full-size commit that isolated no message */
    bool records, refused_records; /* has side records: the transaction being ended; the last
                                    * rejected one */
};

static int opened(void *context, struct ek_error *e)
{
    struct ek_txn_coordinator *t = context;
    return ek_output_open(t->tools.output, e);
}

static int start(struct ek_txn_coordinator *t, struct ek_error *e)
{
    const struct ek_txn_tools with = {.client = t->tools.output->client,
                                      .watch = &t->tools.output->watch,
                                      .wakeup = t->tools.wakeup,
                                      .context = t,
                                      .opened = opened};
    int rc = ek_txn_new(&t->txn, &with, e);
    return rc ? rc : ek_txn_start(t->txn, e);
}

int ek_txn_coordinator_new(struct ek_txn_coordinator **out,
                           const struct ek_txn_coordinator_tools *tools, struct ek_error *e)
{
    struct ek_txn_coordinator *t = ek_calloc(1, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    t->tools = *tools;
    int rc = start(t, e);
    if (rc)
        ek_txn_coordinator_free(t);
    else
        *out = t;
    return rc;
}

/* Set `reached` of each partition. Return false if the transaction must be aborted. */
static bool reach(const struct ek_txn_batch *cut)
{
    bool ours = !cut->must_abort;
    for (struct ek_inflight *inflight = cut->sent; inflight; inflight = inflight->back) {
        ours = ours && !ek_inflight_is_revoked(inflight);
        inflight->assignment->reached = inflight->offset + 1;
        inflight->assignment->reached_print = inflight->print;
    }
    return ours;
}

/* Return the offsets to commit. With a checkpoint, include all its partitions: their references
 * have changed. */
static rd_kafka_topic_partition_list_t *offsets_of(const struct ek_txn_coordinator_tools *t)
{
    char text[EK_CHECKPOINT_REF_BYTES];
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(t->partitions, assignment));
         assignment->reached = -1) {
        bool too =
            t->checkpoint_store && ek_checkpoint_store_covers(t->checkpoint_store, assignment);
        const char *pointer = t->checkpoint_store
                                  ? ek_checkpoint_store_ref(t->checkpoint_store, assignment, text)
                                  : NULL;
        if (assignment->reached >= 0 || too)
            ek_input_add_offset(
                t->input, list, assignment,
                assignment->reached >= 0 ? assignment->reached : assignment->committed, pointer);
    }
    return list;
}

/* Add checkpoint and alerts. Return false if the client rejects one. */
static bool add_last(struct ek_txn_coordinator *t)
{
    struct ek_checkpoint_store *checkpoint_store = t->tools.checkpoint_store;
    t->records = !t->most && (!checkpoint_store || ek_checkpoint_store_is_due(checkpoint_store));
    if (!t->records)
        return true;
    return (!checkpoint_store || ek_checkpoint_store_save(checkpoint_store)) &&
           ek_txn_records_send(t->tools.output->records, t->tools.output->client,
                               t->tools.output->alerts);
}

static void end(struct ek_txn_coordinator *t)
{
    struct ek_txn_batch cut;
    ek_output_close_batch(t->tools.output, &cut);
    bool ours = reach(&cut) && !ek_output_exceeds_limits(t->tools.output);
    t->ending = cut.sent;
    t->ending_ms = ek_now_ms();
    t->open = false;
    if (ours)
        ours = add_last(t);
    rd_kafka_topic_partition_list_t *offsets = offsets_of(&t->tools);
    rd_kafka_consumer_group_metadata_t *group = ours ? ek_input_group(t->tools.input) : NULL;
    if (group) {
        ek_txn_commit(t->txn, offsets, group);
    } else {
        rd_kafka_topic_partition_list_destroy(offsets);
        ek_txn_abort(t->txn);
    }
}

/* Return true if a partition is still below its suspect offset. */
static bool suspects(const struct ek_txn_coordinator *t)
{
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(t->tools.partitions, assignment));)
        if (assignment->open && !assignment->leaving && assignment->committed < assignment->suspect)
            return true;
    return false;
}

static void widen(struct ek_txn_coordinator *t)
{
    size_t ever = (size_t)t->tools.config->in_flight_messages;
    t->most = t->most < ever / SEARCH_PARTS ? t->most * SEARCH_PARTS : ever;
}

static void finish_messages(struct ek_txn_coordinator *t, struct ek_inflight *inflight,
                            bool committed)
{
    for (struct ek_inflight *next; inflight; inflight = next) {
        next = inflight->back;
        if (committed && !ek_inflight_is_revoked(inflight))
            inflight->assignment->committed = inflight->offset + 1;
        ek_output_finish(t->tools.output, inflight, committed);
    }
}

/* Return the time until the next commit. Without a setting it is twice that of the last one, so
 * that fast brokers cost little latency and slow ones little throughput. */
static int64_t interval_ms(const struct ek_txn_coordinator *t, int64_t last_ms)
{
    int64_t most = ek_config_commit_interval_ms(t->tools.config), ms = 2 * last_ms;
    if (t->tools.config->commit_interval_ms)
        return most;
    return ms < INTERVAL_LEAST_MS ? INTERVAL_LEAST_MS : ms < most ? ms : most;
}

static void finish_batch(struct ek_txn_coordinator *t, bool committed)
{
    finish_messages(t, t->ending, committed);
    t->ending = NULL;
    ek_txn_records_finish(t->tools.output->records, committed);
    if (t->tools.checkpoint_store)
        ek_checkpoint_store_finish(t->tools.checkpoint_store, committed);
    ek_metrics_count(t->tools.metrics, committed ? EK_COUNT_TXN_COMMITTED : EK_COUNT_TXN_ABORTED,
                     1);
    if (committed)
        ek_metrics_count(t->tools.metrics, EK_COUNT_COMMITS, 1);
    if (committed && t->most && --t->parts <= 0)
        widen(t);
    int64_t now_ms = ek_now_ms();
    t->due_ms = now_ms + interval_ms(t, now_ms - t->ending_ms);
}

/* Return true if brokers hide the topic: the client has no permission for it. */
static bool is_hidden(const struct ek_txn_coordinator *t, const char *topic)
{
    struct ek_topic_info info;
    rd_kafka_resp_err_t err =
        ek_kafka_get_topic(t->tools.output->client, topic, NO_RIGHT_MS, &info);
    return ek_kafka_topic_of_error(err, NULL) == EK_KAFKA_AUTHORIZATION;
}

/* Join the topics of a transaction as "a', 'b", with `hidden` only those that brokers hide. Return
 * the length. */
static int join_topics(const struct ek_txn_coordinator *t, bool hidden, char out[TEXT_BYTES])
{
    const struct ek_config *c = t->tools.config;
    const char *const all[] = {c->output_topic, c->dead_letter_topic, c->alert_topic,
                               c->state_topic};
    int length = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all && length < TEXT_BYTES; i++)
        if (all[i] && (!hidden || is_hidden(t, all[i])))
            length += snprintf(out + length, TEXT_BYTES - (size_t)length, "%s%s",
                               length ? "', '" : "", all[i]);
    return length;
}

/* The client does not name the topic: name the hidden ones, or all if it may still describe
 * them. */
static int no_right(const struct ek_txn_coordinator *t, rd_kafka_resp_err_t err, struct ek_error *e)
{
    char topics[TEXT_BYTES] = "", text[TEXT_BYTES];
    if (err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED && !join_topics(t, true, topics))
        join_topics(t, false, topics);
    ek_kafka_errmsg(text, sizeof text, &t->tools.output->watch, err, EK_KAFKA_TXN, topics, NULL);
    return ek_fail_fatal(e, EK_EIO, "kafka: %s", text);
}

/* Store the rejected message, or the range of offsets that contains it. Later messages are
 * excluded, so that a search ends under load. */
static void suspect(struct ek_txn_coordinator *t, rd_kafka_resp_err_t err)
{
    const struct ek_inflight *first = t->ending;
    size_t count = 0;
    if (t->most && first && !first->back) {
        first->assignment->refused = (struct ek_rejection){first->offset, (int)err, first->outcome};
        t->refusals = 0;
        t->parts = 1;
        return;
    }
    for (const struct ek_inflight *each = first; each; each = each->back, count++)
        if (!t->most && each->assignment->suspect <= each->offset)
            each->assignment->suspect = each->offset + 1;
    t->refusals += !t->most;
    t->refused_records = t->most ? t->refused_records : t->records;
    t->parts = SEARCH_PARTS;
    t->most = (count + SEARCH_PARTS - 1) / SEARCH_PARTS;
}

/* Return a fatal error for a missing permission, or after too many aborts that isolate no
 * message. */
static int too_often(struct ek_txn_coordinator *t, struct ek_error *e)
{
    rd_kafka_resp_err_t err = ek_txn_abort_reason(t->txn);
    struct ek_checkpoint_store *state = t->tools.checkpoint_store;
    bool message = ek_kafka_classify(err, EK_KAFKA_DELIVER) == EK_KAFKA_MESSAGE;
    bool rebalance = ek_kafka_classify(err, EK_KAFKA_COMMIT) == EK_KAFKA_ABORTABLE;
    /* the next transaction has no checkpoint: if it fails too, the output is at fault. A rebalance
     * must not pause checkpoints: partitions revoked now are handed over with one */
    if (err && !message && !rebalance && state && ek_checkpoint_store_is_sent(state)) {
        ek_checkpoint_store_suspend(state, rd_kafka_err2str(err));
        return EK_OK;
    }
    if (ek_kafka_topic_of_error(err, NULL) == EK_KAFKA_AUTHORIZATION)
        return no_right(t, err, e);
    if (!message)
        return EK_OK;
    suspect(t, err);
    if (t->refusals < REFUSALS_MAX)
        return EK_OK;
    return ek_fail_fatal(e, EK_EIO,
                         "brokers reject one transaction after another, for no single message of "
                         "it: %s; raise 'max.message.bytes' of the output topics, or permit "
                         "DescribeConfigs on them: after a restart batches are smaller",
                         rd_kafka_err2str(err));
}

/* Return whether the client may be replaced once more, and set the time. */
static bool may_replace(struct ek_txn_coordinator *t)
{
    int64_t now = ek_now_ms();
    if (now - t->replace_ms >= REPLACED_SOON_MS)
        t->replaced = 0;
    t->replace_ms = now + REPLACED_PAUSE_MS * t->replaced;
    return t->replaced++ < REPLACED_MAX;
}

/* Read the messages of the transaction again, and continue with a new client: this one has lost its
 * transaction, which brokers abort, or has aborted it. Another member may have the partitions
 * already; the group decides that. */
static int replace_client(struct ek_txn_coordinator *t, struct ek_error *e)
{
    struct ek_txn_batch cut;
    ek_txn_free(t->txn);
    t->txn = NULL;
    t->open = false;
    t->unknown = true;
    ek_output_close_batch(t->tools.output, &cut);
    int rc = ek_output_replace_client(t->tools.output, e); /* drops values of these messages */
    if (!rc)
        rc = ek_input_rewind(t->tools.input, e);
    finish_messages(t, cut.sent, false);
    finish_batch(t, false);
    return rc;
}

/* Continue with smaller batches after an abort, so that no search for a rejected message is needed.
 */
static int shrink_batches(struct ek_txn_coordinator *t, struct ek_error *e)
{
    int rc = replace_client(t, e);
    ek_log_text(t->tools.log, EK_LOG_INFO, "batches_reduced",
                "a topic takes less at a time than before (max.message.bytes)");
    t->most = 0;
    t->refusals = 0;
    return rc;
}

/* Continue after an abort. The aborted client may have purged batches that a broker has, because
 * their responses were lost, and would number the next batches as these. Under the same epoch a
 * broker takes such a batch for one that it has, and drops it. A new client has a new epoch. */
static int handle_abort(struct ek_txn_coordinator *t, struct ek_error *e)
{
    t->replace_ms = 0;
    if (ek_output_exceeds_limits(t->tools.output))
        return shrink_batches(t, e);
    int rc = too_often(t, e);
    ek_log_write(t->tools.log, EK_LOG_WARN, "transaction_aborted", "reason=%s",
                 rd_kafka_err2name(ek_txn_abort_reason(t->txn)));
    if (rc)
        finish_batch(t, false);
    else
        rc = replace_client(t, e);
    if (!rc && t->most) /* is the batch too large? */
        ek_output_request_limits(t->tools.output);
    return rc;
}

/* Return 0, or the error if it is not recoverable. */
static int handle_broken(struct ek_txn_coordinator *t, struct ek_error *failure)
{
    if (!ek_output_is_lost(t->tools.output) && !(t->txn && ek_txn_is_lost(t->txn)))
        return (int)failure->code;
    if (!may_replace(t)) {
        failure->flags = EK_ERR_FATAL;
        return (int)failure->code;
    }
    ek_log_text(t->tools.log, EK_LOG_WARN, "transaction_lost", failure->message);
    return replace_client(t, failure);
}

/* The client reported a fatal error between two calls. */
static void get_lost_error(struct ek_txn_coordinator *t, struct ek_error *e)
{
    char text[TEXT_BYTES];
    rd_kafka_resp_err_t err = rd_kafka_fatal_error(t->tools.output->client, text, sizeof text);
    if (!ek_txn_is_fenced(err, text, e))
        ek_fail_fatal(e, EK_EIO, "kafka: %s", text);
}

/* With checkpoints, alerts wait for the next one. */
static bool nothing_to_end(const struct ek_txn_coordinator *t, const struct ek_txn_batch_size *h)
{
    if (h->messages || t->most)
        return !h->messages;
    return t->tools.checkpoint_store ? !ek_checkpoint_store_is_due(t->tools.checkpoint_store)
                                     : !h->records;
}

static bool due(const struct ek_txn_coordinator *t, bool now)
{
    struct ek_txn_batch_size h = ek_output_in_batch(t->tools.output);
    const struct ek_config *c = t->tools.config;
    if (h.must_abort || ek_output_exceeds_limits(t->tools.output))
        return true;
    if (nothing_to_end(t, &h))
        return false;
    size_t many = t->most ? ek_partition_offsets_in_flight(t->tools.partitions)
                          : (size_t)c->in_flight_messages / HURRY_PART;
    return now || ek_now_ms() >= t->due_ms || h.bytes >= (size_t)c->transaction_bytes ||
           h.messages >= many;
}

/* Advance the transaction thread's client. */
static int advance(struct ek_txn_coordinator *t, bool now, struct ek_error *e)
{
    enum ek_txn_state state = ek_txn_state(t->txn, e);
    if (state == EK_TXN_BROKEN)
        return handle_broken(t, e);
    if (state != EK_TXN_BUSY && ek_output_is_lost(t->tools.output)) {
        get_lost_error(t, e);
        return handle_broken(t, e);
    }
    t->open = state == EK_TXN_OPEN || state == EK_TXN_COMMITTED;
    if (t->most && !suspects(t))
        t->most = 0;
    if (state == EK_TXN_ABORTED)
        return handle_abort(t, e);
    if (state == EK_TXN_OPEN && t->unknown) { /* brokers have finished the former transaction */
        t->unknown = false;
        return ek_input_refresh_committed(t->tools.input, e);
    }
    if (state == EK_TXN_COMMITTED) {
        if (!t->most && (t->records || !t->refused_records))
            t->refusals = 0;
        finish_batch(t, true);
    } else if (state == EK_TXN_OPEN && due(t, now)) {
        end(t);
    }
    return EK_OK;
}

int ek_txn_coordinator_step(struct ek_txn_coordinator *t, bool now, struct ek_error *e)
{
    struct ek_error failure = {0};
    ek_output_finish_dropped(t->tools.output);
    if (!t->txn && ek_now_ms() < t->replace_ms)
        return EK_OK;
    int rc = t->txn ? EK_OK : start(t, &failure);
    if (!rc)
        rc = advance(t, now, &failure);
    if (rc && e)
        *e = failure;
    return rc;
}

bool ek_txn_coordinator_may_read(const struct ek_txn_coordinator *t)
{
    return !t->unknown;
}

size_t ek_txn_coordinator_inflight_max(const struct ek_txn_coordinator *t)
{
    return t->most;
}

int ek_txn_coordinator_wait_ms(const struct ek_txn_coordinator *t, int most)
{
    struct ek_txn_batch_size h = ek_output_in_batch(t->tools.output);
    int64_t left = t->due_ms - ek_now_ms();
    if (!t->open || nothing_to_end(t, &h))
        return most;
    return left < 1 ? 1 : left < most ? (int)left : most;
}

bool ek_txn_coordinator_stop(struct ek_txn_coordinator *t, int64_t wait_ms)
{
    return !t->txn || ek_txn_stop(t->txn, wait_ms);
}

void ek_txn_coordinator_free(struct ek_txn_coordinator *t)
{
    if (!t)
        return;
    ek_txn_free(t->txn);
    ek_output_adopt_unfinished(t->tools.output, t->ending);
    ek_free(t);
}
