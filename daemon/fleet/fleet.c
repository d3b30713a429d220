#include "daemon/fleet/fleet.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/fleet/fleet_status.h"
#include "daemon/kafka/fleet_topics.h"
#include "fleet/leader.h"
#include "guard/event_json.h"
#include "guard/guard_assets.h"
#include "guard/guard_fleet.h"
#include "serve/assets.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { RETAINED = 16 };

enum state { NONE, WAITING, LOST, DONE, REFUSED };

struct command {
    uint64_t number;
    enum state state;
    struct ek_buf record;
    int64_t submitted_ms, sent_ms; /* sent_ms -1: not sent */
    char decider[EK_FLEET_NAME_MAX + 1];
    struct ek_buf outcome; /* decision as JSON, or error text */
};

struct ek_fleet_commands {
    pthread_mutex_t lock;
    char instance[EK_FLEET_NAME_MAX + 1];
    uint64_t start, count;
    struct command command[RETAINED]; /* ring */
};

int ek_fleet_commands_new(struct ek_fleet_commands **out, const char *instance, uint64_t start)
{
    struct ek_fleet_commands *o = ek_calloc(1, sizeof *o);
    if (!o)
        return EK_ENOMEM;
    pthread_mutex_init(&o->lock, NULL);
    snprintf(o->instance, sizeof o->instance, "%s", instance);
    o->start = start;
    *out = o;
    return EK_OK;
}

static void clear(struct command *one)
{
    ek_buf_release(&one->record);
    ek_buf_release(&one->outcome);
    *one = (struct command){.state = NONE};
}

void ek_fleet_commands_free(struct ek_fleet_commands *o)
{
    if (!o)
        return;
    for (int i = 0; i < RETAINED; i++)
        clear(&o->command[i]);
    pthread_mutex_destroy(&o->lock);
    ek_free(o);
}

int ek_fleet_commands_submit(struct ek_fleet_commands *o, const struct ek_order *order,
                             uint64_t manifest, int64_t now_ms, uint64_t *number)
{
    struct ek_order own = *order;
    pthread_mutex_lock(&o->lock);
    *number = o->count + 1;
    own.id = (struct ek_order_id){ek_text_from(o->instance), o->start, *number};
    struct command *one = &o->command[o->count % RETAINED];
    clear(one);
    ek_buf_init(&one->record, 0);
    ek_buf_init(&one->outcome, 0);
    int rc = ek_fleet_order_write(&own, manifest, &one->record);
    if (!rc) {
        o->count++;
        one->number = *number;
        one->state = WAITING;
        one->submitted_ms = now_ms;
        one->sent_ms = -1;
    }
    pthread_mutex_unlock(&o->lock);
    return rc;
}

void ek_fleet_commands_send_due(struct ek_fleet_commands *o, int64_t now_ms,
                                void (*send)(void *context, const void *bytes, size_t length),
                                void *context)
{
    pthread_mutex_lock(&o->lock);
    for (int i = 0; i < RETAINED; i++) {
        struct command *one = &o->command[i];
        if (one->state != WAITING)
            continue;
        if (now_ms - one->submitted_ms >= EK_COMMANDS_TIMEOUT_MS) {
            one->state = LOST;
        } else if (one->sent_ms < 0 || now_ms - one->sent_ms >= EK_COMMANDS_RETRY_MS) {
            one->sent_ms = now_ms;
            send(context, one->record.data, one->record.length);
        }
    }
    pthread_mutex_unlock(&o->lock);
}

static bool is_own(const struct ek_fleet_commands *o, const struct ek_order_id *id)
{
    return id->start == o->start && ek_text_same(id->instance, ek_text_from(o->instance));
}

