#include "daemon/state/checkpoint_store.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "daemon/base/clock.h"
#include "daemon/base/metrics.h"
#include "daemon/state/checkpoint_internal.h"
#include "daemon/state/checkpoint_ref.h"
#include "guard/state.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

struct ek_checkpoint_status {
    const char *topic;
    pthread_mutex_t lock; /* guards the fields below */
    uint64_t base, bases, bytes, gaps[EK_LOSS_KINDS];
    double save_seconds, restore_seconds;
    int64_t saved_ms; /* 0: no checkpoint */
};

static const char *state_gap_name(enum ek_state_loss gap)
{
    static const char *const names[] = {"not_found", "refused", "retention", "unsaved"};
    return names[gap];
}

struct ek_checkpoint_status *ek_checkpoint_status_new(const char *topic)
{
    struct ek_checkpoint_status *r = ek_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->topic = topic;
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void ek_checkpoint_status_free(struct ek_checkpoint_status *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    ek_free(r);
}

void ek_checkpoint_status_saved(struct ek_checkpoint_status *r, uint64_t base, uint64_t bytes,
                                double seconds, int64_t now_ms)
{
    pthread_mutex_lock(&r->lock);
    r->base = base;
    r->bases++;
    r->bytes += bytes;
    r->save_seconds = seconds;
    r->saved_ms = now_ms;
    pthread_mutex_unlock(&r->lock);
}

void ek_checkpoint_status_restored(struct ek_checkpoint_status *r, double seconds)
{
    pthread_mutex_lock(&r->lock);
    r->restore_seconds = seconds;
    pthread_mutex_unlock(&r->lock);
}

void ek_checkpoint_status_gap(struct ek_checkpoint_status *r, enum ek_state_loss gap)
{
    pthread_mutex_lock(&r->lock);
    r->gaps[gap]++;
    pthread_mutex_unlock(&r->lock);
}

static int write_gaps(const struct ek_checkpoint_status *r, struct ek_buf *out)
{
    ek_metrics_head("evenkeel_state_loss_total", out);
    for (int i = 0; i < EK_LOSS_KINDS; i++)
        ek_buf_printf(out, "evenkeel_state_loss_total{reason=\"%s\"} %" PRIu64 "\n",
                      state_gap_name((enum ek_state_loss)i), r->gaps[i]);
    return out->rc;
}

static int families(const struct ek_checkpoint_status *r, int64_t now_ms, struct ek_buf *out)
{
    ek_metrics_single("evenkeel_checkpoints_total", (double)r->bases, out);
    ek_metrics_single("evenkeel_checkpoint_bytes_total", (double)r->bytes, out);
    ek_metrics_head("evenkeel_checkpoint_age_seconds", out);
    if (r->saved_ms)
        ek_buf_printf(out, "evenkeel_checkpoint_age_seconds %.3f\n",
                      (double)(now_ms - r->saved_ms) / 1e3);
    ek_metrics_single("evenkeel_checkpoint_duration_seconds", r->save_seconds, out);
    ek_metrics_single("evenkeel_restore_duration_seconds", r->restore_seconds, out);
    return write_gaps(r, out);
}

int ek_checkpoint_status_metrics(struct ek_checkpoint_status *r, int64_t waiting_ms, int64_t now_ms,
                                 struct ek_buf *out)
{
    pthread_mutex_lock(&r->lock);
    families(r, now_ms, out);
    pthread_mutex_unlock(&r->lock);
    return ek_metrics_single("evenkeel_restore_pending_seconds", (double)waiting_ms / 1e3, out);
}

int ek_checkpoint_status_json(struct ek_checkpoint_status *r, int64_t now_ms, struct ek_buf *out)
{
    uint64_t gaps = 0;
    ek_buf_text(out, "{\"topic\":");
    ek_buf_json(out, r->topic, strlen(r->topic));
    pthread_mutex_lock(&r->lock);
    for (int i = 0; i < EK_LOSS_KINDS; i++)
        gaps += r->gaps[i];
    int64_t age_ms = r->saved_ms ? now_ms - r->saved_ms : -1;
    ek_buf_printf(out,
                  ",\"checkpoint\":%" PRIu64 ",\"checkpoints\":%" PRIu64 ",\"age_ms\":%" PRId64
                  ",\"restore_seconds\":%.3f,\"losses\":%" PRIu64 "}",
                  r->base, r->bases, age_ms, r->restore_seconds, gaps);
    pthread_mutex_unlock(&r->lock);
    return out->rc;
}

enum {
    PAUSE_MS = 500, /* after a failure, doubled with each */
    PAUSE_STEPS = 6,
    PAUSE_MAX_MS = 30000,
    REPORTED = 2, /* failures until the stage counts as degraded */
    REQUEST_TIMEOUT_MS = 1000,
    TEXT_BYTES = 500,
    AT_MOST_EVERY_MS = 1000, /* minimum interval, also after an event */
    WHOLE_EVERY = 6 /* full checkpoint interval, in units of state.checkpoint_interval; bounds the
                     * restore */
};

int ek_checkpoint_store_new(struct ek_checkpoint_store **out,
                            const struct ek_checkpoint_store_tools *tools, struct ek_error *e)
{
    struct ek_checkpoint_store *k = ek_calloc(1, sizeof *k);
    if (!k)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    k->tools = *tools;
    k->needs_full = k->unowned = true;
    k->status = ek_checkpoint_status_new(tools->config->state_topic);
    k->health = ek_kafka_health_new();
    int rc = k->status && k->health
                 ? ek_checkpoint_reader_new(&k->reader, tools->config, tools->log, e)
                 : ek_fail(e, EK_ENOMEM, "out of memory");
    if (rc)
        ek_checkpoint_store_free(k);
    else
        *out = k;
    return rc;
}

void ek_checkpoint_store_free(struct ek_checkpoint_store *k)
{
    if (!k)
        return;
    ek_checkpoint_reader_free(k->reader);
    ek_checkpoint_status_free(k->status);
    ek_kafka_health_free(k->health);
    ek_free(k->partitions);
    ek_free(k);
}

/* A partition without any message read has no offset to carry a reference. */
static bool is_usable_partition(const struct ek_checkpoint_store *k,
                                const struct ek_partition *assignment)
{
    return assignment->open && assignment->next >= 0 &&
           ek_output_state_partitions(k->tools.output) > 0;
}

static bool is_better_partition(const struct ek_checkpoint_store *k, const struct ek_partition *a,
                                const struct ek_partition *b)
{
    if (!b || a->leaving != b->leaving)
        return !b || b->leaving;
    size_t topic = ek_config_topic(k->tools.config, a->topic);
    size_t other = ek_config_topic(k->tools.config, b->topic);
    return topic != other ? topic < other : a->partition < b->partition;
}

/* Return the home: unchanged while assigned, otherwise the lowest partition of the first topic that
 * has one; NULL if none is usable. */
static struct ek_partition *choose_partition(const struct ek_checkpoint_store *k)
{
    struct ek_partition *best = NULL;
    if (k->home && is_usable_partition(k, k->home) && !k->home->leaving)
        return k->home;
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(k->tools.partitions, assignment));)
        if (is_usable_partition(k, assignment) && is_better_partition(k, assignment, best))
            best = assignment;
    return best && best->leaving && k->home && is_usable_partition(k, k->home) ? k->home : best;
}

