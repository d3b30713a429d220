#include "fleet/fleet_findings.h"

#include "base/alloc.h"
#include "fleet/evidence_report.h"

#include <math.h>

enum {
    NO_INSTANCE = -2, /* finding of the log without a proposing instance */
    SAME_START_PART = 8
};

/* Proposal of a finding, with the incident number of the instance. */
struct link {
    int by, feature, cell;
    uint32_t cause;
};

struct ek_fleet_findings {
    struct ek_fleet_pool *pool;
    const struct ek_manifest *manifest;
    const struct ek_rules *rules;
    uint32_t episodes;
    struct ek_open_findings open;            /* reserved for EK_FLEET_FINDINGS_MAX */
    struct ek_finding news[EK_EPISODES_MAX]; /* ring */
    uint64_t reported, fetched;
    struct link link[EK_FLEET_FINDINGS_MAX]; /* of the current report interval */
    int links;
};

static bool is_about(const struct link *l, const struct ek_open_finding *o)
{
    return l->feature == o->f.feature && l->cell == o->f.cell;
}

int ek_fleet_findings_new(struct ek_fleet_findings **out, struct ek_fleet_pool *pool,
                          const struct ek_manifest *m, const struct ek_rules *rules)
{
    struct ek_fleet_findings *t = ek_calloc(1, sizeof *t);
    if (!t)
        return EK_ENOMEM;
    if (ek_open_findings_reserve(&t->open, EK_FLEET_FINDINGS_MAX)) {
        ek_free(t);
        return EK_ENOMEM;
    }
    t->pool = pool;
    t->manifest = m;
    t->rules = rules;
    *out = t;
    return EK_OK;
}

void ek_fleet_findings_free(struct ek_fleet_findings *t)
{
    if (t)
        ek_open_findings_release(&t->open);
    ek_free(t);
}

void ek_fleet_findings_reset(struct ek_fleet_findings *t, uint32_t episodes)
{
    t->open.count = 0;
    if (episodes > t->episodes)
        t->episodes = episodes;
}

/* Return the finding with the names of its segment, which live as long as the pool. */
static struct ek_finding with_names(const struct ek_fleet_findings *t, const struct ek_finding *f)
{
    struct ek_fleet_cell names = ek_fleet_pool_cell(t->pool, f->cell);
    struct ek_finding out = *f;
    out.dimension = names.dimension.text;
    out.value = names.value.text;
    return out;
}

void ek_fleet_findings_restore(struct ek_fleet_findings *t, const struct ek_finding *f)
{
    struct ek_finding named = with_names(t, f);
    if (t->open.count < EK_FLEET_FINDINGS_MAX &&
        !ek_open_findings_at(&t->open, f->feature, f->cell))
        ek_open_findings_add(&t->open, &named)->by = NO_INSTANCE;
}

uint32_t ek_fleet_findings_episodes(const struct ek_fleet_findings *t)
{
    return t->episodes;
}

static void report_finding(struct ek_fleet_findings *t, const struct ek_finding *f,
                           enum ek_finding_state state, int64_t time_ms)
{
    struct ek_finding *o = &t->news[t->reported++ % EK_EPISODES_MAX];
    if (t->reported - t->fetched > EK_EPISODES_MAX)
        t->fetched++;
    *o = *f;
    o->state = state;
    o->time_ms = time_ms;
}

int ek_fleet_findings_next(struct ek_fleet_findings *t, struct ek_finding *out)
{
    if (t->fetched == t->reported)
        return 0;
    *out = t->news[t->fetched++ % EK_EPISODES_MAX];
    return 1;
}

uint64_t ek_fleet_findings_count(const struct ek_fleet_findings *t)
{
    return t->reported;
}

void ek_fleet_findings_start(struct ek_fleet_findings *t)
{
    for (int i = 0; i < t->open.count; i++) {
        t->open.item[i].present = false;
        t->open.item[i].reported = true;
    }
    t->links = 0;
}

/* Prefer the statistics of the previous instance, else of the oldest finding. */
static bool is_preferred(const struct ek_open_finding *o, const struct ek_finding *f, int by)
{
    if (!o->present || by == o->by)
        return true;
    return o->now_by != o->by && f->since_ms < o->now.since_ms;
}

void ek_fleet_findings_propose(struct ek_fleet_findings *t, const struct ek_finding *f, int by)
{
    struct ek_open_finding *o = ek_open_findings_at(&t->open, f->feature, f->cell);
    struct ek_finding named = with_names(t, f);
    if (!o) {
        if (t->open.count == EK_FLEET_FINDINGS_MAX)
            return;
        o = ek_open_findings_add(&t->open, &named);
        o->by = NO_INSTANCE;
    }
    if (is_preferred(o, f, by)) {
        o->now = named;
        o->now_by = by;
    }
    o->present = true;
    if (f->cause && t->links < EK_FLEET_FINDINGS_MAX)
        t->link[t->links++] = (struct link){by, f->feature, f->cell, f->cause};
}

void ek_fleet_findings_confirm_open(struct ek_fleet_findings *t, const struct ek_finding *f)
{
    struct ek_open_finding *o = ek_open_findings_at(&t->open, f->feature, f->cell);
    if (!o || o->present)
        return;
    o->now = o->f;
    o->now_by = o->by;
    o->present = true;
}

const struct ek_finding *ek_fleet_findings_find(struct ek_fleet_findings *t, int feature, int place)
{
    const struct ek_open_finding *o = ek_open_findings_at(&t->open, feature, place);
    return o ? &o->f : NULL;
}

