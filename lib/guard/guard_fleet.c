#include "guard/guard_fleet.h"

#include "guard/guard_internal.h"

int ek_guard_join(struct ek_guard *g, const char *name, uint64_t start, int cells,
                  struct ek_error *e)
{
    const struct ek_fleet_member_setup setup = {g->assets->profile, name, start, cells};
    return ek_fleet_member_new(&g->member, g->detector, &setup, e);
}

int ek_guard_tell_fleet(struct ek_guard *g,
                        int (*write)(void *context, const void *bytes, size_t length),
                        void *context, struct ek_error *e)
{
    return ek_fleet_member_tick(g->member, g->time_ms, write, context, e);
}

int ek_guard_hear_plan(struct ek_guard *g, const void *bytes, size_t length, int64_t clock_ms,
                       struct ek_error *e)
{
    return ek_fleet_plans_take(ek_fleet_member_plans(g->member), bytes, length, clock_ms,
                               g->time_ms, e);
}

const struct ek_fleet_plans *ek_guard_plans(const struct ek_guard *g)
{
    return g->member ? ek_fleet_member_plans(g->member) : NULL;
}

const struct ek_plan *ek_guard_plan_at(const struct ek_guard *g, int64_t time_ms)
{
    return g->member ? ek_fleet_plans_at(ek_guard_plans(g), time_ms, g->time_ms) : &g->plan;
}

int ek_guard_follow_fleet(struct ek_guard *g)
{
    const struct ek_plan *now = ek_guard_plan_at(g, g->time_ms);
    int changed = now->version != g->plan.version;
    if (changed)
        g->plan = *now;
    return changed;
}
