#include "daemon/fleet/fleet.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/config/instance.h"
#include "daemon/fleet/fleet_commands.h"
#include "daemon/fleet/fleet_status.h"
#include "daemon/fleet/leader_election.h"
#include "daemon/kafka/fleet_topics.h"
#include "fleet/leader.h"
#include "serve/assets.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

void ek_rate_limiter_request(struct ek_rate_limiter *p)
{
    p->asked = true;
}

int64_t ek_rate_limiter_wait_ms(const struct ek_rate_limiter *p, int64_t now_ms)
{
    int64_t early_ms = p->last_ms + p->gap_ms;
    int64_t at_ms = p->asked && early_ms < p->due_ms ? early_ms : p->due_ms;
    return at_ms > now_ms ? at_ms - now_ms : 0;
}

enum ek_rate_limiter_event ek_rate_limiter_next(struct ek_rate_limiter *p, int64_t now_ms)
{
    if (ek_rate_limiter_wait_ms(p, now_ms))
        return EK_RATE_WAIT;
    p->asked = false;
    p->last_ms = now_ms;
    if (now_ms < p->due_ms)
        return EK_RATE_EARLY;
    int64_t next_ms = p->due_ms + p->every_ms;
    p->due_ms = next_ms > now_ms ? next_ms : now_ms + p->every_ms; /* late ones are left out */
    return EK_RATE_REPORT;
}

enum {
    SLICE_MS = 50,         /* longest wait for a record: how late a stop is seen */
    TELL_PARTS = 4,        /* of a tick, between what is told before it is over */
    LOOK_PARTS = 20,       /* and between looks at what others tell */
    LOG_END_MS = 500,      /* one question for the end of the plan's log */
    TELL_EVERY_MS = 60000, /* the same fault of others' records */
    OUTBOX_BYTES_MAX = 256 << 20
};

/* A decider with what it decides by. */
struct deciding {
    struct ek_leader *decider;
    struct ek_asset_ref *assets;
};

struct ek_fleet {
    struct ek_fleet_tools tools;
    char name[EK_INSTANCE_BYTES];
    struct ek_fleet_link *link;
    struct deciding in_use;
    struct deciding laid, next; /* that takes its place; that may */
    struct ek_buf last;         /* record of the plan's log */
    struct ek_leader_election duty;
    struct ek_fleet_commands *orders;
    uint64_t heard[EK_FLEET_COMMANDS_RETAINED],
        answers;                 /* ids of the last answers that were told */
    struct ek_buf pins, accepts; /* as JSON, under the lock */
    struct ek_buf outbox, plan;  /* records of a tick, lengths before them; of the plan */
    struct ek_rate_limiter telling, deciding;
    int64_t look_due_ms, refused_told_ms;
    int64_t live_ms; /* since when lists have come, or the fleet was heard; 0: not yet */
    bool cut_off;
    struct ek_fleet_names names;
    struct ek_fleet_event_sink mouth;
    pthread_t thread;
    bool started;
    atomic_bool stopping, knows_plan;
    _Atomic uint64_t gains; /* of the first partition, ever */
    atomic_bool owned;
    atomic_bool found;    /* something that the fleet should hear of now */
    atomic_bool turns;    /* there is one laid */
    pthread_mutex_t lock; /* of the figures, and of what is laid */
    struct ek_fleet_metrics_values figures;
};

static void free_deciding(struct deciding *d)
{
    ek_leader_free(d->decider);
    ek_asset_ref_release(d->assets);
    *d = (struct deciding){NULL, NULL};
}

static int make_decider(const struct ek_fleet *f, struct ek_asset_ref *assets, struct deciding *out,
                        struct ek_error *e)
{
    const struct ek_assets *a = ek_asset_ref_get(assets);
    const struct ek_leader_setup setup = {.manifest = a->manifest,
                                          .profile = a->profile,
                                          .rules = a->rules,
                                          .have_model = a->model != NULL,
                                          .name = f->name,
                                          .places = (int)f->tools.config->fleet_places};
    int rc = ek_leader_new(&out->decider, &setup, e);
    if (!rc)
        out->assets = ek_asset_ref_retain(assets);
    return rc;
}

static void set_next(struct ek_fleet *f, struct deciding next)
{
    pthread_mutex_lock(&f->lock);
    struct deciding gone = f->next;
    f->next = next;
    pthread_mutex_unlock(&f->lock);
    free_deciding(&gone);
}

