#include "fleet/controller_record.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

void ek_controller_record_clear(struct ek_controller_record *s)
{
    for (int i = 0; i < s->pins; i++)
        ek_controller_pin_release(&s->pin[i]);
    ek_fleet_accepted_set_clear(&s->normal);
    s->desired.count = s->rollouts.count = s->pins = 0;
}

struct ek_controller_memory ek_controller_record_memory(const struct ek_controller_record *s,
                                                        const struct ek_plan *plan)
{
    return (struct ek_controller_memory){.plan = plan,
                                         .desired = &s->desired,
                                         .rollouts = &s->rollouts,
                                         .limited = s->limits.limited,
                                         .free_ms = s->limits.free_ms,
                                         .was_full = s->limits.was_full,
                                         .pin = s->pin,
                                         .pins = s->pins,
                                         .paused = s->limits.paused,
                                         .paused_ms = s->limits.paused_ms};
}

/* ------------------------------------------------------------------ reading */

struct reading {
    struct ek_controller_record_reader *by;
    struct ek_plan *plan;
    struct ek_controller_record *to;
};

/* Resolve names; -1: unknown here. */
static int find(const struct reading *r, const struct ek_fleet_place *p, int *feature, int *cell)
{
    *cell = -1;
    *feature = ek_manifest_find_watched(r->by->manifest, p->feature);
    return *feature < 0 ? EK_OK : r->by->cell_of(r->by->context, &p->cell, cell);
}

static int read_entry_of(struct reading *r, struct ek_plan *plan, const struct ek_fleet_entry *e)
{
    struct ek_plan_entry own = e->is;
    int rc = find(r, &e->place, &own.feature, &own.cell);
    if (rc)
        return rc;
    own.repair.query_feature = -1;
    if (e->query_feature.length) {
        own.repair.query_feature = ek_manifest_find_query(r->by->manifest, e->query_feature);
        own.repair.factor = (double)NAN;
    }
    if (own.cell >= 0)
        plan->entry[plan->count++] = own;
    else if (plan == r->plan)
        r->by->missed++;
    return EK_OK;
}

static int read_entry(void *context, const struct ek_fleet_entry *e)
{
    struct reading *r = context;
    return read_entry_of(r, r->plan, e);
}

static int read_wanted(void *context, const struct ek_fleet_entry *e)
{
    struct reading *r = context;
    return read_entry_of(r, &r->to->desired, e);
}

static int read_mode(void *context, const struct ek_fleet_mode *m)
{
    struct reading *r = context;
    struct ek_plan_mode own = m->is;
    int rc = find(r, &m->place, &own.feature, &own.cell);
    if (!rc && own.cell >= 0)
        r->plan->mode[r->plan->modes++] = own;
    else if (!rc && own.feature >= 0)
        r->by->apart[own.feature] = true;
    return rc;
}

static int read_rollout(void *context, const struct ek_fleet_rollout *m)
{
    struct reading *r = context;
    struct ek_rollouts *to = &r->to->rollouts;
    struct ek_rollout own = m->is;
    if (!r->by->decides && own.ended_ms >= 0)
        return EK_OK;
    int rc = find(r, &m->place, &own.feature, &own.cell);
    if (!rc && own.cell >= 0)
        to->one[to->count++] = own;
    return rc;
}

static bool is_pinned(const struct ek_controller_record *s, int feature, int cell)
{
    for (int i = 0; i < s->pins; i++)
        if (s->pin[i].feature == feature && s->pin[i].cell == cell)
            return true;
    return false;
}

static int read_pin(void *context, const struct ek_order *p)
{
    struct reading *r = context;
    const struct ek_fleet_place place = ek_fleet_order_place(p);
    struct ek_controller_pin own = {.is = *p};
    if (!r->by->decides)
        return EK_OK;
    int rc = find(r, &place, &own.feature, &own.cell);
    if (rc || own.cell < 0 || is_pinned(r->to, own.feature, own.cell))
        return rc;
    rc = ek_controller_pin_copy(&r->to->pin[r->to->pins], &own);
    r->to->pins += !rc;
    return rc;
}

static int read_limits(void *context, const struct ek_fleet_limits *l)
{
    struct reading *r = context;
    r->to->limits = *l;
    r->plan->paused = l->paused;
    return EK_OK;
}

static int read_normal(void *context, uint64_t version, uint64_t profile)
{
    struct reading *r = context;
    r->to->normal.profile = profile;
    r->to->normal.levels.version = r->plan->normal = version;
    return EK_OK;
}

