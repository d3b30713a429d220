#include "daemon/guard/guard_service.h"

#include "base/alloc.h"
#include "daemon/alerts/alerts.h"
#include "daemon/base/clock.h"
#include "daemon/guard/pause.h"
#include "daemon/guard/shadow_scorer.h"
#include "daemon/views/agreement_cache.h"
#include "daemon/views/event_log.h"
#include "daemon/views/feature_history.h"
#include "daemon/views/feature_stats.h"
#include "guard/event_json.h"
#include "guard/guard_assets.h"
#include "guard/guard_fleet.h"
#include "guard/guard_items.h"
#include "guard/guard_trials.h"
#include "guard/live_sketches.h"
#include "guard/operator_commands.h"
#include "guard/operator_json.h"
#include "guard/public.h"
#include "plan/limit_counters.h"
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
    l->heard_ms = now_ms;
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
    pthread_mutex_t assets; /* taken before the other: they stay the same */
    pthread_mutex_t lock;   /* of the guard */
    struct ek_guard *guard;
    struct ek_event_log *event_log;
    struct ek_metrics *metrics;
    struct ek_log *log;
    struct ek_output *output;
    struct ek_alerts *alerts;                              /* NULL: nobody wants them */
    void (*hear)(void *context, const struct ek_event *v); /* NULL: there is no listener */
    void *listener;
    struct ek_pause *pause;       /* NULL: nobody can pause it */
    int64_t ahead_ms;             /* of the wall to the clock that nobody sets, when it began */
    struct ek_output_counts told; /* of outputs, in all */
    /* In a fleet. */
    struct ek_guard_service_member member; /* name NULL: in none */
    uint64_t start;                        /* of the guard as a member: each has a later one */
    bool decided_here;                     /* the plan that was heard last */
    bool fleet_paused;                     /* by the plan */
    bool callbacks;                        /* what is told now is what the fleet has decided */
    bool hears_again;                      /* which was told before */
    struct ek_plan_cache heard;
};

int ek_guard_service_new(struct ek_guard_service **out, const struct ek_assets *assets,
                         struct ek_event_log *event_log, struct ek_metrics *metrics,
                         struct ek_log *log, struct ek_error *e)
{
    struct ek_guard_service *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "no memory for the guard");
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
    ek_plan_cache_release(&s->heard);
    ek_free(s);
}

void ek_guard_service_set_outputs(struct ek_guard_service *s, struct ek_output *output,
                                  struct ek_alerts *alerts)
{
    s->output = output;
    s->alerts = alerts;
}

void ek_guard_service_set_listener(struct ek_guard_service *s,
                                   void (*hear)(void *context, const struct ek_event *v),
                                   void *context)
{
    s->hear = hear;
    s->listener = context;
}

struct ek_alerts *ek_guard_service_alerts(const struct ek_guard_service *s)
{
    return s->alerts;
}

/* All instances of a fleet tell the same findings, plans and limits of plans, and what came of the
 * orders of people. */
static bool is_common(const struct ek_guard_service *s, const struct ek_event *v)
{
    if (!s->member.name)
        return false;
    return v->kind == EK_EVENT_FINDING || v->kind == EK_EVENT_PLAN ||
           (v->kind == EK_EVENT_LIMIT && s->callbacks) ||
           (v->kind == EK_EVENT_DECISION && (s->callbacks || v->decision.request));
}

static void report_loss(struct ek_guard_service *s)
{
    ek_log_text(s->log, EK_LOG_ERROR, "event_dropped", "no memory for an event");
}

/* json: the event. */
static void report_json(struct ek_guard_service *s, const struct ek_event *v, const char *json)
{
    struct ek_event_log_change change;
    if (ek_event_log_add(s->event_log, v, json, ek_now_ms(), &change))
        report_loss(s);
    if (change.drifted)
        ek_log_json(s->log, EK_LOG_WARN, "model_drift", json);
    else if (change.withdrawn != EK_GUARDRAIL_NONE)
        ek_log_json(s->log, EK_LOG_WARN, "route_withdrawn", json);
    else
        ek_log_json(s->log, EK_LOG_INFO, "guard", json);
    ek_metrics_count(s->metrics, EK_COUNT_EVENTS, 1);
    ek_metrics_count(s->metrics, EK_COUNT_ROLLED_BACK + change.withdrawn,
                     change.withdrawn != EK_GUARDRAIL_NONE);
    ek_metrics_count(s->metrics, EK_COUNT_DETECTED, (uint64_t)change.detected);
    ek_metrics_count(s->metrics, EK_COUNT_ENFORCED, (uint64_t)change.enforced);
    bool common = is_common(s, v), ours = !common || s->decided_here; /* one tells for all */
    if (s->output && ours && !(common && s->hears_again))
        ek_output_send_event(s->output, v, json);
    ek_alerts_receive(s->alerts, v, ours);
    if (s->hear)
        s->hear(s->listener, v);
}