int ek_fleet_stage_assets(struct ek_fleet *f, struct ek_asset_ref *assets, struct ek_error *e)
{
    struct deciding next = {NULL, NULL};
    int rc = make_decider(f, assets, &next, e);
    if (!rc)
        set_next(f, next);
    return rc;
}

void ek_fleet_discard_assets(struct ek_fleet *f)
{
    set_next(f, (struct deciding){NULL, NULL});
}

void ek_fleet_commit_assets(struct ek_fleet *f)
{
    pthread_mutex_lock(&f->lock);
    struct deciding gone = f->laid;
    f->laid = f->next;
    f->next = (struct deciding){NULL, NULL};
    atomic_store(&f->turns, true);
    pthread_mutex_unlock(&f->lock);
    free_deciding(&gone);
}

static void on_found(void *context)
{
    struct ek_fleet *f = context;
    if (!atomic_exchange(&f->found, true))
        ek_fleet_link_wake(f->link);
}

static int join(struct ek_fleet *f, struct ek_error *e)
{
    const struct ek_guard_service_member member = {f->name, (int)f->tools.config->fleet_cells,
                                                   on_found, f};
    return ek_guard_service_join(f->tools.guard, &member, e);
}

static int make_parts(struct ek_fleet *f, struct ek_error *e)
{
    const struct ek_fleet_tools *t = &f->tools;
    int64_t tick_ms = t->config->fleet_tick_ms;
    f->telling = (struct ek_rate_limiter){.every_ms = tick_ms, .gap_ms = tick_ms / TELL_PARTS};
    f->deciding = (struct ek_rate_limiter){.every_ms = tick_ms, .gap_ms = tick_ms / LOOK_PARTS};
    int rc = ek_instance_name(t->config, f->name, e);
    if (!rc && ek_fleet_commands_new(&f->orders, f->name, (uint64_t)ek_wall_ms()))
        rc = ek_fail(e, EK_ENOMEM, "no memory for the fleet");
    if (!rc)
        rc = make_decider(f, t->assets, &f->in_use, e);
    if (!rc)
        rc = ek_fleet_link_new(&f->link, t->config, t->metrics, t->log, e);
    return rc ? rc : join(f, e);
}

const char *ek_fleet_name(const struct ek_fleet *f)
{
    return f->name;
}

int ek_fleet_new(struct ek_fleet **out, const struct ek_fleet_tools *tools, struct ek_error *e)
{
    struct ek_fleet *f = ek_calloc(1, sizeof *f);
    if (!f)
        return ek_fail(e, EK_ENOMEM, "no memory for the fleet");
    f->tools = *tools;
    f->mouth = (struct ek_fleet_event_sink){tools->guard, tools->log};
    pthread_mutex_init(&f->lock, NULL);
    ek_buf_init(&f->outbox, OUTBOX_BYTES_MAX);
    ek_buf_init(&f->plan, OUTBOX_BYTES_MAX);
    ek_buf_init(&f->last, 0);
    ek_buf_init(&f->pins, 0);
    ek_buf_init(&f->accepts, 0);
    int rc = make_parts(f, e);
    if (rc)
        ek_fleet_free(f);
    else
        *out = f;
    return rc;
}

void ek_fleet_free(struct ek_fleet *f)
{
    if (!f)
        return;
    ek_fleet_stop(f);
    ek_fleet_link_free(f->link);
    free_deciding(&f->in_use);
    free_deciding(&f->laid);
    free_deciding(&f->next);
    ek_fleet_commands_free(f->orders);
    ek_buf_release(&f->pins);
    ek_buf_release(&f->accepts);
    ek_buf_release(&f->last);
    ek_buf_release(&f->outbox);
    ek_buf_release(&f->plan);
    pthread_mutex_destroy(&f->lock);
    ek_free(f);
}

int ek_fleet_prepare(struct ek_fleet *f, int wait_ms, bool *ready, struct ek_error *e)
{
    return ek_fleet_link_prepare(f->link, wait_ms, ready, e);
}

void ek_fleet_set_candidate(struct ek_fleet *f, bool own)
{
    if (own && !atomic_load(&f->owned))
        atomic_fetch_add(&f->gains, 1);
    atomic_store(&f->owned, own);
}

/* A copy, for when the guard's lock is free again. */
static int add_record(void *context, const void *bytes, size_t length)
{
    struct ek_buf *outbox = context;
    int rc = ek_buf_add(outbox, &length, sizeof length);
    return rc ? rc : ek_buf_add(outbox, bytes, length);
}

