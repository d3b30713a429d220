#include "daemon/guard/guard_service.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "daemon/alerts/alerts.h"
#include "daemon/base/clock.h"
#include "daemon/guard/event_line.h"
#include "daemon/guard/pause.h"
#include "daemon/guard/shadow_scorer.h"
#include "daemon/views/agreement_cache.h"
#include "daemon/views/event_log.h"
#include "daemon/views/feature_stats.h"
#include "daemon/views/plan_view.h"
#include "guard/event_json.h"
#include "guard/guard_assets.h"
#include "guard/guard_fleet.h"
#include "guard/guard_items.h"
#include "guard/guard_trials.h"
#include "guard/list_sample.h"
#include "guard/live_sketches.h"
#include "guard/operator_commands.h"
#include "guard/operator_json.h"
#include "guard/public.h"
#include "guard/limit_counters.h"
#include "serve/agreement_watch.h"
#include "serve/assets.h"
#include "serve/context.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { RECORD_BYTES_MAX = 64 << 20 };

void ek_plan_cache_release(struct ek_plan_cache *l)
{
    for (int i = 0; i < ek_plan_cache_count(l); i++)
        ek_buf_release(&l->record[i]);
}

int ek_plan_cache_add(struct ek_plan_cache *l, uint64_t version, const void *bytes, size_t length,
                      int64_t now_ms)
{
    if (!l->count || version != l->version) {
        struct ek_buf *next = &l->record[l->count % EK_FLEET_PLANS];
        if (l->count < EK_FLEET_PLANS)
            ek_buf_init(next, RECORD_BYTES_MAX);
        l->count++;
    }
    struct ek_buf *newest = &l->record[(l->count - 1) % EK_FLEET_PLANS];
    l->version = version;
    l->received_ms = now_ms;
    ek_buf_clear(newest);
    return ek_buf_add(newest, bytes, length);
}

int ek_plan_cache_count(const struct ek_plan_cache *l)
{
    return l->count < EK_FLEET_PLANS ? (int)l->count : EK_FLEET_PLANS;
}

const struct ek_buf *ek_plan_cache_get(const struct ek_plan_cache *l, int i)
{
    uint64_t first = l->count - (uint64_t)ek_plan_cache_count(l);
    return &l->record[(first + (uint64_t)i) % EK_FLEET_PLANS];
}

struct ek_guard_service {
    pthread_mutex_t assets; /* locked first; while held, the assets do not change */
    pthread_mutex_t lock;   /* protects the guard */
    struct ek_guard *guard;
    struct ek_event_log *event_log;
    struct ek_metrics *metrics;
    struct ek_log *log;
    struct ek_output *output;
    struct ek_alerts *alerts;                                       /* NULL: none */
    void (*receive_event)(void *context, const struct ek_event *v); /* NULL: none */
    void *listener;
    struct ek_plan_view *plan_view;   /* NULL: none */
    uint64_t plan_changes;            /* of the event log, in the view */
    bool is_plan_stale;               /* the view has values of other assets */
    struct ek_pause *pause;           /* NULL: none */
    int64_t ahead_ms;                 /* wall clock minus monotonic clock at creation */
    struct ek_output_counts reported; /* outputs reported to the guard so far */
    /* Of a fleet. */
    struct ek_guard_service_member member; /* name NULL: no fleet */
    uint64_t start;                        /* start number of the guard's reports; increases */
    bool is_plan_author;                   /* this instance is leader and wrote the current plan */
    bool fleet_paused;                     /* the plan pauses the fleet */
    bool in_fleet_plan;                    /* current events come from a fleet plan */
    bool is_replay;                        /* ... that was reported before */
    struct ek_plan_cache received;
};

