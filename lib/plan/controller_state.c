/* Serialization, merge and restore of the route controller. */
#include "plan/controller_internal.h"
#include "plan/plan.h"

void ek_controller_desired_serialize(struct ek_controller *c, struct ek_serialize *s, int features,
                                     int cells)
{
    ek_plan_serialize(&c->desired, s, features, cells);
}

static void flag_serialize(struct ek_serialize *s, bool *flag)
{
    int value = *flag;
    ek_serialize_int(s, &value, 0, 1);
    *flag = value;
}

/* Earlier versions did not write the later fields. */
static bool is_there(const struct ek_serialize *s)
{
    return !ek_serialize_is_reading(s) || s->at < s->end;
}

void ek_controller_serialize(struct ek_controller *c, struct ek_serialize *s, int features,
                             int cells)
{
    int limited = (int)c->limited;
    ek_plan_serialize(ek_controller_current_plan(c), s, features, cells);
    ek_rollouts_serialize(&c->rollouts, s, features, cells);
    flag_serialize(s, &c->paused);
    ek_serialize_i64(s, &c->paused_ms);
    ek_serialize_int(s, &limited, EK_EXCEEDS_NONE, EK_EXCEEDS_PLAN - 1);
    c->limited = (enum ek_exceeds)limited;
    ek_serialize_i64(s, &c->free_ms);
    flag_serialize(s, &c->was_full);
    ek_controller_pins_serialize(c, s, features, cells);
    if (c->paused && is_there(s))
        ek_plan_serialize(&c->before, s, features, cells);
    if (is_there(s))
        ek_rollouts_budget_serialize(&c->rollouts, s);
    if (is_there(s))
        ek_rollouts_incidents_serialize(&c->rollouts, s);
}

/* With `recover: auto`, also end routes that wait for an operator. */
static void end_awaiting(struct ek_controller *c, int64_t time_ms)
{
    for (int i = 0; c->setup.rules->recover_auto && i < c->desired.count; i++) {
        const struct ek_plan_entry *e = &c->desired.entry[i];
        if (ek_plan_awaits(e))
            ek_plan_end(&c->desired, e->feature, e->cell, time_ms, c->setup.rules->min_duration_ms);
    }
}

void ek_controller_restored(struct ek_controller *c, int64_t time_ms)
{
    end_awaiting(c, time_ms);
    ek_controller_update_percentages(c); /* by the plan of the earlier rules */
    ek_controller_sync_rollouts(c, time_ms);
    ek_controller_retain_cells(c);
    c->stale = true; /* the rules may have changed */
    c->spent = true; /* the last list may have used up a route's budget */
}

struct ek_controller_memory ek_controller_memory(const struct ek_controller *c)
{
    return (struct ek_controller_memory){.plan = ek_controller_plan(c),
                                         .desired = &c->desired,
                                         .rollouts = &c->rollouts,
                                         .limited = c->limited,
                                         .free_ms = c->free_ms,
                                         .was_full = c->was_full,
                                         .pin = c->pin,
                                         .pins = c->pins,
                                         .paused = c->paused,
                                         .paused_ms = c->paused_ms};
}

void ek_controller_apply_record(struct ek_controller *c, const struct ek_controller_memory *m)
{
    c->desired = *m->desired;
    *ek_controller_current_plan(c) = *m->plan;
    c->rollouts = *m->rollouts;
    c->limited = m->limited;
    c->free_ms = m->free_ms;
    c->was_full = m->was_full;
    ek_controller_retain_cells(c);
    c->stale = false;
}

int ek_controller_apply_operators(struct ek_controller *c, const struct ek_controller_memory *m)
{
    int rc = EK_OK;
    ek_controller_pins_free(c);
    for (int i = 0; i < m->pins && !rc; i++)
        rc = ek_controller_pin(c, &m->pin[i], NULL);
    if (c->paused != m->paused)
        c->before.count = 0; /* plan of another pause */
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

int ek_controller_merge(struct ek_controller *into, const struct ek_controller *from,
                        const int16_t *to)
{
    uint64_t version = ek_controller_plan(from)->version;
    merge_wanted(&into->desired, &from->desired, to);
    ek_rollouts_merge(&into->rollouts, &from->rollouts, to);
    if (from->paused)
        ek_controller_pause(into, true, from->paused_ms);
    into->above = version > into->above ? version : into->above;
    into->stale = true;
    return ek_controller_pins_merge(into, from, to);
}