static void report_lists(struct ek_fleet *f, bool early)
{
    struct ek_error e;
    size_t length;
    ek_buf_clear(&f->outbox);
    if (ek_guard_service_write_report(f->tools.guard, early, add_record, &f->outbox, &e))
        ek_log_text(f->tools.log, EK_LOG_ERROR, "fleet_report_dropped", e.message);
    for (size_t at = 0; at < f->outbox.length; at += length) {
        memcpy(&length, f->outbox.data + at, sizeof length);
        at += sizeof length;
        ek_fleet_link_send(f->link, EK_TOPIC_EVIDENCE, f->name, f->outbox.data + at, length);
    }
}

/* What is confirmed comes back with the plan, to all instances alike. */
static void report_suspicions(struct ek_fleet *f)
{
    const struct ek_manifest *m = ek_asset_ref_get(f->in_use.assets)->manifest;
    struct ek_finding found;
    while (ek_leader_next(f->in_use.decider, &found))
        if (found.state == EK_SUSPECTED)
            ek_log_write(f->tools.log, EK_LOG_INFO, "fleet_suspected", "feature=%s signal=%s",
                         m->item[found.feature]->name, found.signal);
}

static int send_answer(void *context, const void *bytes, size_t length)
{
    static const char key[] = "answer";
    ek_fleet_link_send(((struct ek_fleet *)context)->link, EK_TOPIC_PLAN, key, bytes, length);
    return EK_OK;
}

static void decide(struct ek_fleet *f, bool early, int64_t now)
{
    static const char key[] = "plan";
    struct ek_error e;
    ek_buf_clear(&f->plan);
    int rc = early ? ek_leader_check(f->in_use.decider, now, &f->plan, &e)
                   : ek_leader_advance(f->in_use.decider, now, &f->plan, &e);
    if (rc)
        ek_log_text(f->tools.log, EK_LOG_ERROR, "fleet_plan_dropped", e.message);
    else if (f->plan.length)
        ek_fleet_link_send(f->link, EK_TOPIC_PLAN, key, f->plan.data, f->plan.length);
    if (!rc && ek_leader_write_replies(f->in_use.decider, send_answer, f))
        ek_log_text(f->tools.log, EK_LOG_ERROR, "fleet_result_dropped", "no memory for an answer");
    report_suspicions(f);
}

/* Records of other instances are not ours to mend: one in a while is told. */
static void report_rejected(struct ek_fleet *f, const char *why)
{
    int64_t now = ek_now_ms();
    if (f->refused_told_ms && now - f->refused_told_ms < TELL_EVERY_MS)
        return;
    f->refused_told_ms = now;
    ek_log_text(f->tools.log, EK_LOG_WARN, "fleet_record_rejected", why);
}

/* Kept for a decider that takes the place of this one. */
static int store_last(struct ek_fleet *f, const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_buf copy;
    ek_buf_init(&copy, 0);
    if (ek_buf_add(&copy, bytes, length))
        return ek_fail(e, EK_ENOMEM, "no memory for the plan of the fleet");
    ek_buf_release(&f->last);
    f->last = copy;
    return EK_OK;
}

typedef int said_json(const void *bytes, size_t length, const struct ek_manifest *m,
                      struct ek_buf *out);

/* Where there is no memory for it, what was said before is shown. */
static void update_state(struct ek_fleet *f, const void *bytes, size_t length, said_json *json,
                         struct ek_buf *shown)
{
    struct ek_buf now;
    ek_buf_init(&now, 0);
    if (json(bytes, length, ek_asset_ref_get(f->in_use.assets)->manifest, &now)) {
        ek_buf_release(&now);
        return;
    }
    pthread_mutex_lock(&f->lock);
    struct ek_buf gone = *shown;
    *shown = now;
    pthread_mutex_unlock(&f->lock);
    ek_buf_release(&gone);
}

static void show_plan(struct ek_fleet *f, const void *bytes, size_t length)
{
    update_state(f, bytes, length, ek_fleet_pins_json, &f->pins);
    update_state(f, bytes, length, ek_fleet_accepts_json, &f->accepts);
}