const struct ek_finding *ek_fleet_findings_get(const struct ek_fleet_findings *t, int feature)
{
    for (int i = 0; i < t->open.count; i++)
        if (t->open.item[i].f.feature == feature)
            return &t->open.item[i].f;
    return NULL;
}

void ek_fleet_findings_accept(struct ek_fleet_findings *t, const struct ek_finding *f,
                              int64_t time_ms, struct ek_finding *over)
{
    struct ek_open_finding *o = ek_open_findings_at(&t->open, f->feature, f->cell);
    *over = o->f;
    over->reason = ek_finding_accepted();
    over->state = EK_DISMISSED;
    report_finding(t, over, EK_DISMISSED, time_ms);
    ek_open_findings_remove(&t->open, o);
}

void ek_fleet_findings_release_source(struct ek_fleet_findings *t, int feature, int by)
{
    for (int i = 0; i < t->open.count; i++)
        if (t->open.item[i].f.feature == feature && t->open.item[i].by == by)
            t->open.item[i].by = NO_INSTANCE;
}

/* Return true if both began at the same time, within an eighth of the time since then: instances
 * confirm the features of one fault in different orders, so that none links them at first. */
static bool began_together(const struct ek_finding *a, const struct ek_finding *b, int64_t time_ms)
{
    int64_t first = a->since_ms < b->since_ms ? a->since_ms : b->since_ms;
    int64_t last = a->since_ms < b->since_ms ? b->since_ms : a->since_ms;
    bool nested = a->cell == b->cell || !a->cell || !b->cell;
    return nested && a->feature != b->feature && last <= time_ms &&
           (last - first) * SAME_START_PART <= time_ms - first;
}

/* Return the incident of a new finding: that of an earlier finding with the same cause on some
 * instance, else of one that began together with it, else the number of the new finding. */
static uint32_t incident_of(const struct ek_fleet_findings *t, const struct ek_open_finding *o,
                            int64_t time_ms)
{
    for (int i = 0; i < t->links; i++)
        for (int k = 0; is_about(&t->link[i], o) && k < t->links; k++) {
            const struct link *l = &t->link[k];
            if (l->by != t->link[i].by || l->cause != t->link[i].cause)
                continue;
            const struct ek_open_finding *other =
                ek_open_findings_at(&t->open, l->feature, l->cell);
            if (other && other < o && other->f.cause)
                return other->f.cause;
        }
    for (const struct ek_open_finding *other = t->open.item; other < o; other++)
        if (other->f.cause && other->present && began_together(&other->f, &o->f, time_ms))
            return other->f.cause;
    return o->f.episode;
}

/* Update statistics, and keep number, incident and start. */
static void update(struct ek_fleet_findings *t, struct ek_open_finding *o, int64_t time_ms)
{
    struct ek_finding before = o->f;
    o->f = o->now;
    o->by = o->now_by;
    o->f.episode = !o->reported ? ++t->episodes : before.episode;
    o->f.cause = before.cause;
    if (o->reported)
        o->f.since_ms = before.since_ms;
    else
        o->f.cause = incident_of(t, o, time_ms);
    ek_fleet_finding_match_units(&o->f, t->rules, t->manifest);
}

/* The controller continues an open finding as updated. */
static struct ek_finding as_before(const struct ek_open_finding *o)
{
    struct ek_finding f = o->f;
    f.state = !o->reported ? EK_CONFIRMED : EK_UPDATED;
    return f;
}

void ek_fleet_findings_finish(struct ek_fleet_findings *t, bool settled, int64_t time_ms,
                              void (*act)(void *context, const struct ek_finding *f), void *context)
{
    int kept = 0;
    for (int i = 0; i < t->open.count; i++) {
        struct ek_open_finding *o = &t->open.item[i];
        if (o->present) {
            update(t, o, time_ms);
            if (!o->reported)
                report_finding(t, &o->f, EK_CONFIRMED, time_ms);
            const struct ek_finding f = as_before(o);
            act(context, &f);
        } else if (settled || o->by != NO_INSTANCE) {
            o->f.state = ek_open_findings_is_handed_over(&t->open, o) ? EK_DISMISSED : EK_RECOVERED;
            report_finding(t, &o->f, o->f.state, time_ms);
            act(context, &o->f);
            continue;
        }
        if (kept < i)
            t->open.item[kept] = *o;
        kept++;
    }
    t->open.count = kept;
}

void ek_fleet_findings_restart(struct ek_fleet_findings *t)
{
    for (int i = 0; i < t->open.count; i++)
        ek_fleet_pool_restart(t->pool, t->open.item[i].f.cell, t->open.item[i].f.feature);
}

void ek_fleet_findings_suspect(struct ek_fleet_findings *t, const struct ek_fleet_alarm *a,
                               int64_t time_ms)
{
    struct ek_finding f = {.feature = a->feature,
                           .cell = a->place,
                           .since_ms = time_ms,
                           .signal = ek_bet_name(a->bet),
                           .query_feature = -1,
                           .factor = NAN,
                           .share = 1};
    report_finding(t, &f, EK_SUSPECTED, time_ms);
}

void ek_fleet_findings_write(const struct ek_fleet_findings *t, struct ek_serialize *w,
                             const struct ek_fleet_dimensions *d)
{
    ek_record_write(w, (uint64_t)t->open.count);
    for (int i = 0; i < t->open.count; i++) {
        struct ek_fleet_cell cell = ek_fleet_pool_cell(t->pool, t->open.item[i].f.cell);
        ek_wire_cell(w, d, &cell);
        struct ek_finding f = t->open.item[i].f;
        ek_fleet_finding_walk(w, t->manifest, &f);
    }
}