static uint64_t events_of(const struct ek_checkpoint_store *k)
{
    return ek_metrics_counter(k->tools.metrics, EK_COUNT_EVENTS);
}

static uint64_t queries_of(const struct ek_checkpoint_store *k)
{
    return ek_metrics_gauge_value(k->tools.metrics, EK_GAUGE_LISTS);
}

/* Return true if no local reason prevents a checkpoint. */
static bool able(const struct ek_checkpoint_store *k, int64_t now_ms)
{
    return !k->disabled && !k->unowned && now_ms >= k->blocked_ms && choose_partition(k);
}

/* An offset committed without a reference would mark all earlier lists as not counted. */
static bool lacks_pointer(const struct ek_partition *assignment)
{
    return assignment->open && assignment->next >= 0 && !assignment->pointer;
}

bool ek_checkpoint_store_blocks_commit(const struct ek_checkpoint_store *k,
                                       const struct ek_partition *assignment)
{
    return lacks_pointer(assignment) && able(k, ek_now_ms());
}

void ek_checkpoint_store_force_full(struct ek_checkpoint_store *k)
{
    k->needs_full = true;
}

bool ek_checkpoint_store_is_due(const struct ek_checkpoint_store *k)
{
    int64_t now = ek_now_ms();
    if (k->pending || !able(k, now))
        return false;
    bool urgent = k->handover_due;
    for (struct ek_partition *assignment = NULL;
         !urgent && (assignment = ek_partition_offsets_each(k->tools.partitions, assignment));)
        urgent = lacks_pointer(assignment);
    if (urgent)
        return true;
    if (now < k->next_ms)
        return false;
    return events_of(k) != k->events || (now >= k->due_ms && queries_of(k) != k->queries);
}