static void store_reply(struct command *one, const struct ek_fleet_reply *r)
{
    ek_buf_clear(&one->outcome);
    snprintf(one->decider, sizeof one->decider, "%.*s", (int)r->decider.length, r->decider.text);
    int rc = r->code ? ek_buf_add(&one->outcome, r->refusal.text, r->refusal.length)
                     : ek_decision_record_json(&one->outcome, &r->decided.is);
    one->state = r->code ? REFUSED : DONE;
    if (rc)
        ek_buf_clear(&one->outcome);
}

void ek_fleet_commands_receive(struct ek_fleet_commands *o, const struct ek_fleet_reply *r)
{
    pthread_mutex_lock(&o->lock);
    for (int i = 0; is_own(o, &r->id) && i < RETAINED; i++)
        if (o->command[i].number == r->id.number &&
            (o->command[i].state == WAITING || o->command[i].state == LOST))
            store_reply(&o->command[i], r);
    pthread_mutex_unlock(&o->lock);
}

static int text_json(struct ek_buf *out, const char *key, const void *text, size_t length)
{
    ek_buf_printf(out, ",\"%s\":", key);
    return ek_buf_json(out, text, length);
}

static int one_json(const struct command *one, struct ek_buf *out)
{
    static const char *const state[] = {"", "pending", "lost", "applied", "rejected"};
    ek_buf_printf(out, "{\"command_id\":%" PRIu64 ",\"state\":\"%s\"", one->number,
                  state[one->state]);
    if (one->state == DONE || one->state == REFUSED)
        text_json(out, "leader", one->decider, strlen(one->decider));
    if (one->state == REFUSED)
        text_json(out, "error", one->outcome.data, one->outcome.length);
    if (one->state == DONE && one->outcome.length)
        ek_buf_text(out, ",\"decision\":");
    if (one->state == DONE)
        ek_buf_add(out, one->outcome.data, one->outcome.length);
    return ek_buf_text(out, "}");
}

int ek_fleet_commands_json(struct ek_fleet_commands *o, struct ek_buf *out)
{
    pthread_mutex_lock(&o->lock);
    uint64_t first = o->count > RETAINED ? o->count - RETAINED : 0;
    ek_buf_text(out, "[");
    for (uint64_t n = first; n < o->count; n++) {
        ek_buf_text(out, n > first ? "," : "");
        one_json(&o->command[n % RETAINED], out);
    }
    pthread_mutex_unlock(&o->lock);
    return ek_buf_text(out, "]");
}

static enum ek_leader_election_action owner_step(struct ek_leader_election *d,
                                                 const struct ek_leader_election_view *v)
{
    if (v->acquisition != d->acquisition && !v->is_leader)
        d->is_start_due = true;
    d->acquisition = v->acquisition;
    d->lost_ms = -1;
    if (v->is_leader)
        return EK_ELECTION_NONE;
    return d->is_start_due || v->age_ms > v->max_age_ms ? EK_ELECTION_START : EK_ELECTION_NONE;
}

enum ek_leader_election_action ek_leader_election_step(struct ek_leader_election *d,
                                                       const struct ek_leader_election_view *v)
{
    if (v->acquisition)
        return owner_step(d, v);
    d->is_start_due = false;
    if (!v->is_leader)
        return EK_ELECTION_NONE;
    if (d->lost_ms < 0)
        d->lost_ms = v->now_ms;
    return v->now_ms - d->lost_ms >= v->grace_ms ? EK_ELECTION_RESIGN : EK_ELECTION_NONE;
}

void ek_leader_election_started(struct ek_leader_election *d)
{
    d->is_start_due = false;
}

void ek_rate_limiter_request(struct ek_rate_limiter *p)
{
    p->requested = true;
}

int64_t ek_rate_limiter_wait_ms(const struct ek_rate_limiter *p, int64_t now_ms)
{
    int64_t early_ms = p->last_ms + p->gap_ms;
    int64_t at_ms = p->requested && early_ms < p->due_ms ? early_ms : p->due_ms;
    return at_ms > now_ms ? at_ms - now_ms : 0;
}

