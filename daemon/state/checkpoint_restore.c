#include "base/alloc.h"
#include "daemon/alerts/alerts.h"
#include "daemon/base/clock.h"
#include "daemon/state/checkpoint_ref.h"
#include "daemon/state/checkpoint_internal.h"
#include "daemon/views/event_log.h"
#include "guard/event_json.h"
#include "guard/guard_assets.h"
#include "guard/live_sketches.h"
#include "guard/operator_commands.h"
#include "guard/replay_open.h"
#include "serve/agreement_watch.h"
#include "serve/assets.h"

#include <librdkafka/rdkafka.h>
#include <string.h>

enum { LOG_INTERVAL_MS = 30000 }; /* interval of the log line about unreachable brokers */

/* Restore of one assignment. */
struct restoring {
    struct ek_checkpoint_store *k;
    rd_kafka_topic_partition_list_t *parts;
    struct ek_checkpoint_ref *pointer;  /* [parts] base 0: none */
    struct ek_checkpoint_read_job *job; /* [parts] */
    size_t jobs;
    const struct ek_assets *assets;
    struct ek_guard *joined;  /* merged from the checkpoints; NULL: none */
    bool replaces_guard;      /* replace the current guard, which belongs to no partition */
    uint64_t queries, events; /* lists in the checkpoints; events before the restore */
};

/* Return true if the restore is canceled. */
static bool unwanted(const struct ek_checkpoint_store *k)
{
    return k->tools.stopping(k->tools.context);
}

static int enomem(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static int too_new(const rd_kafka_topic_partition_t *p, struct ek_error *e)
{
    return ek_fail(e, EK_ECONFIG,
                   "the state of topic '%s' partition %d is of a later version of evenkeel: run "
                   "that version, or start without state with another 'input.group'",
                   p->topic, p->partition);
}

/* Parse the checkpoint references, and add a job for each partition that owns a checkpoint. */
static int read_pointers(struct restoring *r, struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; !rc && i < r->parts->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &r->parts->elems[i];
        enum ek_checkpoint_ref_kind kind =
            ek_checkpoint_ref_read(p->metadata, p->metadata_size, &r->pointer[i]);
        if (kind == EK_CHECKPOINT_REF_NEWER)
            rc = too_new(p, e);
        if (kind == EK_CHECKPOINT_REF_READ &&
            ek_checkpoint_ref_partition(&r->pointer[i], p->topic, p->partition))
            r->job[r->jobs++].pointer = r->pointer[i];
    }
    return rc;
}

/* A guard kept after all partitions were revoked still equals the last checkpoint. If that one is
 * requested, it need not be read. */
static void release_parked(struct restoring *r)
{
    struct ek_checkpoint_store *k = r->k;
    r->replaces_guard = k->unowned;
    for (size_t i = 0; k->unowned_stored && i < r->jobs; i++) {
        if (r->job[i].pointer.head != k->last.head || r->job[i].pointer.base != k->last.base)
            continue;
        r->job[i] = r->job[--r->jobs];
        r->replaces_guard = false;
        break;
    }
}

bool ek_checkpoint_store_retry_restore(struct ek_checkpoint_store *k, const char *why)
{
    char text[EK_KAFKA_HEALTH_TEXT];
    int64_t now = ek_now_ms();
    if (!why) {
        ek_kafka_health_clear(k->health);
        return !unwanted(k);
    }
    snprintf(text, sizeof text, "brokers do not give back the state, which is waited for: %s", why);
    ek_kafka_health_report(k->health, EK_KAFKA_HEALTH_STATE, text);
    if (now >= k->next_log_ms) {
        k->next_log_ms = now + LOG_INTERVAL_MS;
        ek_log_text(k->tools.log, EK_LOG_WARN, "restore_pending", text);
    }
    return !unwanted(k);
}

static bool wait_for_brokers(void *context, const char *why)
{
    return ek_checkpoint_store_retry_restore(context, why);
}

static int read_states(struct restoring *r, struct ek_error *e)
{
    const struct ek_checkpoint_read_waiter waiter = {r->k, wait_for_brokers};
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < r->jobs; i++)
        rc = ek_state_new(&r->job[i].state, e);
    if (!rc && r->jobs)
        rc = ek_checkpoint_reader_read(r->k->reader, r->job, r->jobs, &waiter, e);
    return rc;
}