static void receive_plan(struct ek_fleet *f, const void *bytes, size_t length, int64_t now)
{
    struct ek_error e;
    int rc = ek_leader_apply_record(f->in_use.decider, bytes, length, &e);
    bool decides = ek_leader_is_active(f->in_use.decider);
    bool counts = false;
    if (!rc)
        rc =
            ek_guard_service_receive_plan(f->tools.guard, bytes, length, now, decides, &counts, &e);
    if (!rc && counts)
        rc = store_last(f, bytes, length, &e);
    if (rc)
        report_rejected(f, e.message);
    else if (counts)
        show_plan(f, bytes, length);
}

/* Whether it was told before: the decider answers as often as it is asked. */
static bool is_known(struct ek_fleet *f, const char *id)
{
    uint64_t hash = ek_hash(id, strlen(id), 0);
    for (int i = 0; i < EK_FLEET_COMMANDS_RETAINED; i++)
        if (f->heard[i] == hash)
            return true;
    f->heard[f->answers++ % EK_FLEET_COMMANDS_RETAINED] = hash;
    return false;
}

/* What is in the log from before the start is no news. */
static void receive_reply(struct ek_fleet *f, const void *bytes, size_t length)
{
    struct ek_fleet_reply r;
    struct ek_error e;
    if (ek_fleet_reply_open(&r, bytes, length, &e)) {
        report_rejected(f, e.message);
        return;
    }
    ek_fleet_commands_receive(f->orders, &r);
    bool news = !r.code && atomic_load(&f->knows_plan);
    if (news && !is_known(f, r.decided.is.request) &&
        ek_guard_service_add_fleet_decision(f->tools.guard, &r.decided.is))
        ek_log_text(f->tools.log, EK_LOG_ERROR, "event_dropped", "no memory for an event");
}

/* While the decider does not know what a change is, its lists are told as they come. */
static void process_requests(struct ek_fleet *f)
{
    if (ek_guard_service_is_sampled(f->tools.guard))
        ek_rate_limiter_request(&f->telling);
}

static void receive_record(struct ek_fleet *f, enum ek_fleet_topic topic, const void *bytes,
                           size_t length)
{
    struct ek_error e;
    int64_t now = ek_now_ms();
    if (topic == EK_TOPIC_PLAN && ek_record_has_kind(bytes, length, EK_FLEET_REPLY)) {
        receive_reply(f, bytes, length);
        return;
    }
    if (topic == EK_TOPIC_PLAN) {
        receive_plan(f, bytes, length, now);
        process_requests(f);
        return;
    }
    ek_rate_limiter_request(&f->deciding);
    if (ek_leader_receive(f->in_use.decider, bytes, length, now, &e))
        report_rejected(f, e.message);
}

static void begin(struct ek_fleet *f, int64_t now)
{
    if (!ek_fleet_link_at_end(f->link, LOG_END_MS))
        return;
    atomic_store(&f->knows_plan, true);
    ek_leader_start(f->in_use.decider, now);
    ek_leader_election_started(&f->duty);
    ek_log_write(f->tools.log, EK_LOG_INFO, "leader_elected", "instance=%s version=%llu", f->name,
                 (unsigned long long)ek_leader_version(f->in_use.decider));
}

static void end(struct ek_fleet *f)
{
    ek_leader_stop(f->in_use.decider);
    ek_log_write(f->tools.log, EK_LOG_INFO, "leader_resigned", "instance=%s", f->name);
}

static void check_leadership(struct ek_fleet *f, int64_t age_ms, int64_t now)
{
    const struct ek_config *c = f->tools.config;
    bool owned = atomic_load(&f->owned);
    const struct ek_leader_election_view view = {.gain = owned ? atomic_load(&f->gains) : 0,
                                                 .decides = ek_leader_is_active(f->in_use.decider),
                                                 .age_ms = age_ms,
                                                 .silent_ms = c->fleet_silent_ms,
                                                 .grace_ms = c->fleet_tick_ms,
                                                 .now_ms = now};
    enum ek_leader_election_action act = ek_leader_election_step(&f->duty, &view);
    ek_fleet_link_set_reports(f->link, act == EK_ELECTION_START ||
                                           (view.decides && act != EK_ELECTION_RESIGN));
    if (act == EK_ELECTION_START)
        begin(f, now);
    if (act == EK_ELECTION_RESIGN)
        end(f);
}