enum ek_rate_limiter_event ek_rate_limiter_next(struct ek_rate_limiter *p, int64_t now_ms)
{
    if (ek_rate_limiter_wait_ms(p, now_ms))
        return EK_RATE_WAIT;
    p->requested = false;
    p->last_ms = now_ms;
    if (now_ms < p->due_ms)
        return EK_RATE_EARLY;
    int64_t next_ms = p->due_ms + p->every_ms;
    p->due_ms = next_ms > now_ms ? next_ms : now_ms + p->every_ms; /* missed runs are skipped */
    return EK_RATE_REPORT;
}

enum {
    SLICE_MS = 50,           /* longest wait for a record, so longest delay of a stop */
    REPORT_PARTS = 4,        /* early reports per report interval, at most */
    DECISION_PARTS = 20,     /* early decisions per report interval, at most */
    LOG_END_MS = 500,        /* timeout of a query for the end of the plan topic */
    LOG_INTERVAL_MS = 60000, /* interval of log lines about invalid records */
    OUTBOX_BYTES_MAX = 256 << 20
};

/* Leader with its assets. */
struct leader_state {
    struct ek_leader *leader;
    struct ek_asset_ref *assets;
};

struct ek_fleet {
    struct ek_fleet_tools tools;
    char name[EK_INSTANCE_BYTES];
    struct ek_fleet_link *link;
    struct leader_state in_use;
    struct leader_state committed, staged; /* replacements of `in_use` */
    struct ek_buf last;                    /* last plan record */
    struct ek_leader_election election;
    struct ek_fleet_commands *commands;
    uint64_t seen[EK_FLEET_COMMANDS_RETAINED],
        n_seen;                  /* ring of hashes of reported replies' ids; its count */
    struct ek_buf pins, accepts; /* JSON, protected by the lock */
    struct ek_buf outbox, plan;  /* report records with lengths; plan record */
    struct ek_rate_limiter reports, decisions;
    int64_t check_due_ms, rejected_logged_ms;
    int64_t active_since_ms; /* time of the first list or plan; 0: none yet */
    bool cut_off;
    struct ek_fleet_names names;
    struct ek_fleet_event_sink event_sink;
    pthread_t thread;
    bool started;
    atomic_bool stopping, has_read_plan;
    _Atomic uint64_t acquisitions; /* of the first partition */
    atomic_bool is_candidate;
    atomic_bool has_evidence;  /* evidence to report early */
    atomic_bool has_committed; /* `committed` is set */
    pthread_mutex_t lock;      /* protects statistics, JSON and replacements */
    struct ek_fleet_metrics_values stats;
};

static void release_leader(struct leader_state *d)
{
    ek_leader_free(d->leader);
    ek_asset_ref_release(d->assets);
    *d = (struct leader_state){NULL, NULL};
}

static int create_leader(const struct ek_fleet *f, struct ek_asset_ref *assets,
                         struct leader_state *out, struct ek_error *e)
{
    const struct ek_assets *a = ek_asset_ref_get(assets);
    const struct ek_leader_setup setup = {.manifest = a->manifest,
                                          .profile = a->profile,
                                          .rules = a->rules,
                                          .means = ek_assets_means(a),
                                          .name = f->name,
                                          .places = (int)f->tools.config->max_fleet_segments};
    int rc = ek_leader_new(&out->leader, &setup, e);
    if (!rc)
        out->assets = ek_asset_ref_retain(assets);
    return rc;
}

static void set_staged(struct ek_fleet *f, struct leader_state next)
{
    pthread_mutex_lock(&f->lock);
    struct leader_state old = f->staged;
    f->staged = next;
    pthread_mutex_unlock(&f->lock);
    release_leader(&old);
}

int ek_fleet_stage_assets(struct ek_fleet *f, struct ek_asset_ref *assets, struct ek_error *e)
{
    struct leader_state next = {NULL, NULL};
    int rc = create_leader(f, assets, &next, e);
    if (!rc)
        set_staged(f, next);
    return rc;
}