static void log_loss(struct ek_checkpoint_store *k, enum ek_state_loss gap,
                     const struct ek_checkpoint_ref *p, const char *why)
{
    char text[700];
    snprintf(text, sizeof text, "%s/%d: %s", p->topic, p->partition, why);
    ek_checkpoint_status_gap(k->status, gap);
    ek_log_text(k->tools.log, EK_LOG_WARN, "state_lost", text);
}

/* Log the result of one restored checkpoint. */
static void log_result(struct ek_checkpoint_store *k, const struct ek_checkpoint_read_job *j,
                       enum ek_restore_result fit)
{
    struct ek_log *log = k->tools.log;
    if (!j->found)
        log_loss(k, EK_LOSS_NOT_FOUND, &j->pointer,
                 "the last full checkpoint is missing or incomplete: an earlier one is used, and "
                 "later messages are read again as far as the topic has them");
    else if (fit == EK_RESTORE_COUNTERS_ONLY)
        ek_log_text(log, EK_LOG_WARN, "state_profile_mismatched",
                    "sketches and counts are kept; evidence, findings and plan are reset");
    ek_log_write(log, EK_LOG_INFO, "state_restored",
                 "partition=%s/%d checkpoint=%llu lists=%llu result=%s", j->pointer.topic,
                 j->pointer.partition, (unsigned long long)ek_checkpoint_number(j->state),
                 (unsigned long long)ek_state_list_count(j->state), ek_restore_result_name(fit));
}

static int refuse(struct ek_checkpoint_store *k, struct ek_checkpoint_read_job *j,
                  enum ek_restore_result fit, const struct ek_error *why, struct ek_error *e)
{
    if (fit == EK_RESTORE_OTHER_VERSION)
        return ek_fail(e, EK_ECONFIG,
                       "state of %s/%d in topic '%s': %s; run the version that wrote it, or start "
                       "without state with another 'state.topic'",
                       j->pointer.topic, j->pointer.partition, k->tools.config->state_topic,
                       why->message);
    if (fit == EK_RESTORE_NONE || fit == EK_RESTORE_INCOMPLETE)
        log_loss(
            k, EK_LOSS_NOT_FOUND, &j->pointer,
            "the state in the topic is missing or incomplete: evidence and findings are reset");
    else
        log_loss(k, EK_LOSS_REFUSED, &j->pointer, why->message);
    j->refused = true;
    return EK_OK;
}

/* Load one checkpoint. The first becomes the guard; others are merged into it. */
static int join(struct restoring *r, struct ek_checkpoint_read_job *j, struct ek_error *e)
{
    struct ek_error why;
    struct ek_guard *guard = NULL;
    enum ek_restore_result fit = EK_RESTORE_NONE;
    int rc = ek_guard_load(&guard, r->assets, j->state, &fit, &why);
    if (rc == EK_ENOMEM)
        return enomem(e);
    if (rc)
        return refuse(r->k, j, fit, &why, e);
    log_result(r->k, j, fit);
    r->queries += ek_state_list_count(j->state);
    if (!r->joined) {
        r->joined = guard;
        return EK_OK;
    }
    rc = ek_guard_merge(r->joined, guard, e);
    ek_guard_free(guard);
    return rc;
}

static int join_all(struct restoring *r, struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < r->jobs; i++)
        rc = join(r, &r->job[i], e);
    return rc;
}

/* In a fleet only the leader raises alerts, and none is elected yet. model_drift is per instance
 * and is raised here. */
static int alert_again(void *context, const struct ek_event *v)
{
    const struct ek_checkpoint_store_tools *t = context;
    bool ours = !t->config->fleet_topic || v->kind == EK_EVENT_MODEL_DRIFT;
    return ek_alerts_replay(ek_guard_service_alerts(t->guard), v, ours);
}

static int log_again(void *context, const struct ek_event *v)
{
    const struct ek_checkpoint_store_tools *t = context;
    struct ek_event_log_change change;
    struct ek_buf json;
    ek_buf_init(&json, 0);
    int rc = alert_again(context, v);
    if (!rc)
        rc = ek_event_json(v, &json);
    if (!rc)
        rc = ek_buf_string(&json)
                 ? ek_event_log_add(t->event_log, v, (const char *)json.data, ek_now_ms(), &change)
                 : EK_ENOMEM;
    ek_buf_release(&json);
    return rc;
}

