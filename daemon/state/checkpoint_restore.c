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

enum { TELL_EVERY_MS = 30000 }; /* that brokers are still away */

/* What is got back with one assignment. */
struct restoring {
    struct ek_keeper *k;
    rd_kafka_topic_partition_list_t *parts;
    struct ek_state_pointer *pointer; /* [parts] of each; base 0: none */
    struct ek_state_job *job;         /* [parts] */
    size_t jobs;
    const struct ek_assets *assets;
    struct ek_guard *joined;  /* of the states; NULL: none */
    bool anew;                /* the guard in use is nobody's */
    uint64_t queries, events; /* lists that the states had seen; events before */
};

/* Nobody waits for a restore any more. */
static bool unwanted(const struct ek_keeper *k)
{
    return k->tools.stopping(k->tools.context);
}

static int no_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "no memory to get back the state");
}

static int too_new(const rd_kafka_topic_partition_t *p, struct ek_error *e)
{
    return ek_fail(e, EK_ECONFIG,
                   "the state of topic '%s' partition %d is of a later version of evenkeel: run "
                   "that one, or begin anew with another 'input.group'",
                   p->topic, p->partition);
}

/* Reads what goes with the offsets, and finds the partitions that have a state. */
static int read_pointers(struct restoring *r, struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; !rc && i < r->parts->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &r->parts->elems[i];
        enum ek_pointer_kind kind =
            ek_state_pointer_read(p->metadata, p->metadata_size, &r->pointer[i]);
        if (kind == EK_POINTER_NEWER)
            rc = too_new(p, e);
        if (kind == EK_POINTER_READ &&
            ek_state_pointer_home(&r->pointer[i], p->topic, p->partition))
            r->job[r->jobs++].pointer = r->pointer[i];
    }
    return rc;
}

/* The guard that was left when all partitions went is still what the last base says: when that one
 * is wanted again, there is nothing to read. */
static void take_back_parked(struct restoring *r)
{
    struct ek_keeper *k = r->k;
    r->anew = k->vacant;
    for (size_t i = 0; k->parked && i < r->jobs; i++) {
        if (r->job[i].pointer.head != k->last.head || r->job[i].pointer.base != k->last.base)
            continue;
        r->job[i] = r->job[--r->jobs];
        r->anew = false;
        break;
    }
}

bool ek_keeper_wait(struct ek_keeper *k, const char *why)
{
    char text[EK_TROUBLE_TEXT];
    int64_t now = ek_now_ms();
    if (!why) {
        ek_trouble_heard(k->trouble);
        return !unwanted(k);
    }
    snprintf(text, sizeof text, "brokers do not give back the state, which is waited for: %s", why);
    ek_trouble_tell(k->trouble, EK_TROUBLE_STATE, text);
    if (now >= k->tell_ms) {
        k->tell_ms = now + TELL_EVERY_MS;
        ek_log_text(k->tools.log, EK_LOG_WARN, "state_awaited", text);
    }
    return !unwanted(k);
}

static bool wait_for_brokers(void *context, const char *why)
{
    return ek_keeper_wait(context, why);
}

static int read_states(struct restoring *r, struct ek_error *e)
{
    const struct ek_state_waiter waiter = {r->k, wait_for_brokers};
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < r->jobs; i++)
        rc = ek_state_new(&r->job[i].state, e);
    if (!rc && r->jobs)
        rc = ek_state_reader_read(r->k->reader, r->job, r->jobs, &waiter, e);
    return rc;
}

static void tell_gap(struct ek_keeper *k, enum ek_state_gap gap, const struct ek_state_pointer *p,
                     const char *why)
{
    char text[700];
    snprintf(text, sizeof text, "%s/%d: %s", p->topic, p->partition, why);
    ek_state_report_gap(k->report, gap);
    ek_log_text(k->tools.log, EK_LOG_WARN, "state_gap", text);
}

/* What a state is to us, in words. */
static void tell_fit(struct ek_keeper *k, const struct ek_state_job *j, enum ek_restore_result fit)
{
    struct ek_log *log = k->tools.log;
    if (!j->found)
        tell_gap(k, EK_GAP_NOT_FOUND, &j->pointer,
                 "the last base is not there, or not all of it: another one is taken, and what "
                 "came since is read again as far as it is still there");
    else if (fit == EK_RESTORE_COUNTERS_ONLY)
        ek_log_text(log, EK_LOG_WARN, "state_of_another_profile",
                    "sketches and counts go on; evidence, findings and plan begin anew");
    ek_log_write(log, EK_LOG_INFO, "state_restored", "shard=%s/%d base=%llu queries=%llu fit=%s",
                 j->pointer.topic, j->pointer.partition,
                 (unsigned long long)ek_checkpoint_number(j->state),
                 (unsigned long long)ek_state_list_count(j->state), ek_restore_result_name(fit));
}