void ek_fleet_discard_assets(struct ek_fleet *f)
{
    set_staged(f, (struct leader_state){NULL, NULL});
}

void ek_fleet_commit_assets(struct ek_fleet *f)
{
    pthread_mutex_lock(&f->lock);
    struct leader_state old = f->committed;
    f->committed = f->staged;
    f->staged = (struct leader_state){NULL, NULL};
    atomic_store(&f->has_committed, true);
    pthread_mutex_unlock(&f->lock);
    release_leader(&old);
}

static void on_evidence(void *context)
{
    struct ek_fleet *f = context;
    if (!atomic_exchange(&f->has_evidence, true))
        ek_fleet_link_wake(f->link);
}

static int join(struct ek_fleet *f, struct ek_error *e)
{
    const struct ek_guard_service_member member = {
        f->name, (int)f->tools.config->max_reported_segments, on_evidence, f};
    return ek_guard_service_join(f->tools.guard, &member, e);
}

static int init_parts(struct ek_fleet *f, struct ek_error *e)
{
    const struct ek_fleet_tools *t = &f->tools;
    int64_t tick_ms = t->config->fleet_report_interval_ms;
    f->reports = (struct ek_rate_limiter){.every_ms = tick_ms, .gap_ms = tick_ms / REPORT_PARTS};
    f->decisions =
        (struct ek_rate_limiter){.every_ms = tick_ms, .gap_ms = tick_ms / DECISION_PARTS};
    int rc = ek_instance_name(t->config, f->name, e);
    if (!rc && ek_fleet_commands_new(&f->commands, f->name, (uint64_t)ek_wall_ms()))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = create_leader(f, t->assets, &f->in_use, e);
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
        return ek_fail(e, EK_ENOMEM, "out of memory");
    f->tools = *tools;
    f->event_sink = (struct ek_fleet_event_sink){tools->guard, tools->log};
    pthread_mutex_init(&f->lock, NULL);
    ek_buf_init(&f->outbox, OUTBOX_BYTES_MAX);
    ek_buf_init(&f->plan, OUTBOX_BYTES_MAX);
    ek_buf_init(&f->last, 0);
    ek_buf_init(&f->pins, 0);
    ek_buf_init(&f->accepts, 0);
    int rc = init_parts(f, e);
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
    release_leader(&f->in_use);
    release_leader(&f->committed);
    release_leader(&f->staged);
    ek_fleet_commands_free(f->commands);
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
    if (own && !atomic_load(&f->is_candidate))
        atomic_fetch_add(&f->acquisitions, 1);
    atomic_store(&f->is_candidate, own);
}

/* Copy a record, to send it after the guard is unlocked. */
static int add_record(void *context, const void *bytes, size_t length)
{
    struct ek_buf *outbox = context;
    int rc = ek_buf_add(outbox, &length, sizeof length);
    return rc ? rc : ek_buf_add(outbox, bytes, length);
}

static void send_report(struct ek_fleet *f, bool early)
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

/* Log suspected findings. Confirmed ones are in the plan, which all instances report. */
static void report_suspicions(struct ek_fleet *f)
{
    const struct ek_manifest *m = ek_asset_ref_get(f->in_use.assets)->manifest;
    struct ek_finding found;
    while (ek_leader_next(f->in_use.leader, &found))
        if (found.state == EK_SUSPECTED)
            ek_log_write(f->tools.log, EK_LOG_INFO, "fleet_suspected", "feature=%s trigger=%s",
                         m->item[found.feature]->name, found.signal);
}

static int send_reply(void *context, const void *bytes, size_t length)
{
    static const char key[] = "answer";
    ek_fleet_link_send(((struct ek_fleet *)context)->link, EK_TOPIC_PLAN, key, bytes, length);
    return EK_OK;
}