static void show(struct ek_checkpoint_store *k, struct ek_guard *guard)
{
    const struct ek_checkpoint_store_tools *t = &k->tools;
    const struct ek_assets *a = ek_guard_assets(guard);
    ek_feature_stats_lock(t->board);
    ek_feature_stats_set_assets(t->board, a->manifest, a->rules, ek_guard_traffic(guard));
    ek_feature_stats_unlock(t->board);
    ek_agreement_cache_set(t->agreement, ek_guard_agreement(guard));
    ek_event_log_reset(t->event_log);
    ek_alerts_report(ek_guard_service_alerts(t->guard), EK_ALERTS_REPLAY_STARTED);
    if (ek_guard_replay_open(guard, log_again, (void *)(uintptr_t)t) ||
        ek_guard_replay_inconsistent(guard, alert_again, (void *)(uintptr_t)t))
        ek_log_text(t->log, EK_LOG_ERROR, "event_dropped", "out of memory");
    ek_alerts_report(ek_guard_service_alerts(t->guard), EK_ALERTS_REPLAY_ENDED);
}

/* Install the restored guard; runs under the guard's lock. */
static int install(void *context, struct ek_guard **guard, struct ek_error *e)
{
    struct restoring *r = context;
    struct ek_guard *spent = r->joined;
    int rc = EK_OK;
    if (!r->joined)
        return EK_OK;
    if (r->replaces_guard) {
        spent = *guard;
        *guard = r->joined;
        rc = ek_guard_copy_pause(*guard, spent, e);
    } else {
        rc = ek_guard_merge(*guard, r->joined, e);
    }
    r->joined = NULL;
    if (!rc)
        show(r->k, *guard);
    ek_guard_free(spent); /* `board` no longer refers to it */
    return rc;
}

/* Return the job of the checkpoint that `p` names if it failed or loaded an earlier one, else
 * NULL. */
static const struct ek_checkpoint_read_job *failed_job(const struct restoring *r,
                                                       const struct ek_checkpoint_ref *p)
{
    for (size_t n = 0; p->base && n < r->jobs; n++) {
        const struct ek_checkpoint_read_job *j = &r->job[n];
        if ((!j->found || j->refused) &&
            ek_checkpoint_ref_partition(p, j->pointer.topic, j->pointer.partition))
            return j;
    }
    return NULL;
}

/* Return the offset counted by the restored guard; the committed offset if unknown. */
static int64_t seen_of(const struct restoring *r, int i,
                       const struct ek_checkpoint_read_job *failed)
{
    const rd_kafka_topic_partition_t *p = &r->parts->elems[i];
    int64_t committed = p->offset > 0 ? p->offset : 0, seen = -1;
    size_t length;
    if (!failed)
        return r->pointer[i].base ? r->pointer[i].seen : committed;
    const void *note = ek_state_note(failed->state, &length);
    if (!failed->refused)
        seen = ek_checkpoint_note_get_offset(note, length, p->topic, p->partition);
    return seen < 0 ? committed : seen;
}

/* Return the offset to read from: lists not yet counted are read again as far as the topic retains
 * them. */
static int64_t start_of(struct ek_checkpoint_store *k, const rd_kafka_topic_partition_t *p,
                        int64_t seen)
{
    char why[200];
    if (p->offset < 0 || seen >= p->offset)
        return p->offset;
    const struct ek_checkpoint_read_waiter waiter = {k, wait_for_brokers};
    int64_t low = ek_checkpoint_reader_low(k->reader, p->topic, p->partition, &waiter);
    if (low < 0 && unwanted(k))
        return p->offset;
    int64_t start = low < 0 || low > p->offset ? p->offset : low < seen ? seen : low;
    if (start == seen)
        return start;
    struct ek_checkpoint_ref where = {.partition = p->partition};
    snprintf(where.topic, sizeof where.topic, "%s", p->topic);
    snprintf(why, sizeof why,
             "offsets %lld to %lld are %s, which the state has not seen: the topic must keep "
             "messages for longer than 'state.checkpoint_interval'",
             (long long)seen, (long long)start - 1, low < 0 ? "not to be had" : "gone");
    log_loss(k, EK_LOSS_RETENTION, &where, why);
    return start;
}