/* An accept without a cell here is skipped: its lists cannot be distinguished. */
static int read_accept(void *context, const struct ek_fleet_accept *a)
{
    struct reading *r = context;
    int feature, cell;
    if (r->to->normal.profile != r->by->profile) {
        r->by->outdated++;
        return EK_OK;
    }
    int rc = find(r, &a->place, &feature, &cell);
    struct ek_fleet_accept own = *a;
    if (!r->by->decides) /* only the next plan needs them */
        own.author = own.reason = (struct ek_text){NULL, 0};
    if (!rc && cell >= 0)
        return ek_fleet_accepted_load(&r->to->normal, &own, feature, cell);
    r->by->missed += !rc;
    return rc;
}

int ek_controller_record_read(const struct ek_fleet_plan *record,
                              struct ek_controller_record_reader *by, struct ek_plan *plan,
                              struct ek_controller_record *s)
{
    struct reading r = {by, plan, s};
    const struct ek_fleet_plan_visitor callbacks = {.context = &r,
                                                    .entry = read_entry,
                                                    .mode = read_mode,
                                                    .desired = read_wanted,
                                                    .rollout = read_rollout,
                                                    .pin = read_pin,
                                                    .limits = read_limits,
                                                    .normal = read_normal,
                                                    .accepted = read_accept};
    by->missed = by->outdated = 0;
    memset(by->apart, 0, sizeof by->apart);
    plan->version = record->head.version;
    return ek_fleet_plan_visit(record, &callbacks);
}

/* ------------------------------------------------------------------ writing */

struct writing {
    struct ek_serialize *w;
    const struct ek_fleet_dimensions *dimensions;
    const struct ek_manifest *manifest;
    struct ek_fleet_cell (*names_of)(const void *context, int cell);
    const void *context;
};

static struct ek_fleet_place place_of(const struct writing *o, int feature, int cell)
{
    return (struct ek_fleet_place){o->names_of(o->context, cell),
                                   ek_text_from(o->manifest->item[feature]->name)};
}

static void write_entries(const struct writing *o, const struct ek_plan *p)
{
    ek_record_write(o->w, (uint64_t)p->count);
    for (int i = 0; i < p->count; i++) {
        struct ek_fleet_entry e = {.is = p->entry[i]};
        int query = e.is.repair.query_feature;
        e.place = place_of(o, e.is.feature, e.is.cell);
        if (query >= 0)
            e.query_feature = ek_text_from(o->manifest->query[query]->name);
        ek_fleet_entry_walk(o->w, o->dimensions, &e);
    }
}

static void write_modes(const struct writing *o, const struct ek_plan *p)
{
    ek_record_write(o->w, (uint64_t)p->modes);
    for (int i = 0; i < p->modes; i++) {
        struct ek_fleet_mode m = {.is = p->mode[i]};
        m.place = place_of(o, m.is.feature, m.is.cell);
        ek_fleet_mode_walk(o->w, o->dimensions, &m);
    }
}

static void write_rollouts(const struct writing *o, const struct ek_rollouts *s)
{
    ek_record_write(o->w, (uint64_t)s->count);
    for (int i = 0; i < s->count; i++) {
        struct ek_fleet_rollout r = {.is = s->one[i]};
        r.place = place_of(o, r.is.feature, r.is.cell);
        ek_fleet_rollout_walk(o->w, o->dimensions, &r);
    }
}

static void write_pins(const struct writing *o, const struct ek_controller_pin *pin, int pins)
{
    ek_record_write(o->w, (uint64_t)pins);
    for (int i = 0; i < pins; i++) {
        const struct ek_fleet_place place = place_of(o, pin[i].feature, pin[i].cell);
        ek_fleet_order_walk(o->w, o->dimensions, &place, &pin[i].is);
    }
}

static void write_normal(const struct writing *o, const struct ek_fleet_accepted_set *n)
{
    uint64_t profile = n->profile;
    ek_record_write(o->w, n->levels.version);
    ek_serialize_u64(o->w, &profile);
    ek_record_write(o->w, (uint64_t)n->levels.count);
    for (int i = 0; i < n->levels.count; i++) {
        const struct ek_fleet_place place =
            place_of(o, n->levels.one[i].feature, n->levels.one[i].cell);
        struct ek_fleet_accept a = ek_fleet_accepted_set_accept(n, i, &place);
        ek_fleet_accept_walk(o->w, o->dimensions, &a);
    }
}

void ek_controller_record_write(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                                const struct ek_manifest *m,
                                const struct ek_controller_memory *memory,
                                const struct ek_fleet_accepted_set *normal,
                                struct ek_fleet_cell (*names_of)(const void *context, int cell),
                                const void *context)
{
    const struct writing o = {w, d, m, names_of, context};
    struct ek_fleet_limits limits = {memory->limited, memory->free_ms, memory->was_full,
                                     memory->paused, memory->paused_ms};
    write_entries(&o, memory->plan);
    write_modes(&o, memory->plan);
    write_entries(&o, memory->desired);
    write_rollouts(&o, memory->rollouts);
    write_pins(&o, memory->pin, memory->pins);
    ek_fleet_limits_walk(w, &limits);
    write_normal(&o, normal);
}