int ek_guard_service_new(struct ek_guard_service **out, const struct ek_assets *assets,
                         struct ek_event_log *event_log, struct ek_metrics *metrics,
                         struct ek_log *log, struct ek_error *e)
{
    struct ek_guard_service *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_guard_new(&s->guard, assets, e);
    if (rc) {
        ek_free(s);
        return rc;
    }
    pthread_mutex_init(&s->assets, NULL);
    pthread_mutex_init(&s->lock, NULL);
    s->event_log = event_log;
    s->metrics = metrics;
    s->log = log;
    s->ahead_ms = ek_wall_ms() - ek_now_ms();
    *out = s;
    return EK_OK;
}

void ek_guard_service_free(struct ek_guard_service *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->assets);
    pthread_mutex_destroy(&s->lock);
    ek_guard_free(s->guard);
    ek_plan_cache_release(&s->received);
    ek_free(s);
}

void ek_guard_service_set_outputs(struct ek_guard_service *s, struct ek_output *output,
                                  struct ek_alerts *alerts)
{
    s->output = output;
    s->alerts = alerts;
}

void ek_guard_service_set_listener(struct ek_guard_service *s,
                                   void (*receive_event)(void *context, const struct ek_event *v),
                                   void *context)
{
    s->receive_event = receive_event;
    s->listener = context;
}

void ek_guard_service_set_plan_view(struct ek_guard_service *s, struct ek_plan_view *view)
{
    s->plan_view = view;
}

bool ek_guard_service_is_plan_author(struct ek_guard_service *s)
{
    pthread_mutex_lock(&s->lock);
    bool is_author = !s->member.name || s->is_plan_author;
    pthread_mutex_unlock(&s->lock);
    return is_author;
}

struct ek_alerts *ek_guard_service_alerts(const struct ek_guard_service *s)
{
    return s->alerts;
}

/* Return true for events that all instances of a fleet report: findings, plans, limits of plans,
 * results of operator commands. */
static bool is_common(const struct ek_guard_service *s, const struct ek_event *v)
{
    if (!s->member.name)
        return false;
    return v->kind == EK_EVENT_FINDING || v->kind == EK_EVENT_PLAN ||
           (v->kind == EK_EVENT_LIMIT && s->in_fleet_plan) ||
           (v->kind == EK_EVENT_DECISION && (s->in_fleet_plan || v->decision.request));
}

struct ek_guard *ek_guard_service_lock(struct ek_guard_service *s)
{
    pthread_mutex_lock(&s->lock);
    return s->guard;
}

void ek_guard_service_unlock(struct ek_guard_service *s)
{
    pthread_mutex_unlock(&s->lock);
}

static void report_loss(struct ek_guard_service *s)
{
    ek_log_text(s->log, EK_LOG_ERROR, "event_dropped", "out of memory");
}

static void report_json(struct ek_guard_service *s, const struct ek_event *v, const char *json)
{
    struct ek_event_log_change change;
    if (ek_event_log_add(s->event_log, v, json, ek_now_ms(), &change))
        report_loss(s);
    ek_event_line_write(s->log, v);
    ek_metrics_count(s->metrics, EK_COUNT_EVENTS, 1);
    ek_metrics_count(s->metrics, EK_COUNT_ROLLED_BACK + change.rolled_back,
                     change.rolled_back != EK_GUARDRAIL_NONE);
    ek_metrics_count(s->metrics, EK_COUNT_DETECTED, (uint64_t)change.detected);
    ek_metrics_count(s->metrics, EK_COUNT_ENFORCED, (uint64_t)change.enforced);
    bool common = is_common(s, v), ours = !common || s->is_plan_author; /* the leader sends them */
    if (s->output && ours && !(common && s->is_replay))
        ek_output_send_event(s->output, v, json);
    ek_alerts_receive(s->alerts, v, ours);
    if (s->receive_event)
        s->receive_event(s->listener, v);
}

static void report(struct ek_guard_service *s, const struct ek_event *v)
{
    struct ek_buf json;
    ek_buf_init(&json, 0);
    if (!ek_event_json(v, &json) && ek_buf_string(&json))
        report_json(s, v, (const char *)json.data);
    else
        report_loss(s);
    ek_buf_release(&json);
}