/* Set the partition's counters. No worker still processes its lists, because the guard was locked
 * since it closed. */
static int set_partition_ref(struct restoring *r, int i, struct ek_error *e)
{
    rd_kafka_topic_partition_t *p = &r->parts->elems[i];
    struct ek_partition *assignment =
        ek_partition_offsets_find(r->k->tools.partitions, p->topic, p->partition);
    char text[EK_CHECKPOINT_REF_BYTES];
    if (!assignment)
        return EK_OK;
    const struct ek_checkpoint_read_job *failed = failed_job(r, &r->pointer[i]);
    assignment->closed = false;
    assignment->seen = seen_of(r, i, failed);
    if (r->pointer[i].base && !failed) {
        ek_checkpoint_ref_write(&r->pointer[i], text);
        if (ek_partition_set_checkpoint(assignment, text))
            return enomem(e);
        assignment->pointed = true;
    }
    int64_t start = start_of(r->k, p, assignment->seen);
    if (start < 0 || start >= p->offset)
        return EK_OK;
    assignment->replay_until = p->offset;
    ek_partition_expect_offset(assignment, start);
    ek_log_write(r->k->tools.log, EK_LOG_INFO, "replay_started",
                 "topic=%s partition=%d from=%lld to=%lld", p->topic, p->partition,
                 (long long)start, (long long)p->offset);
    p->offset = start;
    return EK_OK;
}

static int restore(struct restoring *r, struct ek_error *e)
{
    struct ek_checkpoint_store *k = r->k;
    int rc = read_pointers(r, e);
    release_parked(r);
    if (!rc)
        rc = read_states(r, e);
    if (rc || unwanted(k))
        return rc;
    r->assets = ek_guard_service_lock_assets(k->tools.guard);
    rc = join_all(r, e);
    if (!rc && r->replaces_guard && !r->joined)
        rc = ek_guard_new(&r->joined, r->assets, e);
    if (!rc)
        rc = ek_guard_service_with_guard(k->tools.guard, install, r, e);
    ek_guard_service_unlock_assets(k->tools.guard);
    for (int i = 0; !rc && i < r->parts->cnt; i++)
        rc = set_partition_ref(r, i, e);
    return rc;
}

/* Schedule the next checkpoint after a restore. */
static void begin_from(struct restoring *r)
{
    struct ek_checkpoint_store *k = r->k;
    if (r->replaces_guard)
        k->home = NULL;
    k->needs_full = k->needs_full || r->replaces_guard || r->jobs > 0;
    k->unowned = k->unowned_stored = false;
    ek_checkpoint_store_remaining(k);
    k->events = r->events; /* events raised by the merge make one due */
}

static void release(struct restoring *r)
{
    for (size_t i = 0; r->job && i < r->jobs; i++)
        ek_state_free(r->job[i].state);
    ek_guard_free(r->joined);
    ek_free(r->job);
    ek_free(r->pointer);
}

int ek_checkpoint_store_restore(struct ek_checkpoint_store *k,
                                rd_kafka_topic_partition_list_t *parts, struct ek_error *e)
{
    uint64_t began = ek_now_ns();
    struct restoring r = {
        .k = k,
        .parts = parts,
        .events = ek_metrics_counter(k->tools.metrics, EK_COUNT_EVENTS),
    };
    if (!parts->cnt)
        return EK_OK;
    r.pointer = ek_calloc((size_t)parts->cnt, sizeof *r.pointer);
    r.job = ek_calloc((size_t)parts->cnt, sizeof *r.job);
    int rc = r.pointer && r.job ? restore(&r, e) : enomem(e);
    k->disabled = rc || unwanted(k);
    double seconds = (double)(ek_now_ns() - began) / 1e9;
    if (!k->disabled) {
        begin_from(&r);
        ek_checkpoint_status_restored(k->status, seconds);
        ek_log_write(k->tools.log, EK_LOG_INFO, "restore_completed",
                     "partitions=%d checkpoints=%zu lists=%llu seconds=%.3f", parts->cnt, r.jobs,
                     (unsigned long long)r.queries, seconds);
    }
    release(&r);
    return rc;
}