static void run_leader(struct ek_fleet *f, bool early, int64_t now)
{
    static const char key[] = "plan";
    struct ek_error e;
    ek_buf_clear(&f->plan);
    int rc = early ? ek_leader_check(f->in_use.leader, now, &f->plan, &e)
                   : ek_leader_advance(f->in_use.leader, now, &f->plan, &e);
    if (rc)
        ek_log_text(f->tools.log, EK_LOG_ERROR, "fleet_plan_dropped", e.message);
    else if (f->plan.length)
        ek_fleet_link_send(f->link, EK_TOPIC_PLAN, key, f->plan.data, f->plan.length);
    if (!rc && ek_leader_write_replies(f->in_use.leader, send_reply, f))
        ek_log_text(f->tools.log, EK_LOG_ERROR, "fleet_result_dropped", "out of memory");
    report_suspicions(f);
}

/* Log an invalid record of another instance, at most once per LOG_INTERVAL_MS. */
static void report_rejected(struct ek_fleet *f, const char *why)
{
    int64_t now = ek_now_ms();
    if (f->rejected_logged_ms && now - f->rejected_logged_ms < LOG_INTERVAL_MS)
        return;
    f->rejected_logged_ms = now;
    ek_log_text(f->tools.log, EK_LOG_WARN, "fleet_record_rejected", why);
}

/* Store the plan record for a leader with new assets. */
static int store_last(struct ek_fleet *f, const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_buf copy;
    ek_buf_init(&copy, 0);
    if (ek_buf_add(&copy, bytes, length))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_buf_release(&f->last);
    f->last = copy;
    return EK_OK;
}

typedef int write_json(const void *bytes, size_t length, const struct ek_manifest *m,
                       struct ek_buf *out);

/* Update JSON for the API. If memory runs out, the previous JSON stays. */
static void update_json(struct ek_fleet *f, const void *bytes, size_t length, write_json *json,
                        struct ek_buf *stored)
{
    struct ek_buf now;
    ek_buf_init(&now, 0);
    if (json(bytes, length, ek_asset_ref_get(f->in_use.assets)->manifest, &now)) {
        ek_buf_release(&now);
        return;
    }
    pthread_mutex_lock(&f->lock);
    struct ek_buf old = *stored;
    *stored = now;
    pthread_mutex_unlock(&f->lock);
    ek_buf_release(&old);
}

static void update_plan_json(struct ek_fleet *f, const void *bytes, size_t length)
{
    update_json(f, bytes, length, ek_fleet_pins_json, &f->pins);
    update_json(f, bytes, length, ek_fleet_accepts_json, &f->accepts);
}

static void receive_plan(struct ek_fleet *f, const void *bytes, size_t length, int64_t now)
{
    struct ek_error e;
    int rc = ek_leader_apply_record(f->in_use.leader, bytes, length, &e);
    bool is_leader = ek_leader_is_active(f->in_use.leader);
    bool counts = false;
    if (!rc)
        rc = ek_guard_service_receive_plan(f->tools.guard, bytes, length, now, is_leader, &counts,
                                           &e);
    if (!rc && counts)
        rc = store_last(f, bytes, length, &e);
    if (rc)
        report_rejected(f, e.message);
    else if (counts)
        update_plan_json(f, bytes, length);
}

/* Return true if a reply was reported before, since the leader replies to each retry. */
static bool is_known(struct ek_fleet *f, const char *id)
{
    uint64_t hash = ek_hash(id, strlen(id), 0);
    for (int i = 0; i < EK_FLEET_COMMANDS_RETAINED; i++)
        if (f->seen[i] == hash)
            return true;
    f->seen[f->n_seen++ % EK_FLEET_COMMANDS_RETAINED] = hash;
    return false;
}