/* The only place of a stage that makes JSON of events. */
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

static void show_progress(struct ek_guard_service *s)
{
    ek_metrics_gauge(s->metrics, EK_GAUGE_LISTS, ek_guard_list_count(s->guard));
    ek_metrics_gauge(s->metrics, EK_GAUGE_PLAN_VERSION, ek_guard_plan_version(s->guard));
}

void ek_guard_service_set_pause(struct ek_guard_service *s, struct ek_pause *pause)
{
    s->pause = pause;
}

static void show_pause(struct ek_guard_service *s)
{
    ek_metrics_gauge(s->metrics, EK_GAUGE_PAUSED, ek_pause_is_on(s->pause));
}

/* That it is paused was told when it began. */
static void restore_pause(struct ek_guard_service *s, const struct ek_decision_record *since)
{
    struct ek_event v = {.kind = EK_EVENT_DECISION, .time_ms = since->time_ms, .decision = *since};
    v.decision.what = EK_DECIDED_PAUSE;
    ek_alerts_replay(s->alerts, &v, !s->member.name);
}

/* A guard that was saved while it was paused still is. In a fleet it does not keep that itself: the
 * plan, or who paused this instance, ends it. */
static void follow_pause(struct ek_guard_service *s)
{
    struct ek_decision_record since;
    if (!s->pause || !ek_guard_paused(s->guard, &since))
        return;
    ek_pause_restore(s->pause, since.time_ms, since.who, since.why);
    show_pause(s);
    restore_pause(s, &since);
    if (s->member.name)
        ek_guard_clear_pause(s->guard);
}

/* In a fleet the decider says it for all; until it does, a pause is of this instance alone. */
static bool pause_here(struct ek_guard_service *s, bool paused, const char *who, const char *why)
{
    pthread_mutex_lock(&s->lock);
    bool changed =
        (paused || !s->fleet_paused) && ek_pause_set(s->pause, paused, ek_wall_ms(), who, why);
    show_pause(s);
    pthread_mutex_unlock(&s->lock);
    return changed;
}

/* What all are told; an instance that was paused alone stays so until somebody ends that. */
static void follow_fleet(struct ek_guard_service *s)
{
    const struct ek_instance_plans *plans = ek_guard_plans(s->guard);
    if (!s->pause || !plans ||
        !ek_instance_plans_has_version(plans)) /* nobody has said otherwise */
        return;
    bool paused = ek_instance_plans_memory(plans, NULL).paused;
    if (paused == s->fleet_paused)
        return;
    s->fleet_paused = paused;
    ek_pause_set(s->pause, paused, ek_wall_ms(), NULL, NULL);
    show_pause(s);
}

bool ek_guard_service_pause(struct ek_guard_service *s, bool paused, const char *who,
                            const char *why)
{
    struct ek_error e;
    if (s->member.name)
        return pause_here(s, paused, who, why);
    /* Whoever has the guard now, and for how long. */
    bool changed = paused && ek_pause_set(s->pause, true, ek_wall_ms(), who, why);
    pthread_mutex_lock(&s->lock);
    int rc = ek_guard_advance(s->guard, ek_guard_service_clock_ms(s), &e);
    if (!rc)
        rc = paused ? ek_guard_pause(s->guard, who, why, &e)
                    : ek_guard_resume(s->guard, who, why, &e);
    if (!paused)
        changed = ek_pause_set(s->pause, false, ek_wall_ms(), who, why);
    drain_events(s);
    show_progress(s);
    show_pause(s);
    pthread_mutex_unlock(&s->lock);
    if (rc)
        ek_log_text(s->log, EK_LOG_ERROR, "pause_not_saved", e.message);
    return changed;
}

int ek_guard_service_add_fleet_decision(struct ek_guard_service *s,
                                        const struct ek_decision_record *m)
{
    struct ek_decision_record own = *m;
    own.number = own.query = 0;
    if (m->what == EK_DECIDED_PAUSE && s->pause)
        ek_pause_set_actor(s->pause, m->who, m->why);
    return ek_guard_service_add_decision(s, &own);
}