static void drain_events(struct ek_guard_service *s)
{
    const struct ek_event *v;
    while ((v = ek_guard_pop_event(s->guard)))
        report(s, v);
}

/* Update the view after a plan event, a restored state or new assets. */
static void update_plan_view(struct ek_guard_service *s)
{
    uint64_t changes = ek_event_log_plan_changes(s->event_log);
    if (!s->plan_view || (changes == s->plan_changes && !s->is_plan_stale))
        return;
    s->is_plan_stale = ek_plan_view_set(s->plan_view, s->guard) != EK_OK; /* then retried */
    s->plan_changes = changes;
}

static void update_progress(struct ek_guard_service *s)
{
    update_plan_view(s);
    ek_metrics_gauge(s->metrics, EK_GAUGE_LISTS, ek_guard_list_count(s->guard));
    ek_metrics_gauge(s->metrics, EK_GAUGE_PLAN_VERSION, ek_guard_plan_version(s->guard));
}

void ek_guard_service_set_pause(struct ek_guard_service *s, struct ek_pause *pause)
{
    s->pause = pause;
}

static void update_pause(struct ek_guard_service *s)
{
    ek_metrics_gauge(s->metrics, EK_GAUGE_PAUSED, ek_pause_is_on(s->pause));
}

/* Replay a restored pause to the alerts; its start was reported by an earlier process. */
static void restore_pause(struct ek_guard_service *s, const struct ek_decision_record *since)
{
    struct ek_event v = {.kind = EK_EVENT_DECISION, .time_ms = since->time_ms, .decision = *since};
    v.decision.kind = EK_DECIDED_PAUSE;
    ek_alerts_replay(s->alerts, &v, !s->member.name);
}

/* Apply the pause of a restored guard. In a fleet the guard's copy is cleared: the plan, or a
 * resume on this instance, ends the pause. */
static void sync_guard_pause(struct ek_guard_service *s)
{
    struct ek_decision_record since;
    if (!s->pause || !ek_guard_paused(s->guard, &since))
        return;
    ek_pause_restore(s->pause, since.time_ms, since.actor, since.reason);
    update_pause(s);
    restore_pause(s, &since);
    if (s->member.name)
        ek_guard_clear_pause(s->guard);
}

/* Pause or resume this instance of a fleet; the fleet's pause is in the plan. */
static bool pause_here(struct ek_guard_service *s, bool paused, const char *actor,
                       const char *reason)
{
    pthread_mutex_lock(&s->lock);
    bool changed =
        (paused || !s->fleet_paused) && ek_pause_set(s->pause, paused, ek_wall_ms(), actor, reason);
    update_pause(s);
    pthread_mutex_unlock(&s->lock);
    return changed;
}

/* Apply a change of the fleet's pause. A pause of this instance alone is not affected by a plan
 * that pauses nothing. */
static void sync_fleet_pause(struct ek_guard_service *s)
{
    const struct ek_instance_plans *plans = ek_guard_plans(s->guard);
    if (!s->pause || !plans || !ek_instance_plans_has_version(plans))
        return;
    bool paused = ek_instance_plans_memory(plans, NULL).paused;
    if (paused == s->fleet_paused)
        return;
    s->fleet_paused = paused;
    ek_pause_set(s->pause, paused, ek_wall_ms(), NULL, NULL);
    update_pause(s);
}

bool ek_guard_service_pause(struct ek_guard_service *s, bool paused, const char *actor,
                            const char *reason)
{
    struct ek_error e;
    if (s->member.name)
        return pause_here(s, paused, actor, reason);
    /* Pause first, without waiting for the guard's lock. */
    bool changed = paused && ek_pause_set(s->pause, true, ek_wall_ms(), actor, reason);
    pthread_mutex_lock(&s->lock);
    int rc = ek_guard_advance(s->guard, ek_guard_service_clock_ms(s), &e);
    if (!rc)
        rc = paused ? ek_guard_pause(s->guard, actor, reason, &e)
                    : ek_guard_resume(s->guard, actor, reason, &e);
    if (!paused)
        changed = ek_pause_set(s->pause, false, ek_wall_ms(), actor, reason);
    drain_events(s);
    update_progress(s);
    update_pause(s);
    pthread_mutex_unlock(&s->lock);
    if (rc)
        ek_log_text(s->log, EK_LOG_ERROR, "pause_save_failed", e.message);
    return changed;
}