/* How long the plan has been silent; while nobody has seen a list there is none to be heard. */
static int64_t silence(struct ek_fleet *f, const struct ek_guard_service_fleet *heard, int64_t now)
{
    if (!f->live_ms && (heard->lists || heard->age_ms >= 0))
        f->live_ms = now;
    return heard->age_ms >= 0 ? heard->age_ms : f->live_ms ? now - f->live_ms : 0;
}

static void check_silence(struct ek_fleet *f, const struct ek_guard_service_fleet *heard,
                          int64_t age_ms)
{
    bool cut_off = age_ms > f->tools.config->fleet_silent_ms;
    if (cut_off && !f->cut_off)
        ek_log_write(f->tools.log, EK_LOG_WARN, "fleet_plan_stale",
                     "silent_ms=%lld version=%llu decider=%s message=\"no plan is heard: the last "
                     "one stays in force\"",
                     (long long)age_ms, (unsigned long long)heard->version, heard->decider);
    if (!cut_off && f->cut_off)
        ek_log_write(f->tools.log, EK_LOG_INFO, "fleet_plan_recovered", "version=%llu decider=%s",
                     (unsigned long long)heard->version, heard->decider);
    if (cut_off != f->cut_off)
        ek_fleet_report_change(&f->mouth, f->name,
                               cut_off ? EK_CHANGE_PLAN_STALE : EK_CHANGE_PLAN_RECOVERED);
    f->cut_off = cut_off;
}

static void show(struct ek_fleet *f, const struct ek_guard_service_fleet *heard, int64_t age_ms,
                 int64_t now)
{
    const struct ek_fleet_pool *pool = ek_leader_pool(f->in_use.decider);
    struct ek_fleet_metrics_values figures = {.heard = *heard,
                                              .age_ms = age_ms,
                                              .cut_off = f->cut_off,
                                              .decides = ek_leader_is_active(f->in_use.decider),
                                              .counts = ek_fleet_pool_counts(pool),
                                              .traffic = ek_fleet_link_traffic(f->link)};
    memcpy(figures.name, f->name, sizeof figures.name);
    figures.instances = figures.decides ? ek_fleet_pool_instances(pool, now) : 0;
    figures.shared = f->names.shared;
    pthread_mutex_lock(&f->lock);
    f->figures = figures;
    pthread_mutex_unlock(&f->lock);
}

static void send_order(void *context, const void *bytes, size_t length)
{
    struct ek_fleet *f = context;
    ek_fleet_link_send(f->link, EK_TOPIC_EVIDENCE, f->name, bytes, length);
}

static void run_periodic(struct ek_fleet *f, int64_t now)
{
    ek_fleet_commands_send_due(f->orders, now, send_order, f);
    if (atomic_load(&f->found))
        ek_rate_limiter_request(&f->telling);
    enum ek_rate_limiter_event switch_leader = ek_rate_limiter_next(&f->telling, now);
    if (switch_leader != EK_RATE_WAIT) {
        atomic_store(&f->found, false);
        report_lists(f, switch_leader == EK_RATE_EARLY);
        process_requests(f);
    }
    switch_leader = ek_rate_limiter_next(&f->deciding, now);
    if (switch_leader != EK_RATE_WAIT && ek_leader_is_active(f->in_use.decider))
        decide(f, switch_leader == EK_RATE_EARLY, now);
}

/* Until the next turn, or a look around. */
static int nap_ms(const struct ek_fleet *f, int64_t now)
{
    int64_t tell_ms = ek_rate_limiter_wait_ms(&f->telling, now);
    int64_t left_ms = ek_rate_limiter_wait_ms(&f->deciding, now);
    left_ms = tell_ms < left_ms ? tell_ms : left_ms;
    return left_ms < SLICE_MS ? (int)left_ms : SLICE_MS;
}

static void check_peers(struct ek_fleet *f, int64_t now)
{
    struct ek_guard_service_fleet heard;
    f->look_due_ms = now + SLICE_MS;
    if (!atomic_load(&f->knows_plan))
        atomic_store(&f->knows_plan, ek_fleet_link_at_end(f->link, LOG_END_MS));
    ek_guard_service_fleet_state(f->tools.guard, now, &heard);
    int64_t age_ms = silence(f, &heard, now);
    check_leadership(f, age_ms, now);
    check_silence(f, &heard, age_ms);
    bool decides = ek_leader_is_active(f->in_use.decider);
    ek_fleet_names_check(&f->names, decides ? ek_leader_pool(f->in_use.decider) : NULL, now,
                         &f->mouth);
    show(f, &heard, age_ms, now);
}