void ek_checkpoint_store_remaining(struct ek_checkpoint_store *k)
{
    int64_t now = ek_now_ms();
    k->due_ms = now + k->tools.config->checkpoint_interval_ms;
    k->next_ms = now + AT_MOST_EVERY_MS;
    k->events = events_of(k);
    k->queries = queries_of(k);
}

/* Checkpoint being written, under the guard's lock. */
struct saving {
    struct ek_checkpoint_store *k;
    bool whole;
    struct ek_buf note;
};

static int write_record(void *to, const char *name, const void *bytes, size_t length)
{
    struct saving *v = to;
    struct ek_checkpoint_store *k = v->k;
    char key[EK_STATE_KEY_BYTES];
    struct ek_record_frame frame;
    struct ek_serialize body;
    size_t size = ek_checkpoint_state_key(key, sizeof key, k->sent.topic, k->sent.partition, name);
    const struct ek_output_record r = {.partition = k->sent.at,
                                       .key = key,
                                       .key_length = size,
                                       .bytes = bytes,
                                       .length = length,
                                       .time_ms = ek_wall_ms()};
    if (bytes && !strcmp(name, EK_STATE_HEAD) &&
        !ek_record_open(bytes, length, &frame, &body, NULL)) {
        k->sent.head = ek_hash(bytes, length, 0);
        k->sent.base = frame.base;
    }
    k->bytes += length;
    return size && ek_output_send_state(k->tools.output, &r) ? 0 : 1;
}

/* Add a partition to the checkpoint. One being revoked counts no more lists here; its next owner
 * counts them. */
static int add_partition(struct saving *v, struct ek_partition *assignment)
{
    struct ek_checkpoint_store *k = v->k;
    void *kept = ek_grow(k->partitions, k->count, &k->capacity, sizeof *k->partitions);
    if (!kept)
        return EK_ENOMEM;
    k->partitions = kept;
    k->partitions[k->count++] = (struct ek_checkpoint_partition){assignment, assignment->seen};
    assignment->closed = k->handover_due && assignment->leaving;
    int rc = ek_checkpoint_note_add(&v->note, assignment->topic, assignment->partition,
                                    assignment->seen);
    return rc == EK_ENOMEM ? rc : EK_OK;
}

static int write_base(void *context, struct ek_guard **guard, struct ek_error *e)
{
    struct saving *v = context;
    struct ek_checkpoint_store *k = v->k;
    int rc = EK_OK;
    k->count = 0;
    for (struct ek_partition *assignment = NULL;
         !rc && (assignment = ek_partition_offsets_each(k->tools.partitions, assignment));)
        if (assignment->open && assignment->next >= 0)
            rc = add_partition(v, assignment);
    if (rc)
        return ek_fail(e, rc, "out of memory");
    return ek_guard_save(*guard, v->whole, v->note.data, v->note.length, write_record, v, e);
}