int ek_guard_service_add_fleet_decision(struct ek_guard_service *s,
                                        const struct ek_decision_record *m)
{
    struct ek_decision_record own = *m;
    own.number = own.query = 0;
    if (m->kind == EK_DECIDED_PAUSE && s->pause)
        ek_pause_set_actor(s->pause, m->actor, m->reason);
    return ek_guard_service_add_decision(s, &own);
}

int ek_guard_service_add_decision(struct ek_guard_service *s, const struct ek_decision_record *m)
{
    pthread_mutex_lock(&s->lock);
    int rc = ek_guard_add_decision(s->guard, m);
    drain_events(s);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* If the partition was revoked or rewound while the list was in flight, the list is redelivered,
 * here or elsewhere, and counts then. */
static void update_one(struct ek_guard_service *s, struct ek_guard_service_list *l, int64_t now_ms)
{
    const struct ek_inflight *t = l->inflight;
    bool revoked = ek_inflight_is_revoked(t);
    if (revoked || t->assignment->closed || t->offset < t->assignment->seen) {
        l->rc = ek_guard_peek(s->guard, l->context, &l->why);
        ek_metrics_count(s->metrics, EK_COUNT_OUTPUT_ONLY, !revoked && !t->no_output);
        return;
    }
    l->rc = ek_guard_update(s->guard, l->context, now_ms, &l->why);
    if (!l->rc)
        t->assignment->seen = t->offset + 1;
    ek_metrics_count(s->metrics, EK_COUNT_UNOBSERVED, !l->rc && !l->context->observed);
    ek_metrics_count(s->metrics, EK_COUNT_STATE_ONLY, t->no_output);
}

/* Return a hash of the place of a message, which is the same when it is read again. */
static uint64_t key_of(const struct ek_inflight *t)
{
    const struct ek_partition *p = t->assignment;
    int64_t place[] = {p->partition, t->offset};
    return ek_hash(place, sizeof place, ek_hash(p->topic, strlen(p->topic), 0));
}

void ek_guard_service_choose(struct ek_guard_service *s, struct ek_guard_service_list *lists,
                             size_t count)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < count; i++)
        if (!lists[i].rc)
            ek_guard_choose(s->guard, lists[i].context, key_of(lists[i].inflight));
    pthread_mutex_unlock(&s->lock);
}

static bool has_same_assets(const struct ek_guard_service *s,
                            const struct ek_guard_service_list *lists, size_t count)
{
    return !count || lists[0].context->assets == ek_guard_assets(s->guard);
}

bool ek_guard_service_update(struct ek_guard_service *s, struct ek_guard_service_list *lists,
                             size_t count, int64_t now_ms, struct ek_shadow_scorer *shadow)
{
    pthread_mutex_lock(&s->lock);
    if (!has_same_assets(s, lists, count)) {
        pthread_mutex_unlock(&s->lock);
        return false;
    }
    ek_shadow_scorer_report(shadow, s->guard);
    for (size_t i = 0; i < count; i++) {
        struct ek_guard_service_list *l = &lists[i];
        if (!l->rc)
            update_one(s, l, now_ms);
        drain_events(s);
    }
    if (ek_guard_has_found(s->guard))
        s->member.found(s->member.context);
    update_progress(s);
    pthread_mutex_unlock(&s->lock);
    return true;
}