static struct deciding pop_next(struct ek_fleet *f)
{
    pthread_mutex_lock(&f->lock);
    struct deciding laid = f->laid;
    f->laid = (struct deciding){NULL, NULL};
    atomic_store(&f->turns, false);
    pthread_mutex_unlock(&f->lock);
    return laid;
}

/* The one that was laid decides from here on, if we do. One that did not get the plan would take
 * all routes away: then the old one goes on. */
static void switch_leader(struct ek_fleet *f, int64_t now)
{
    struct ek_error e;
    struct deciding to = pop_next(f);
    bool decides = ek_leader_is_active(f->in_use.decider);
    int rc = !to.decider || !f->last.length
                 ? EK_OK
                 : ek_leader_apply_record(to.decider, f->last.data, f->last.length, &e);
    if (rc)
        ek_log_text(f->tools.log, EK_LOG_ERROR, "fleet_rules_rejected", e.message);
    if (rc || !to.decider) {
        free_deciding(&to);
        return;
    }
    if (decides)
        ek_leader_start(to.decider, now);
    free_deciding(&f->in_use);
    f->in_use = to;
}

static void *run(void *context)
{
    struct ek_fleet *f = context;
    const void *bytes;
    size_t length;
    while (!atomic_load(&f->stopping)) {
        int wait_ms = nap_ms(f, ek_now_ms());
        enum ek_fleet_topic topic = ek_fleet_link_next(f->link, wait_ms, &bytes, &length);
        if (topic != EK_TOPIC_NONE)
            receive_record(f, topic, bytes, length);
        int64_t now = ek_now_ms();
        if (atomic_load(&f->turns))
            switch_leader(f, now);
        run_periodic(f, now);
        if (topic == EK_TOPIC_NONE || now >= f->look_due_ms)
            check_peers(f, now);
    }
    return NULL;
}

int ek_fleet_start(struct ek_fleet *f, struct ek_error *e)
{
    int problem = pthread_create(&f->thread, NULL, run, f);
    if (problem)
        return ek_fail(e, EK_EIO, "cannot start the thread of the fleet: %s", strerror(problem));
    f->started = true;
    return EK_OK;
}

bool ek_fleet_has_read_plan(const struct ek_fleet *f)
{
    return atomic_load(&f->knows_plan);
}

void ek_fleet_stop(struct ek_fleet *f)
{
    atomic_store(&f->stopping, true);
    if (f->started)
        pthread_join(f->thread, NULL);
    f->started = false;
}

int ek_fleet_status(struct ek_fleet *f, struct ek_buf *out)
{
    pthread_mutex_lock(&f->lock);
    struct ek_fleet_metrics_values figures = f->figures;
    pthread_mutex_unlock(&f->lock);
    return ek_fleet_metrics_json(&figures, out);
}

int ek_fleet_metrics(struct ek_fleet *f, struct ek_buf *out)
{
    pthread_mutex_lock(&f->lock);
    struct ek_fleet_metrics_values figures = f->figures;
    pthread_mutex_unlock(&f->lock);
    return ek_fleet_metrics_write(&figures, out);
}

int ek_fleet_submit_command(struct ek_fleet *f, const struct ek_order *o, uint64_t *number,
                            struct ek_error *e)
{
    uint64_t manifest;
    int rc = ek_guard_service_check_command(f->tools.guard, o, &manifest, e);
    if (!rc && ek_fleet_commands_submit(f->orders, o, manifest, ek_now_ms(), number))
        rc = ek_fail(e, EK_ENOMEM, "no memory for an order");
    if (!rc)
        ek_fleet_link_wake(f->link);
    return rc;
}

int ek_fleet_commands_json_all(struct ek_fleet *f, struct ek_buf *out)
{
    return ek_fleet_commands_json(f->orders, out);
}

static int append_state(struct ek_fleet *f, const struct ek_buf *shown, struct ek_buf *out)
{
    pthread_mutex_lock(&f->lock);
    int rc = shown->length ? ek_buf_add(out, shown->data, shown->length) : ek_buf_text(out, "[]");
    pthread_mutex_unlock(&f->lock);
    return rc;
}

int ek_fleet_pins(struct ek_fleet *f, struct ek_buf *out)
{
    return append_state(f, &f->pins, out);
}

int ek_fleet_accepts(struct ek_fleet *f, struct ek_buf *out)
{
    return append_state(f, &f->accepts, out);
}