static int refuse(struct ek_keeper *k, struct ek_state_job *j, enum ek_restore_result fit,
                  const struct ek_error *why, struct ek_error *e)
{
    if (fit == EK_RESTORE_OTHER_VERSION)
        return ek_fail(e, EK_ECONFIG,
                       "state of %s/%d in topic '%s': %s; run the version that wrote it, or begin "
                       "anew with another 'state.topic'",
                       j->pointer.topic, j->pointer.partition, k->tools.config->state_topic,
                       why->message);
    if (fit == EK_RESTORE_NONE || fit == EK_RESTORE_INCOMPLETE)
        tell_gap(k, EK_GAP_NOT_FOUND, &j->pointer,
                 "the state is not in the topic, or not all of it: what was learnt before begins "
                 "anew");
    else
        tell_gap(k, EK_GAP_REFUSED, &j->pointer, why->message);
    j->refused = true;
    return EK_OK;
}

/* One state more; the first is as good as it was, the others are joined with it. */
static int join(struct restoring *r, struct ek_state_job *j, struct ek_error *e)
{
    struct ek_error why;
    struct ek_guard *guard = NULL;
    enum ek_restore_result fit = EK_RESTORE_NONE;
    int rc = ek_guard_load(&guard, r->assets, j->state, &fit, &why);
    if (rc == EK_ENOMEM)
        return no_memory(e);
    if (rc)
        return refuse(r->k, j, fit, &why, e);
    tell_fit(r->k, j, fit);
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

/* In a fleet the one that decides tells of alerts, which nobody is yet, but each of its model. */
static int alert_again(void *context, const struct ek_event *v)
{
    const struct ek_keeper_tools *t = context;
    bool ours = !t->config->fleet_topic || v->kind == EK_EVENT_MODEL_DRIFT;
    return ek_alerts_recall(ek_shared_guard_alerts(t->guard), v, ours);
}

static int tell_again(void *context, const struct ek_event *v)
{
    const struct ek_keeper_tools *t = context;
    struct ek_journal_change change;
    struct ek_buf json;
    ek_buf_init(&json, 0);
    int rc = alert_again(context, v);
    if (!rc)
        rc = ek_event_json(v, &json);
    if (!rc)
        rc = ek_buf_string(&json)
                 ? ek_journal_add(t->journal, v, (const char *)json.data, ek_now_ms(), &change)
                 : EK_ENOMEM;
    ek_buf_release(&json);
    return rc;
}

static void show(struct ek_keeper *k, struct ek_guard *guard)
{
    const struct ek_keeper_tools *t = &k->tools;
    const struct ek_assets *a = ek_guard_assets(guard);
    ek_board_turn(t->board, a->manifest, a->rules, ek_guard_traffic(guard));
    ek_agreement_board_set(t->agreement, ek_guard_agreement(guard));
    ek_journal_begin_anew(t->journal);
    ek_alerts_begin_recall(ek_shared_guard_alerts(t->guard));
    if (ek_guard_replay_open(guard, tell_again, (void *)(uintptr_t)t) ||
        ek_guard_replay_inconsistent(guard, alert_again, (void *)(uintptr_t)t))
        ek_log_text(t->log, EK_LOG_ERROR, "event_lost", "no memory for an event");
    ek_alerts_end_recall(ek_shared_guard_alerts(t->guard));
}

/* No list is taken meanwhile. */
static int install(void *context, struct ek_guard **guard, struct ek_error *e)
{
    struct restoring *r = context;
    struct ek_guard *spent = r->joined;
    int rc = EK_OK;
    if (!r->joined)
        return EK_OK;
    if (r->anew) {
        spent = *guard;
        *guard = r->joined;
        rc = ek_guard_copy_pause(*guard, spent, e);
    } else {
        rc = ek_guard_merge(*guard, r->joined, e);
    }
    r->joined = NULL;
    if (!rc)
        show(r->k, *guard);
    ek_guard_free(spent); /* the board does not look at it any more */
    return rc;
}

/* The state that a pointer names, when we were to get it and did not, or not that one; else NULL.
 */
static const struct ek_state_job *failed_job(const struct restoring *r,
                                             const struct ek_state_pointer *p)
{
    for (size_t n = 0; p->base && n < r->jobs; n++) {
        const struct ek_state_job *j = &r->job[n];
        if ((!j->found || j->refused) &&
            ek_state_pointer_home(p, j->pointer.topic, j->pointer.partition))
            return j;
    }
    return NULL;
}

/* How far the state has seen a partition; without one all that comes counts. */
static int64_t seen_of(const struct restoring *r, int i, const struct ek_state_job *failed)
{
    const rd_kafka_topic_partition_t *p = &r->parts->elems[i];
    int64_t committed = p->offset > 0 ? p->offset : 0, seen = -1;
    size_t length;
    if (!failed)
        return r->pointer[i].base ? r->pointer[i].seen : committed;
    const void *note = ek_state_note(failed->state, &length);
    if (!failed->refused)
        seen = ek_state_note_seen(note, length, p->topic, p->partition);
    return seen < 0 ? committed : seen;
}

/* From where a partition is to be read: what the state has not seen comes first, as far as the
 * topic still has it. */
static int64_t start_of(struct ek_keeper *k, const rd_kafka_topic_partition_t *p, int64_t seen)
{
    char why[200];
    if (p->offset < 0 || seen >= p->offset)
        return p->offset;
    const struct ek_state_waiter waiter = {k, wait_for_brokers};
    int64_t low = ek_state_reader_low(k->reader, p->topic, p->partition, &waiter);
    if (low < 0 && unwanted(k))
        return p->offset;
    int64_t start = low < 0 || low > p->offset ? p->offset : low < seen ? seen : low;
    if (start == seen)
        return start;
    struct ek_state_pointer where = {.partition = p->partition};
    snprintf(where.topic, sizeof where.topic, "%s", p->topic);
    snprintf(why, sizeof why,
             "offsets %lld to %lld are %s, which the state has not seen: the topic must keep "
             "messages for longer than 'state.every'",
             (long long)seen, (long long)start - 1, low < 0 ? "not to be had" : "gone");
    tell_gap(k, EK_GAP_RETENTION, &where, why);
    return start;
}

/* A worker may have been at a list of the lane, from before it was closed, until the guard was
 * held: now none is. */
static int point_lane(struct restoring *r, int i, struct ek_error *e)
{
    rd_kafka_topic_partition_t *p = &r->parts->elems[i];
    struct ek_lane *lane = ek_lanes_find(r->k->tools.lanes, p->topic, p->partition);
    char text[EK_POINTER_BYTES];
    if (!lane)
        return EK_OK;
    const struct ek_state_job *failed = failed_job(r, &r->pointer[i]);
    lane->sealed = false;
    lane->seen = seen_of(r, i, failed);
    if (r->pointer[i].base && !failed) {
        ek_state_pointer_write(&r->pointer[i], text);
        if (ek_lane_point(lane, text))
            return no_memory(e);
        lane->pointed = true;
    }
    int64_t start = start_of(r->k, p, lane->seen);
    if (start < 0 || start >= p->offset)
        return EK_OK;
    lane->sends = p->offset;
    ek_lanes_expect(lane, start);
    ek_log_write(r->k->tools.log, EK_LOG_INFO, "state_catches_up",
                 "topic=%s partition=%d from=%lld to=%lld", p->topic, p->partition,
                 (long long)start, (long long)p->offset);
    p->offset = start;
    return EK_OK;
}

static int restore(struct restoring *r, struct ek_error *e)
{
    struct ek_keeper *k = r->k;
    int rc = read_pointers(r, e);
    take_back_parked(r);
    if (!rc)
        rc = read_states(r, e);
    if (rc || unwanted(k))
        return rc;
    r->assets = ek_shared_guard_keep(k->tools.guard);
    rc = join_all(r, e);
    if (!rc && r->anew && !r->joined)
        rc = ek_guard_new(&r->joined, r->assets, e);
    if (!rc)
        rc = ek_shared_guard_hold(k->tools.guard, install, r, e);
    ek_shared_guard_let(k->tools.guard);
    for (int i = 0; !rc && i < r->parts->cnt; i++)
        rc = point_lane(r, i, e);
    return rc;
}

/* What the next base has to do with. */
static void begin_from(struct restoring *r)
{
    struct ek_keeper *k = r->k;
    if (r->anew)
        k->home = NULL;
    k->whole = k->whole || r->anew || r->jobs > 0;
    k->vacant = k->parked = false;
    ek_keeper_rest(k);
    k->events = r->events; /* what the joining told is a reason for a base */
}

static void release(struct restoring *r)
{
    for (size_t i = 0; r->job && i < r->jobs; i++)
        ek_state_free(r->job[i].state);
    ek_guard_free(r->joined);
    ek_free(r->job);
    ek_free(r->pointer);
}

int ek_keeper_restore(struct ek_keeper *k, rd_kafka_topic_partition_list_t *parts,
                      struct ek_error *e)
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
    int rc = r.pointer && r.job ? restore(&r, e) : no_memory(e);
    k->disabled = rc || unwanted(k);
    double seconds = (double)(ek_now_ns() - began) / 1e9;
    if (!k->disabled) {
        begin_from(&r);
        ek_state_report_restored(k->report, seconds);
        ek_log_write(k->tools.log, EK_LOG_INFO, "state_ready",
                     "partitions=%d states=%zu queries=%llu seconds=%.3f", parts->cnt, r.jobs,
                     (unsigned long long)r.queries, seconds);
    }
    release(&r);
    return rc;
}