/* Each guard numbers its reports from 1, so its start must be above the previous one. */
static int join_fleet(struct ek_guard_service *s, struct ek_error *e)
{
    uint64_t now = (uint64_t)ek_wall_ms();
    s->start = now > s->start ? now : s->start + 1;
    return ek_guard_join(s->guard, s->member.name, s->start, s->member.cells, e);
}

/* Replay the plans that the previous guard received. Their events are reported on this instance
 * only, not to the alert topic; firing alerts continue. */
static int replay_plans(struct ek_guard_service *s, struct ek_error *e)
{
    int rc = EK_OK;
    s->in_fleet_plan = s->is_replay = true;
    for (int i = 0; i < ek_plan_cache_count(&s->received) && !rc; i++) {
        const struct ek_buf *record = ek_plan_cache_get(&s->received, i);
        rc = ek_guard_restore_plan(s->guard, record->data, record->length, s->received.received_ms,
                                   e);
    }
    drain_events(s);
    s->in_fleet_plan = s->is_replay = false;
    return rc;
}

/* Join a replacement guard to the fleet. */
static int ensure_joined(struct ek_guard_service *s, struct ek_error *e)
{
    if (!s->member.name || ek_guard_plans(s->guard))
        return EK_OK;
    int rc = join_fleet(s, e);
    return rc ? rc : replay_plans(s, e);
}