/* Process a reply. Decisions in records from before the start are not reported. */
static void receive_reply(struct ek_fleet *f, const void *bytes, size_t length)
{
    struct ek_fleet_reply r;
    struct ek_error e;
    if (ek_fleet_reply_open(&r, bytes, length, &e)) {
        report_rejected(f, e.message);
        return;
    }
    ek_fleet_commands_receive(f->commands, &r);
    bool is_new = !r.code && atomic_load(&f->has_read_plan);
    if (is_new && !is_known(f, r.decided.is.request) &&
        ek_guard_service_add_fleet_decision(f->tools.guard, &r.decided.is))
        ek_log_text(f->tools.log, EK_LOG_ERROR, "event_dropped", "out of memory");
}

/* Report early while the leader requests samples for a diagnosis. */
static void check_sampling(struct ek_fleet *f)
{
    bool is_sampled = ek_guard_is_sampled(ek_guard_service_lock(f->tools.guard));
    ek_guard_service_unlock(f->tools.guard);
    if (is_sampled)
        ek_rate_limiter_request(&f->reports);
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
        check_sampling(f);
        return;
    }
    ek_rate_limiter_request(&f->decisions);
    if (ek_leader_receive(f->in_use.leader, bytes, length, now, &e))
        report_rejected(f, e.message);
}

static void start_leading(struct ek_fleet *f, int64_t now)
{
    if (!ek_fleet_link_at_end(f->link, LOG_END_MS))
        return;
    atomic_store(&f->has_read_plan, true);
    ek_leader_start(f->in_use.leader, now);
    ek_leader_election_started(&f->election);
    ek_log_write(f->tools.log, EK_LOG_INFO, "leader_elected", "instance=%s version=%llu", f->name,
                 (unsigned long long)ek_leader_version(f->in_use.leader));
}

static void stop_leading(struct ek_fleet *f)
{
    ek_leader_stop(f->in_use.leader);
    ek_log_write(f->tools.log, EK_LOG_INFO, "leader_resigned", "instance=%s", f->name);
}

static void check_leadership(struct ek_fleet *f, int64_t age_ms, int64_t now)
{
    const struct ek_config *c = f->tools.config;
    bool is_candidate = atomic_load(&f->is_candidate);
    const struct ek_leader_election_view view = {
        .acquisition = is_candidate ? atomic_load(&f->acquisitions) : 0,
        .is_leader = ek_leader_is_active(f->in_use.leader),
        .age_ms = age_ms,
        .max_age_ms = c->fleet_leader_timeout_ms,
        .grace_ms = c->fleet_report_interval_ms,
        .now_ms = now};
    enum ek_leader_election_action act = ek_leader_election_step(&f->election, &view);
    ek_fleet_link_set_reports(f->link, act == EK_ELECTION_START ||
                                           (view.is_leader && act != EK_ELECTION_RESIGN));
    if (act == EK_ELECTION_START)
        start_leading(f, now);
    if (act == EK_ELECTION_RESIGN)
        stop_leading(f);
}

/* Return the age of the plan, or the time since the first list if none was received. Before the
 * first list there is no plan. */
static int64_t plan_age_ms(struct ek_fleet *f, const struct ek_guard_service_fleet *status,
                           int64_t now)
{
    if (!f->active_since_ms && (status->lists || status->age_ms >= 0))
        f->active_since_ms = now;
    return status->age_ms >= 0 ? status->age_ms : f->active_since_ms ? now - f->active_since_ms : 0;
}

static void check_plan_age(struct ek_fleet *f, const struct ek_guard_service_fleet *status,
                           int64_t age_ms)
{
    bool cut_off = age_ms > f->tools.config->fleet_leader_timeout_ms;
    if (cut_off && !f->cut_off)
        ek_log_write(f->tools.log, EK_LOG_WARN, "fleet_plan_stale",
                     "plan_age_ms=%lld version=%llu leader=%s message=\"no plan received; the last "
                     "plan stays in force\"",
                     (long long)age_ms, (unsigned long long)status->version, status->leader);
    if (!cut_off && f->cut_off)
        ek_log_write(f->tools.log, EK_LOG_INFO, "fleet_plan_recovered", "version=%llu leader=%s",
                     (unsigned long long)status->version, status->leader);
    if (cut_off != f->cut_off)
        ek_fleet_report_change(&f->event_sink, f->name,
                               cut_off ? EK_CHANGE_PLAN_STALE : EK_CHANGE_PLAN_RECOVERED);
    f->cut_off = cut_off;
}

