/* How far routes have been let: they begin and end with what is wanted, step, and are withdrawn. */
#include "plan/plan_modes.h"
#include "plan/control_internal.h"

#include <math.h>

/* Lists between two looks: without lists there is no growth, and no verdict either. */
enum { LOOK_LISTS = 32 };

const struct ek_feature_rule *ek_control_rule(const struct ek_control *c, int feature)
{
    const struct ek_manifest *m = c->setup.manifest;
    return &c->setup.rules->feature[m->item[feature] - m->features];
}

enum ek_mode ek_control_mode_of(const struct ek_control *c, int feature, int cell)
{
    const struct ek_control_cells *cells = &c->setup.cells;
    const struct ek_manifest *m = c->setup.manifest;
    const char *value = cells->value_of ? cells->value_of(cells->context, cell) : NULL;
    const char *name = value ? cells->name_of(cells->context, cell) : NULL;
    return ek_rules_mode(c->setup.rules, (int)(m->item[feature] - m->features), name, value);
}

void ek_control_follow_wanted(struct ek_control *c, int64_t time_ms)
{
    for (int i = 0; i < c->rollouts.count; i++) {
        struct ek_rollout *r = &c->rollouts.one[i];
        if (r->ended_ms < 0 && !ek_plan_has(&c->wanted, r->feature, r->cell))
            ek_rollout_end(&c->rollouts, r->feature, r->cell, time_ms);
    }
    for (int i = 0; i < c->wanted.count; i++) {
        const struct ek_plan_entry *e = &c->wanted.entry[i];
        ek_rollout_begin(&c->rollouts, e->feature, e->cell, c->setup.rules,
                         &ek_control_rule(c, e->feature)->canary, time_ms);
    }
}

/* The mode by which a route of the plan in force steps and is judged: that of a canary as long as
 * any list that it reaches has it, for those wait for its steps whatever others have. */
static enum ek_mode mode_of_route(const struct ek_control *c, const struct ek_plan_entry *e)
{
    const struct ek_plan *p = ek_control_plan(c);
    const struct ek_plan_words words = {p->mode, p->modes, c->setup.cells.dimension_of,
                                        c->setup.cells.context};
    unsigned modes = ek_plan_modes_of(&words, e->feature, e->cell, e->mode);
    if (modes & ek_mode_bit(EK_MODE_CANARY))
        return EK_MODE_CANARY;
    return modes & ek_mode_bit(EK_MODE_ENFORCE) ? EK_MODE_ENFORCE : EK_MODE_OBSERVE;
}

/* Whose step was the last of those that act: where the stage is slow, it is that one's doing. */
static const struct ek_rollout *grew_last(const struct ek_control *c)
{
    const struct ek_plan *p = ek_control_plan(c);
    const struct ek_rollout *last = NULL;
    for (int i = 0; i < p->count; i++) {
        const struct ek_rollout *r = ek_control_rollout(c, p->entry[i].feature, p->entry[i].cell);
        bool acts = r && ek_rollout_may_act(r) && mode_of_route(c, &p->entry[i]) >= EK_MODE_CANARY;
        if (acts && p->entry[i].by == EK_BY_FINDING && (!last || r->step_ms > last->step_ms))
            last = r;
    }
    return last;
}

static struct ek_rollout_figures figures_of(const struct ek_control *c, const struct ek_rollout *r,
                                            const struct ek_rollout *last)
{
    static const struct ek_rollout_figures nothing = {.dead_rate_elsewhere = NAN,
                                                      .rank_change_p95 = NAN,
                                                      .latency_p99_ms = NAN,
                                                      .latency_before_ms = NAN};
    const struct ek_control_hears *h = &c->setup.hears;
    struct ek_rollout_figures f = nothing;
    if (!h->figures_of || !h->figures_of(h->context, r->feature, r->cell, &f))
        f = nothing;
    if (r != last)
        f.latency_p99_ms = f.latency_before_ms = (double)NAN;
    return f;
}

static bool look_at(struct ek_control *c, struct ek_rollout *r, const struct ek_rollout *last,
                    int64_t time_ms)
{
    const struct ek_plan *p = ek_control_plan(c);
    const struct ek_control_hears *h = &c->setup.hears;
    enum ek_mode mode = EK_MODE_OBSERVE; /* what a limit keeps out does not act */
    for (int i = 0; i < p->count; i++)
        if (p->entry[i].feature == r->feature && p->entry[i].cell == r->cell &&
            p->entry[i].by == EK_BY_FINDING)
            mode = mode_of_route(c, &p->entry[i]);
    struct ek_rollout_figures f = figures_of(c, r, last);
    if (ek_rollout_look(r, mode, &ek_control_rule(c, r->feature)->canary, &f, time_ms) ==
        EK_ROLLOUT_STAYS)
        return false;
    r->tried = f.tried;
    if (h->figures_begin)
        h->figures_begin(h->context, r->feature, r->cell);
    return true;
}

bool ek_control_look(struct ek_control *c, int64_t time_ms, uint64_t query)
{
    bool some = c->wanted.count && !c->paused;
    bool changed = false;
    if (!some || query % LOOK_LISTS != 0)
        return false;
    const struct ek_rollout *last = grew_last(c);
    for (int i = 0; i < c->rollouts.count; i++)
        if (ek_rollout_may_act(&c->rollouts.one[i]))
            changed |= look_at(c, &c->rollouts.one[i], last, time_ms);
    return changed;
}

/* Whether it was one that only stayed because nobody had ended it. */
static bool end_by_hand(struct ek_control *c, int feature, int cell)
{
    const struct ek_plan_entry *e = ek_plan_entry_at(&c->wanted, feature, cell);
    if (!e || !ek_plan_awaits(e))
        return false;
    ek_plan_remove(&c->wanted, feature, cell);
    c->stale = true;
    return true;
}

int ek_control_resume(struct ek_control *c, int feature, int cell, int64_t time_ms,
                      struct ek_error *e)
{
    if (end_by_hand(c, feature, cell))
        return EK_OK;
    struct ek_rollout *r = ek_rollout_find(&c->rollouts, feature, cell);
    const struct ek_control_hears *h = &c->setup.hears;
    if (!r || r->ended_ms >= 0 || r->withdrawn == EK_RAIL_NONE)
        return ek_fail(e, EK_ESTATE,
                       "no route of '%s' was withdrawn there: resume is for one that a limit of "
                       "its canary has taken back, or that outlives its fault by 'recover: manual'",
                       c->setup.manifest->item[feature]->name);
    ek_rollout_resume(r, &ek_control_rule(c, feature)->canary, time_ms);
    if (h->figures_begin)
        h->figures_begin(h->context, feature, cell);
    c->stale = true;
    return EK_OK;
}