int ek_guard_service_with_guard(struct ek_guard_service *s,
                                int (*work)(void *context, struct ek_guard **guard,
                                            struct ek_error *e),
                                void *context, struct ek_error *e)
{
    pthread_mutex_lock(&s->lock);
    int rc = work(context, &s->guard, e);
    if (!rc)
        rc = ensure_joined(s, e);
    sync_guard_pause(s);
    drain_events(s);
    update_progress(s);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* Report pending events and pass decisions of that kind to `write`. Return its first error. */
static int report_command(struct ek_guard_service *s, enum ek_decision_kind what,
                          int (*write)(void *context, const struct ek_decision_record *m),
                          void *context)
{
    const struct ek_event *v;
    int rc = EK_OK;
    while ((v = ek_guard_pop_event(s->guard))) {
        if (!rc && v->kind == EK_EVENT_DECISION && v->decision.kind == what)
            rc = write(context, &v->decision);
        report(s, v);
    }
    return rc;
}

int ek_guard_service_run_command(struct ek_guard_service *s, enum ek_decision_kind what,
                                 int (*work)(void *context, struct ek_guard **guard,
                                             struct ek_error *e),
                                 int (*write)(void *context, const struct ek_decision_record *m),
                                 void *context, struct ek_error *e)
{
    pthread_mutex_lock(&s->lock);
    int rc = work(context, &s->guard, e);
    if (!rc && report_command(s, what, write, context))
        rc = ek_fail(e, EK_ENOMEM, "command executed; out of memory for its result");
    drain_events(s);
    update_progress(s);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

const struct ek_assets *ek_guard_service_lock_assets(struct ek_guard_service *s)
{
    pthread_mutex_lock(&s->assets);
    return ek_guard_assets(s->guard); /* a replacement guard has the same assets */
}

void ek_guard_service_unlock_assets(struct ek_guard_service *s)
{
    pthread_mutex_unlock(&s->assets);
}

void ek_guard_service_add_event(struct ek_guard_service *s, const struct ek_event *v)
{
    pthread_mutex_lock(&s->lock);
    report(s, v);
    pthread_mutex_unlock(&s->lock);
}

/* Update the views. If the guard was reset, no finding is open. */
static void update_views(struct ek_guard_service *s, const struct ek_guard_service_assets *next,
                         enum ek_restore_result fit)
{
    const struct ek_agreement_watch *watch = ek_guard_agreement(s->guard);
    if (!watch)
        ek_agreement_cache_clear(next->agreement);
    ek_agreement_cache_set(next->agreement, watch);
    if (fit == EK_RESTORE_COUNTERS_ONLY) {
        ek_event_log_reset(s->event_log);
        ek_alerts_report(s->alerts, EK_ALERTS_GUARD_RESET);
        ek_feature_history_clear(next->history);
    }
}

/* Pages read the sketches of the guard, which this frees, under the lock of the board. */
static int set_assets(struct ek_guard_service *s, const struct ek_guard_service_assets *next,
                      enum ek_restore_result *fit, struct ek_error *e)
{
    ek_feature_stats_lock(next->board);
    int rc = ek_guard_set_assets(s->guard, next->assets, fit, e);
    if (!rc)
        ek_feature_stats_set_assets(next->board, next->assets->manifest, next->assets->rules,
                                    ek_guard_traffic(s->guard));
    ek_feature_stats_unlock(next->board);
    return rc;
}

static int switch_guard(struct ek_guard_service *s, const struct ek_guard_service_assets *next,
                        enum ek_restore_result *fit, struct ek_error *e)
{
    struct ek_error why;
    if (ek_feature_stats_reserve(next->board, next->assets->rules->windows.max_segments))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = set_assets(s, next, fit, e);
    if (rc)
        return rc;
    next->on_switch(next->context);
    s->is_plan_stale = true;
    update_views(s, next, *fit);
    if (ensure_joined(s, &why)) /* retried with the next report */
        ek_log_text(s->log, EK_LOG_ERROR, "fleet_join_failed", why.message);
    sync_guard_pause(s);
    drain_events(s);
    update_progress(s);
    return EK_OK;
}

int ek_guard_service_set_assets(struct ek_guard_service *s,
                                const struct ek_guard_service_assets *next,
                                enum ek_restore_result *fit, struct ek_error *e)
{
    pthread_mutex_lock(&s->assets);
    pthread_mutex_lock(&s->lock);
    int rc = switch_guard(s, next, fit, e);
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_unlock(&s->assets);
    return rc;
}

static void update_item_metrics(struct ek_guard_service *s)
{
    const struct ek_assembly_counts c = ek_guard_item_counts(s->guard);
    ek_metrics_gauge(s->metrics, EK_GAUGE_ITEM_LISTS_COMPLETE, c.complete);
    ek_metrics_gauge(s->metrics, EK_GAUGE_ITEM_LISTS_INCOMPLETE, c.incomplete);
    ek_metrics_gauge(s->metrics, EK_GAUGE_ITEM_LISTS_UNKNOWN, c.unknown);
    ek_metrics_gauge(s->metrics, EK_GAUGE_ITEMS_REPEATED, c.repeated);
    ek_metrics_gauge(s->metrics, EK_GAUGE_ITEMS_LATE, c.late);
    ek_metrics_gauge(s->metrics, EK_GAUGE_LISTS_EVICTED, c.evicted);
}

/* Counters may increase between two reads; the rest is added by the next call. */
static void report_outputs(struct ek_guard_service *s)
{
    static const enum ek_counter lists[] = {EK_COUNT_PASSED, EK_COUNT_ROUTED},
                                 dead[] = {EK_COUNT_DEAD_PASSED, EK_COUNT_DEAD_ROUTED};
    struct ek_output_counts outputs;
    for (int i = 0; i < 2; i++) {
        uint64_t l = ek_metrics_counter(s->metrics, lists[i]),
                 d = ek_metrics_counter(s->metrics, dead[i]);
        outputs.lists[i] = l - s->reported.lists[i];
        outputs.dead[i] = d - s->reported.dead[i];
        s->reported.lists[i] = l;
        s->reported.dead[i] = d;
    }
    ek_guard_add_output_counts(s->guard, &outputs);
}

int ek_guard_service_advance(struct ek_guard_service *s, struct ek_agreement_cache *agreement,
                             struct ek_error *e)
{
    pthread_mutex_lock(&s->lock);
    report_outputs(s);
    int rc = ek_guard_advance(s->guard, ek_guard_service_clock_ms(s), e);
    drain_events(s);
    update_progress(s);
    struct ek_limit_counters limits = ek_guard_limit_counters(s->guard);
    for (int i = 0; i < EK_BOUNDS_ALL; i++)
        ek_metrics_gauge(s->metrics, (enum ek_gauge)(EK_GAUGE_LIMIT_EXCEEDED + i), limits.count[i]);
    update_item_metrics(s);
    ek_agreement_cache_set(agreement, ek_guard_agreement(s->guard));
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int64_t ek_guard_service_clock_ms(const struct ek_guard_service *s)
{
    return ek_now_ms() + s->ahead_ms;
}

int ek_guard_service_join(struct ek_guard_service *s, const struct ek_guard_service_member *member,
                          struct ek_error *e)
{
    s->member = *member;
    return ensure_joined(s, e);
}

int ek_guard_service_write_report(struct ek_guard_service *s, bool early,
                                  int (*write)(void *context, const void *bytes, size_t length),
                                  void *context, struct ek_error *e)
{
    pthread_mutex_lock(&s->lock);
    int rc = ensure_joined(s, e);
    if (!rc)
        rc = ek_guard_write_report(s->guard, early, write, context, e);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

static int receive_plan(struct ek_guard_service *s, const void *bytes, size_t length,
                        int64_t now_ms, bool *counts, struct ek_error *e)
{
    const struct ek_instance_plans *plans = ek_guard_plans(s->guard);
    uint64_t counted = ek_instance_plans_has_version(plans);
    int rc = ek_guard_receive_plan(s->guard, bytes, length, now_ms, e);
    *counts = !rc && ek_instance_plans_has_version(plans) != counted;
    if (!*counts)
        return rc;
    uint64_t version = ek_instance_plans_order(plans)->version;
    return ek_plan_cache_add(&s->received, version, bytes, length, now_ms)
               ? ek_fail(e, EK_ENOMEM, "out of memory")
               : EK_OK;
}

/* Return true if this instance wrote the current plan. Two leaders may overlap briefly; the plan is
 * the same for all. */
static bool is_author(const struct ek_guard_service *s)
{
    const struct ek_instance_plans *plans = ek_guard_plans(s->guard);
    return plans && !strcmp(ek_instance_plans_order(plans)->decider, s->member.name);
}

int ek_guard_service_receive_plan(struct ek_guard_service *s, const void *bytes, size_t length,
                                  int64_t now_ms, bool is_leader, bool *counts, struct ek_error *e)
{
    *counts = false;
    pthread_mutex_lock(&s->lock);
    int rc = ensure_joined(s, e);
    s->in_fleet_plan = true;
    if (!rc)
        rc = receive_plan(s, bytes, length, now_ms, counts, e);
    bool before = s->is_plan_author;
    s->is_plan_author = is_leader && is_author(s);
    if (s->is_plan_author && !before)
        ek_alerts_report(s->alerts, EK_ALERTS_NEW_LEADER);
    sync_fleet_pause(s);
    drain_events(s);
    update_plan_view(s);
    s->in_fleet_plan = false;
    pthread_mutex_unlock(&s->lock);
    return rc;
}

void ek_guard_service_fleet_state(struct ek_guard_service *s, int64_t now_ms,
                                  struct ek_guard_service_fleet *out)
{
    pthread_mutex_lock(&s->lock);
    const struct ek_instance_plans *plans = ek_guard_plans(s->guard);
    *out = (struct ek_guard_service_fleet){.age_ms = -1, .lists = ek_guard_list_count(s->guard)};
    if (plans) {
        const struct ek_record_order *order = ek_instance_plans_order(plans);
        out->age_ms = ek_instance_plans_age_ms(plans, now_ms);
        out->version = order->version;
        out->term = order->term;
        out->late = ek_instance_plans_late_count(plans);
        out->unresolved = ek_instance_plans_unresolved_count(plans);
        memcpy(out->leader, order->decider, sizeof out->leader);
    }
    pthread_mutex_unlock(&s->lock);
}