/* Set the destination of the checkpoint. Return true if it must be full. */
static bool address(struct ek_checkpoint_store *k, struct ek_partition *home)
{
    int64_t now = ek_now_ms();
    bool whole = k->needs_full || home != k->home || now >= k->next_full_ms;
    k->sent = k->last;
    snprintf(k->sent.topic, sizeof k->sent.topic, "%s", home->topic);
    k->sent.partition = home->partition;
    k->sent.at = home->partition % ek_output_state_partitions(k->tools.output);
    if (whole) {
        k->sent.since_ms = ek_wall_ms();
        k->next_full_ms = now + WHOLE_EVERY * k->tools.config->checkpoint_interval_ms;
    }
    k->home = home;
    k->bytes = 0;
    return whole;
}

static void report_degraded(struct ek_checkpoint_store *k, const char *text)
{
    if (k->degraded == (text != NULL))
        return;
    k->degraded = text != NULL;
    if (k->tools.degraded)
        k->tools.degraded(k->tools.context, text);
}

void ek_checkpoint_store_suspend(struct ek_checkpoint_store *k, const char *why)
{
    char text[TEXT_BYTES];
    int64_t pause = k->failures < PAUSE_STEPS ? (int64_t)PAUSE_MS << k->failures : PAUSE_MAX_MS;
    k->failures++;
    k->blocked_ms = ek_now_ms() + pause;
    k->needs_full = true;
    k->handover_due = false;
    snprintf(text, sizeof text, "topic '%s' of 'state.topic' takes no checkpoint: %s",
             k->tools.config->state_topic, why);
    ek_log_text(k->tools.log, EK_LOG_WARN, "checkpoint_suspended", text);
    if (k->failures >= REPORTED)
        report_degraded(k, text);
}

bool ek_checkpoint_store_is_sent(const struct ek_checkpoint_store *k)
{
    return k->pending;
}

bool ek_checkpoint_store_save(struct ek_checkpoint_store *k)
{
    struct ek_error e;
    struct saving v = {.k = k};
    if (k->failures && !ek_output_has_state_topic(k->tools.output, REQUEST_TIMEOUT_MS)) {
        ek_checkpoint_store_suspend(k, "it is missing, or has no leader");
        return true;
    }
    struct ek_partition *home = choose_partition(k);
    if (!home)
        return true;
    uint64_t began = ek_now_ns();
    v.whole = address(k, home);
    ek_checkpoint_store_remaining(k);
    ek_buf_init(&v.note, EK_NOTE_MAX);
    int rc = ek_guard_service_with_guard(k->tools.guard, write_base, &v, &e);
    ek_buf_release(&v.note);
    k->seconds = (double)(ek_now_ns() - began) / 1e9;
    k->pending = !rc;
    k->sent_handover = k->handover_due;
    k->needs_full = rc != 0;
    if (rc)
        ek_log_text(k->tools.log, EK_LOG_ERROR, "checkpoint_failed", e.message);
    if (!rc)
        return true;
    ek_checkpoint_store_suspend(k, e.message); /* an immediate retry would fail again */
    return rc != EK_ESTATE;
}

static const struct ek_checkpoint_partition *find_partition(const struct ek_checkpoint_store *k,
                                                            const struct ek_partition *assignment)
{
    for (size_t i = 0; k->pending && i < k->count; i++)
        if (k->partitions[i].assignment == assignment)
            return &k->partitions[i];
    return NULL;
}

const char *ek_checkpoint_store_ref(const struct ek_checkpoint_store *k,
                                    const struct ek_partition *assignment,
                                    char text[EK_CHECKPOINT_REF_BYTES])
{
    const struct ek_checkpoint_partition *kept = find_partition(k, assignment);
    struct ek_checkpoint_ref p = k->sent;
    if (!kept)
        return assignment->pointer;
    p.seen = kept->seen;
    ek_checkpoint_ref_write(&p, text);
    return text;
}

bool ek_checkpoint_store_covers(const struct ek_checkpoint_store *k,
                                const struct ek_partition *assignment)
{
    return find_partition(k, assignment) != NULL;
}

/* Out of memory keeps the previous reference, which is still valid. */
static void point_all(struct ek_checkpoint_store *k)
{
    char text[EK_CHECKPOINT_REF_BYTES];
    for (size_t i = 0; i < k->count; i++) {
        struct ek_partition *assignment = k->partitions[i].assignment;
        if (!assignment->open ||
            ek_partition_set_checkpoint(assignment, ek_checkpoint_store_ref(k, assignment, text)))
            continue;
        assignment->pointed = k->tools.config->delivery == EK_EXACTLY_ONCE;
    }
}