int ek_guard_service_check(struct ek_guard_service *s, const struct ek_order *o, uint64_t *manifest,
                           struct ek_error *e)
{
    pthread_mutex_lock(&s->lock);
    *manifest = ek_guard_assets(s->guard)->manifest->hash;
    int rc = ek_guard_check_order(s->guard, o, e);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int ek_guard_service_add_decision(struct ek_guard_service *s, const struct ek_decision_record *m)
{
    pthread_mutex_lock(&s->lock);
    int rc = ek_guard_add_decision(s->guard, m);
    drain_events(s);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int ek_guard_service_history(struct ek_guard_service *s, const struct ek_history_request *w,
                             struct ek_buf *out, struct ek_error *e)
{
    pthread_mutex_lock(&s->lock);
    int rc = ek_guard_history(s->guard, w, out, e);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int ek_guard_service_pins(struct ek_guard_service *s, struct ek_buf *out)
{
    pthread_mutex_lock(&s->lock);
    int rc = ek_guard_pins_json(s->guard, out);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int ek_guard_service_accepts(struct ek_guard_service *s, struct ek_buf *out)
{
    pthread_mutex_lock(&s->lock);
    int rc = ek_guard_accepts_json(s->guard, out);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* A partition may be lost, or be gone back in, while its lists are on their way: then they come
 * again, here or elsewhere, and count when they do. */
static void update_one(struct ek_guard_service *s, struct ek_guard_service_list *l, int64_t now_ms)
{
    const struct ek_inflight *t = l->inflight;
    bool loose = ek_inflight_is_revoked(t);
    if (loose || t->lane->closed || t->offset < t->lane->seen) {
        l->rc = ek_guard_peek(s->guard, l->context, &l->why);
        ek_metrics_count(s->metrics, EK_COUNT_OUTPUT_ONLY, !loose && !t->no_output);
        return;
    }
    l->rc = ek_guard_update(s->guard, l->context, now_ms, &l->why);
    if (!l->rc)
        t->lane->seen = t->offset + 1;
    ek_metrics_count(s->metrics, EK_COUNT_STATE_ONLY, t->no_output);
}

static bool has_assets_of(const struct ek_guard_service *s,
                          const struct ek_guard_service_list *lists, size_t count)
{
    return !count || lists[0].context->assets == ek_guard_assets(s->guard);
}

bool ek_guard_service_update(struct ek_guard_service *s, struct ek_guard_service_list *lists,
                             size_t count, int64_t now_ms, struct ek_shadow_scorer *tries)
{
    pthread_mutex_lock(&s->lock);
    if (!has_assets_of(s, lists, count)) {
        pthread_mutex_unlock(&s->lock);
        return false;
    }
    ek_shadow_scorer_report(tries, s->guard);
    for (size_t i = 0; i < count; i++) {
        struct ek_guard_service_list *l = &lists[i];
        if (!l->rc)
            update_one(s, l, now_ms);
        drain_events(s);
    }
    if (ek_guard_has_found(s->guard))
        s->member.found(s->member.context);
    show_progress(s);
    pthread_mutex_unlock(&s->lock);
    return true;
}

void ek_guard_service_add_trials(struct ek_guard_service *s, struct ek_shadow_scorer *tries)
{
    pthread_mutex_lock(&s->lock);
    ek_shadow_scorer_report(tries, s->guard);
    pthread_mutex_unlock(&s->lock);
}

/* Ticks are numbered anew by each guard, so its start must be later than that of the one before. */
static int join_fleet(struct ek_guard_service *s, struct ek_error *e)
{
    uint64_t now = (uint64_t)ek_wall_ms();
    s->start = now > s->start ? now : s->start + 1;
    return ek_guard_join(s->guard, s->member.name, s->start, s->member.cells, e);
}

/* What the guard before this one heard. Its findings are told once more, here alone; alerts go on
 * with them, whose they are. */
static int replay_plans(struct ek_guard_service *s, struct ek_error *e)
{
    int rc = EK_OK;
    s->callbacks = s->hears_again = true;
    for (int i = 0; i < ek_plan_cache_count(&s->heard) && !rc; i++) {
        const struct ek_buf *record = ek_plan_cache_get(&s->heard, i);
        rc = ek_guard_restore_plan(s->guard, record->data, record->length, s->heard.heard_ms, e);
    }
    drain_events(s);
    s->callbacks = s->hears_again = false;
    return rc;
}

/* A guard that has taken the place of another one is no instance yet. */
static int stay_in_fleet(struct ek_guard_service *s, struct ek_error *e)
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
        rc = stay_in_fleet(s, e);
    follow_pause(s);
    drain_events(s);
    show_progress(s);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* Reports what waits, and hands the decision of that kind to `write`. */
static int report_order(struct ek_guard_service *s, enum ek_decision_kind what,
                        int (*write)(void *context, const struct ek_decision_record *m),
                        void *context)
{
    const struct ek_event *v;
    int rc = EK_OK;
    while ((v = ek_guard_pop_event(s->guard))) {
        if (!rc && v->kind == EK_EVENT_DECISION && v->decision.what == what)
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
    if (!rc && report_order(s, what, write, context))
        rc = ek_fail(e, EK_ENOMEM, "it is done, but there is no memory to tell it");
    drain_events(s);
    show_progress(s);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

const struct ek_assets *ek_guard_service_lock_assets(struct ek_guard_service *s)
{
    pthread_mutex_lock(&s->assets);
    return ek_guard_assets(s->guard); /* another guard of theirs may take its place meanwhile */
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

/* What is shown is of the new traffic. Of a guard that began anew nothing is open. */
static void log_assets(struct ek_guard_service *s, const struct ek_guard_service_assets *turn,
                       enum ek_restore_result fit)
{
    const struct ek_agreement_watch *watch = ek_guard_agreement(s->guard);
    ek_feature_stats_set_assets(turn->board, turn->assets->manifest, turn->assets->rules,
                                ek_guard_traffic(s->guard));
    if (!watch)
        ek_agreement_cache_clear(turn->agreement);
    ek_agreement_cache_set(turn->agreement, watch);
    if (fit == EK_RESTORE_COUNTERS_ONLY) {
        ek_event_log_reset(s->event_log);
        ek_alerts_reset(s->alerts);
        ek_feature_history_clear(turn->tracks);
    }
}

static int switch_guard(struct ek_guard_service *s, const struct ek_guard_service_assets *turn,
                        enum ek_restore_result *fit, struct ek_error *e)
{
    struct ek_error why;
    if (ek_feature_stats_reserve(turn->board, turn->assets->rules->windows.max_segments))
        return ek_fail(e, EK_ENOMEM, "no memory for the figures of features");
    int rc = ek_guard_set_assets(s->guard, turn->assets, fit, e);
    if (rc)
        return rc;
    turn->turned(turn->context);
    log_assets(s, turn, *fit);
    if (stay_in_fleet(s, &why)) /* which is tried again with the next tick */
        ek_log_text(s->log, EK_LOG_ERROR, "fleet_join_failed", why.message);
    follow_pause(s);
    drain_events(s);
    show_progress(s);
    return EK_OK;
}

int ek_guard_service_set_assets(struct ek_guard_service *s,
                                const struct ek_guard_service_assets *turn,
                                enum ek_restore_result *fit, struct ek_error *e)
{
    pthread_mutex_lock(&s->assets);
    pthread_mutex_lock(&s->lock);
    int rc = switch_guard(s, turn, fit, e);
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_unlock(&s->assets);
    return rc;
}

static void show_items(struct ek_guard_service *s)
{
    const struct ek_assembly_counts c = ek_guard_item_counts(s->guard);
    ek_metrics_gauge(s->metrics, EK_GAUGE_ITEM_LISTS_COMPLETE, c.complete);
    ek_metrics_gauge(s->metrics, EK_GAUGE_ITEM_LISTS_INCOMPLETE, c.cut);
    ek_metrics_gauge(s->metrics, EK_GAUGE_ITEM_LISTS_UNKNOWN, c.unsaid);
    ek_metrics_gauge(s->metrics, EK_GAUGE_ITEMS_REPEATED, c.repeated);
    ek_metrics_gauge(s->metrics, EK_GAUGE_ITEMS_LATE, c.late);
    ek_metrics_gauge(s->metrics, EK_GAUGE_LISTS_EVICTED, c.forgotten);
}

/* Counters only rise, so what is read a moment later counts with the next tick. */
static void report_load(struct ek_guard_service *s)
{
    static const enum ek_counter lists[] = {EK_COUNT_PASSED, EK_COUNT_ROUTED},
                                 dead[] = {EK_COUNT_DEAD_PASSED, EK_COUNT_DEAD_ROUTED};
    struct ek_output_counts news;
    for (int i = 0; i < 2; i++) {
        uint64_t l = ek_metrics_counter(s->metrics, lists[i]),
                 d = ek_metrics_counter(s->metrics, dead[i]);
        news.lists[i] = l - s->told.lists[i];
        news.dead[i] = d - s->told.dead[i];
        s->told.lists[i] = l;
        s->told.dead[i] = d;
    }
    ek_guard_set_output_counts(s->guard, &news);
}

int ek_guard_service_advance(struct ek_guard_service *s, struct ek_agreement_cache *agreement,
                             struct ek_error *e)
{
    pthread_mutex_lock(&s->lock);
    report_load(s);
    int rc = ek_guard_advance(s->guard, ek_guard_service_clock_ms(s), e);
    drain_events(s);
    show_progress(s);
    struct ek_limit_counters beyond = ek_guard_limit_counters(s->guard);
    for (int i = 0; i < EK_BOUNDS_ALL; i++)
        ek_metrics_gauge(s->metrics, (enum ek_gauge)(EK_GAUGE_LIMIT_EXCEEDED + i), beyond.count[i]);
    show_items(s);
    ek_agreement_cache_set(agreement, ek_guard_agreement(s->guard));
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int64_t ek_guard_service_clock_ms(const struct ek_guard_service *s)
{
    return ek_now_ms() + s->ahead_ms;
}

int ek_guard_service_update_stats(struct ek_guard_service *s, struct ek_feature_stats *board)
{
    pthread_mutex_lock(&s->lock);
    int rc = ek_feature_stats_update(board);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

void ek_guard_service_update_history(struct ek_guard_service *s, struct ek_feature_history *tracks)
{
    pthread_mutex_lock(&s->lock);
    ek_feature_history_step(tracks, ek_guard_detector(s->guard),
                            ek_guard_assets(s->guard)->profile->features);
    pthread_mutex_unlock(&s->lock);
}

int ek_guard_service_join(struct ek_guard_service *s, const struct ek_guard_service_member *member,
                          struct ek_error *e)
{
    s->member = *member;
    return stay_in_fleet(s, e);
}

bool ek_guard_service_is_sampled(struct ek_guard_service *s)
{
    pthread_mutex_lock(&s->lock);
    bool asked = ek_guard_is_sampled(s->guard);
    pthread_mutex_unlock(&s->lock);
    return asked;
}

int ek_guard_service_write_report(struct ek_guard_service *s, bool early,
                                  int (*write)(void *context, const void *bytes, size_t length),
                                  void *context, struct ek_error *e)
{
    pthread_mutex_lock(&s->lock);
    int rc = stay_in_fleet(s, e);
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
    return ek_plan_cache_add(&s->heard, version, bytes, length, now_ms)
               ? ek_fail(e, EK_ENOMEM, "no memory for the plan of the fleet")
               : EK_OK;
}

/* For a moment two may decide: whose plan counts is what all see alike. */
static bool is_ours(const struct ek_guard_service *s)
{
    const struct ek_instance_plans *plans = ek_guard_plans(s->guard);
    return plans && !strcmp(ek_instance_plans_order(plans)->decider, s->member.name);
}

int ek_guard_service_receive_plan(struct ek_guard_service *s, const void *bytes, size_t length,
                                  int64_t now_ms, bool decides, bool *counts, struct ek_error *e)
{
    *counts = false;
    pthread_mutex_lock(&s->lock);
    int rc = stay_in_fleet(s, e);
    s->callbacks = true;
    if (!rc)
        rc = receive_plan(s, bytes, length, now_ms, counts, e);
    bool before = s->decided_here;
    s->decided_here = decides && is_ours(s);
    if (s->decided_here && !before)
        ek_alerts_become_leader(s->alerts);
    follow_fleet(s);
    drain_events(s);
    s->callbacks = false;
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
        out->missed = ek_instance_plans_unresolved_count(plans);
        memcpy(out->decider, order->decider, sizeof out->decider);
    }
    pthread_mutex_unlock(&s->lock);
}

struct ek_guard *ek_guard_service_guard(struct ek_guard_service *s)
{
    return s->guard;
}

uint64_t ek_guard_service_list_count(struct ek_guard_service *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t queries = ek_guard_list_count(s->guard);
    pthread_mutex_unlock(&s->lock);
    return queries;
}