static void update_stats(struct ek_fleet *f, const struct ek_guard_service_fleet *status,
                         int64_t age_ms, int64_t now)
{
    const struct ek_fleet_pool *pool = ek_leader_pool(f->in_use.leader);
    struct ek_fleet_metrics_values stats = {.status = *status,
                                            .age_ms = age_ms,
                                            .cut_off = f->cut_off,
                                            .is_leader = ek_leader_is_active(f->in_use.leader),
                                            .counts = ek_fleet_pool_counts(pool),
                                            .traffic = ek_fleet_link_traffic(f->link)};
    memcpy(stats.name, f->name, sizeof stats.name);
    stats.instances = stats.is_leader ? ek_fleet_pool_instances(pool, now) : 0;
    stats.shared = f->names.shared;
    pthread_mutex_lock(&f->lock);
    f->stats = stats;
    pthread_mutex_unlock(&f->lock);
}

static void send_command(void *context, const void *bytes, size_t length)
{
    struct ek_fleet *f = context;
    ek_fleet_link_send(f->link, EK_TOPIC_EVIDENCE, f->name, bytes, length);
}

static void run_periodic(struct ek_fleet *f, int64_t now)
{
    ek_fleet_commands_send_due(f->commands, now, send_command, f);
    if (atomic_load(&f->has_evidence))
        ek_rate_limiter_request(&f->reports);
    enum ek_rate_limiter_event event = ek_rate_limiter_next(&f->reports, now);
    if (event != EK_RATE_WAIT) {
        atomic_store(&f->has_evidence, false);
        send_report(f, event == EK_RATE_EARLY);
        check_sampling(f);
    }
    event = ek_rate_limiter_next(&f->decisions, now);
    if (event != EK_RATE_WAIT && ek_leader_is_active(f->in_use.leader))
        run_leader(f, event == EK_RATE_EARLY, now);
}

/* Return the time until the next report or decision, at most SLICE_MS. */
static int next_wait_ms(const struct ek_fleet *f, int64_t now)
{
    int64_t report_ms = ek_rate_limiter_wait_ms(&f->reports, now);
    int64_t left_ms = ek_rate_limiter_wait_ms(&f->decisions, now);
    left_ms = report_ms < left_ms ? report_ms : left_ms;
    return left_ms < SLICE_MS ? (int)left_ms : SLICE_MS;
}

static void check_peers(struct ek_fleet *f, int64_t now)
{
    struct ek_guard_service_fleet status;
    f->check_due_ms = now + SLICE_MS;
    if (!atomic_load(&f->has_read_plan))
        atomic_store(&f->has_read_plan, ek_fleet_link_at_end(f->link, LOG_END_MS));
    ek_guard_service_fleet_state(f->tools.guard, now, &status);
    int64_t age_ms = plan_age_ms(f, &status, now);
    check_leadership(f, age_ms, now);
    check_plan_age(f, &status, age_ms);
    bool is_leader = ek_leader_is_active(f->in_use.leader);
    ek_fleet_names_check(&f->names, is_leader ? ek_leader_pool(f->in_use.leader) : NULL, now,
                         &f->event_sink);
    update_stats(f, &status, age_ms, now);
}

static struct leader_state pop_committed(struct ek_fleet *f)
{
    pthread_mutex_lock(&f->lock);
    struct leader_state committed = f->committed;
    f->committed = (struct leader_state){NULL, NULL};
    atomic_store(&f->has_committed, false);
    pthread_mutex_unlock(&f->lock);
    return committed;
}