void ek_checkpoint_store_finish(struct ek_checkpoint_store *k, bool kept)
{
    if (!k->pending)
        return;
    if (kept) {
        point_all(k);
        k->failures = 0;
        report_degraded(k, NULL);
        k->last = k->sent;
        ek_checkpoint_status_saved(k->status, k->sent.base, k->bytes, k->seconds, ek_now_ms());
        if (k->sent_handover)
            k->handover_due = false;
        k->handover_stored = k->sent_handover;
    } else {
        k->needs_full = true;
        k->events = UINT64_MAX; /* makes another one due */
    }
    k->pending = false;
}

bool ek_checkpoint_store_poll(struct ek_checkpoint_store *k)
{
    bool refused;
    if (!k->pending || ek_output_state_unacked(k->tools.output, &refused))
        return false;
    if (refused)
        ek_checkpoint_store_suspend(k, "brokers refuse it, or do not answer");
    ek_checkpoint_store_finish(k, !refused);
    return !refused;
}

void ek_checkpoint_store_start_drain(struct ek_checkpoint_store *k)
{
    k->handover_stored = false;
    k->handover_due = !k->disabled && !k->unowned && able(k, ek_now_ms()) && choose_partition(k);
}

bool ek_checkpoint_store_is_drained(const struct ek_checkpoint_store *k)
{
    return !k->handover_due && !k->pending;
}

/* Return true if the state of revoked partitions is stored and referenced. */
static bool handed_over(const struct ek_checkpoint_store *k)
{
    bool all = k->handover_stored;
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(k->tools.partitions, assignment));)
        if (assignment->open && assignment->leaving && assignment->next >= 0)
            all = all && assignment->pointed;
    return all;
}

void ek_checkpoint_store_remove_closed(struct ek_checkpoint_store *k, bool lost)
{
    bool clean = !lost && handed_over(k), stays = false, some = false;
    for (struct ek_partition *assignment = NULL;
         (assignment = ek_partition_offsets_each(k->tools.partitions, assignment));) {
        stays = stays || (assignment->open && !assignment->leaving);
        some = some || (assignment->open && assignment->leaving && assignment->next >= 0);
    }
    if (stays && some && !clean && !k->disabled) {
        ek_checkpoint_status_gap(k->status, EK_LOSS_UNSAVED);
        ek_log_text(k->tools.log, EK_LOG_WARN, "checkpoint_skipped",
                    "partitions went away before what was seen of them was written: it may count "
                    "twice");
    }
    ek_checkpoint_store_finish(k, false);
    k->handover_due = k->handover_stored = false;
    k->unowned = !stays;
    k->unowned_stored = k->unowned && clean;
}

struct look {
    const struct ek_partition *assignment;
    int64_t seen;
};

static int check_partition(void *context, struct ek_guard **guard, struct ek_error *e)
{
    struct look *look = context;
    (void)guard, (void)e;
    look->seen = look->assignment->seen;
    return EK_OK;
}

int64_t ek_checkpoint_store_last_seen(struct ek_checkpoint_store *k,
                                      const struct ek_partition *assignment)
{
    struct look look = {.assignment = assignment};
    ek_guard_service_with_guard(k->tools.guard, check_partition, &look, NULL);
    return look.seen;
}

struct ek_kafka_health *ek_checkpoint_store_health(struct ek_checkpoint_store *k)
{
    return k->health;
}

int ek_checkpoint_store_metrics(struct ek_checkpoint_store *k, struct ek_buf *out)
{
    struct ek_kafka_health_state t;
    int64_t now = ek_now_ms(), waiting = ek_kafka_health_get(k->health, &t) ? now - t.since_ms : 0;
    return ek_checkpoint_status_metrics(k->status, waiting, now, out);
}

int ek_checkpoint_store_json(struct ek_checkpoint_store *k, struct ek_buf *out)
{
    return ek_checkpoint_status_json(k->status, ek_now_ms(), out);
}
