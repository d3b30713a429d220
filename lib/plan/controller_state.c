/* The state of what is done about findings, joining that of two, and going on with that of another.
 */
#include "plan/controller_internal.h"
#include "plan/plan.h"

void ek_control_wanted_serialize(struct ek_control *c, struct ek_serialize *s, int features,
                                 int cells)
{
    ek_plan_serialize(&c->wanted, s, features, cells);
}

static void flag_serialize(struct ek_serialize *s, bool *flag)
{
    int value = *flag;
    ek_snap_int(s, &value, 0, 1);
    *flag = value;
}

/* What an earlier version did not write. */
static bool is_there(const struct ek_serialize *s)
{
    return !ek_snap_reads(s) || s->at < s->end;
}

void ek_control_serialize(struct ek_control *c, struct ek_serialize *s, int features, int cells)
{
    int limited = (int)c->limited;
    ek_plan_serialize(ek_control_now(c), s, features, cells);
    ek_rollouts_serialize(&c->rollouts, s, features, cells);
    flag_serialize(s, &c->paused);
    ek_snap_i64(s, &c->paused_ms);
    ek_snap_int(s, &limited, EK_EXCEEDS_NONE, EK_EXCEEDS_PLAN - 1);
    c->limited = (enum ek_exceeds)limited;
    ek_snap_i64(s, &c->free_ms);
    flag_serialize(s, &c->was_full);
    ek_control_pins_serialize(c, s, features, cells);
    if (c->paused && is_there(s))
        ek_plan_serialize(&c->before, s, features, cells);
    if (is_there(s))
        ek_rollouts_credit_serialize(&c->rollouts, s);
}

/* Rules that let routes end by themselves do so with those that wait for a person, too. */
static void end_awaiting(struct ek_control *c, int64_t time_ms)
{
    for (int i = 0; c->setup.rules->recover_auto && i < c->wanted.count; i++) {
        const struct ek_plan_entry *e = &c->wanted.entry[i];
        if (ek_plan_awaits(e))
            ek_plan_end(&c->wanted, e->feature, e->cell, time_ms, c->setup.rules->hold_ms);
    }
}

void ek_control_restored(struct ek_control *c, int64_t time_ms)
{
    end_awaiting(c, time_ms);
    ek_control_follow_wanted(c, time_ms);
    ek_control_keep(c);
    c->stale = true; /* the rules may be other ones */
    c->spent = true; /* a route may have been, with the last list */
}

struct ek_control_memory ek_control_memory(const struct ek_control *c)
{
    return (struct ek_control_memory){.plan = ek_control_plan(c),
                                      .wanted = &c->wanted,
                                      .rollouts = &c->rollouts,
                                      .limited = c->limited,
                                      .free_ms = c->free_ms,
                                      .was_full = c->was_full,
                                      .pin = c->pin,
                                      .pins = c->pins,
                                      .paused = c->paused,
                                      .paused_ms = c->paused_ms};
}

void ek_control_follow(struct ek_control *c, const struct ek_control_memory *m)
{
    c->wanted = *m->wanted;
    *ek_control_now(c) = *m->plan;
    c->rollouts = *m->rollouts;
    c->limited = m->limited;
    c->free_ms = m->free_ms;
    c->was_full = m->was_full;
    ek_control_keep(c);
    c->stale = false;
}

int ek_control_follow_people(struct ek_control *c, const struct ek_control_memory *m)
{
    int rc = EK_OK;
    ek_control_pins_free(c);
    for (int i = 0; i < m->pins && !rc; i++)
        rc = ek_control_pin(c, &m->pin[i], NULL);
    if (c->paused != m->paused)
        c->before.count = 0; /* it is of another pause */
    c->paused = m->paused;
    c->paused_ms = m->paused_ms;
    return rc;
}

static void merge_wanted(struct ek_plan *into, const struct ek_plan *from, const int16_t *to)
{
    for (int i = 0; i < from->count; i++) {
        struct ek_plan_entry entry = from->entry[i];
        entry.cell = to[entry.cell];
        if (entry.cell >= 0 && !ek_plan_has(into, entry.feature, entry.cell) &&
            into->count < EK_PLAN_MAX)
            into->entry[into->count++] = entry;
    }
}

int ek_control_merge(struct ek_control *into, const struct ek_control *from, const int16_t *to)
{
    uint64_t version = ek_control_plan(from)->version;
    merge_wanted(&into->wanted, &from->wanted, to);
    ek_rollouts_merge(&into->rollouts, &from->rollouts, to);
    if (from->paused && !into->paused) {
        into->before = *ek_control_plan(into);
        into->paused = true;
        into->paused_ms = from->paused_ms;
    }
    into->above = version > into->above ? version : into->above;
    into->stale = true;
    return ek_control_pins_merge(into, from, to);
}