/* Switch to the committed leader. Without the last plan it would end all routes, so if applying it
 * fails, the old leader continues. */
static void switch_leader(struct ek_fleet *f, int64_t now)
{
    struct ek_error e;
    struct leader_state to = pop_committed(f);
    bool is_leader = ek_leader_is_active(f->in_use.leader);
    int rc = !to.leader || !f->last.length
                 ? EK_OK
                 : ek_leader_apply_record(to.leader, f->last.data, f->last.length, &e);
    if (rc)
        ek_log_text(f->tools.log, EK_LOG_ERROR, "fleet_rules_rejected", e.message);
    if (rc || !to.leader) {
        release_leader(&to);
        return;
    }
    if (is_leader)
        ek_leader_start(to.leader, now);
    release_leader(&f->in_use);
    f->in_use = to;
}

static void *run(void *context)
{
    struct ek_fleet *f = context;
    const void *bytes;
    size_t length;
    while (!atomic_load(&f->stopping)) {
        int wait_ms = next_wait_ms(f, ek_now_ms());
        enum ek_fleet_topic topic = ek_fleet_link_next(f->link, wait_ms, &bytes, &length);
        if (topic != EK_TOPIC_NONE)
            receive_record(f, topic, bytes, length);
        int64_t now = ek_now_ms();
        if (atomic_load(&f->has_committed))
            switch_leader(f, now);
        run_periodic(f, now);
        if (topic == EK_TOPIC_NONE || now >= f->check_due_ms)
            check_peers(f, now);
    }
    return NULL;
}

int ek_fleet_start(struct ek_fleet *f, struct ek_error *e)
{
    int problem = pthread_create(&f->thread, NULL, run, f);
    if (problem)
        return ek_fail(e, EK_EIO, "cannot start the fleet thread: %s", strerror(problem));
    f->started = true;
    return EK_OK;
}

bool ek_fleet_has_read_plan(const struct ek_fleet *f)
{
    return atomic_load(&f->has_read_plan);
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
    struct ek_fleet_metrics_values stats = f->stats;
    pthread_mutex_unlock(&f->lock);
    return ek_fleet_metrics_json(&stats, out);
}

int ek_fleet_metrics(struct ek_fleet *f, struct ek_buf *out)
{
    pthread_mutex_lock(&f->lock);
    struct ek_fleet_metrics_values stats = f->stats;
    pthread_mutex_unlock(&f->lock);
    return ek_fleet_metrics_write(&stats, out);
}

int ek_fleet_submit_command(struct ek_fleet *f, const struct ek_order *o, uint64_t *number,
                            struct ek_error *e)
{
    const struct ek_guard *guard = ek_guard_service_lock(f->tools.guard);
    uint64_t manifest = ek_guard_assets(guard)->manifest->hash;
    int rc = ek_guard_check_order(guard, o, e);
    ek_guard_service_unlock(f->tools.guard);
    if (!rc && ek_fleet_commands_submit(f->commands, o, manifest, ek_now_ms(), number))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        ek_fleet_link_wake(f->link);
    return rc;
}

int ek_fleet_command_results(struct ek_fleet *f, struct ek_buf *out)
{
    return ek_fleet_commands_json(f->commands, out);
}

static int append_json(struct ek_fleet *f, const struct ek_buf *stored, struct ek_buf *out)
{
    pthread_mutex_lock(&f->lock);
    int rc =
        stored->length ? ek_buf_add(out, stored->data, stored->length) : ek_buf_text(out, "[]");
    pthread_mutex_unlock(&f->lock);
    return rc;
}

int ek_fleet_pins(struct ek_fleet *f, struct ek_buf *out)
{
    return append_json(f, &f->pins, out);
}

int ek_fleet_accepts(struct ek_fleet *f, struct ek_buf *out)
{
    return append_json(f, &f->accepts, out);
}
