/* What routes have earned: a route acts on all lists of its cell for the sake of those that have
 * the fault, so each of these earns it 1 / act_share lists, and each list in its reach takes one.
 * One that has spent what it earned ends, whatever its hold; so who forges lists gets no more of
 * others under a route than that, however they are timed. With `recover: manual` people end routes.
 */
#include "plan/control_internal.h"

#include <math.h>

/* A list that shows the fault earns two at least, whatever act_share is; and 0 stands for the
 * least. No class goes without an account, also those that are acted on whatever their share. */
static const double SHARE_MOST = .5, SHARE_LEAST = 1e-4;

static double lists_each(const struct ek_control *c, int feature)
{
    double share = ek_control_rule(c, feature)->act_share;
    return 1 / fmin(fmax(share, SHARE_LEAST), SHARE_MOST);
}

static bool keeps_account(const struct ek_control *c)
{
    return c->setup.hears.shown && c->setup.hears.shows;
}

/* With `recover: manual` it is kept, for other rules may come, and ends nothing. */
static bool goes_by_account(const struct ek_control *c)
{
    return keeps_account(c) && c->setup.rules->recover_auto;
}

static bool goes_on(const struct ek_control *c, int feature, int cell)
{
    const struct ek_plan_entry *e = ek_plan_entry_at(&c->wanted, feature, cell);
    return e && e->until_ms < 0;
}

bool ek_control_is_earned(const struct ek_control *c, const struct ek_finding *f, double *credit)
{
    *credit = 0;
    if (f->cell < 0) /* a fleet's, for which its decider acts, and has no cell here */
        return !f->passing;
    const struct ek_rollout *r = ek_control_rollout(c, f->feature, f->cell);
    bool lasts = goes_on(c, f->feature, f->cell), again = r && r->about.episode == f->episode;
    *credit = r ? r->credit : 0;
    if (lasts && again)
        return true;
    if (f->passing && !lasts)
        return false;
    if (!keeps_account(c))
        return true;
    if (!again) /* what its lists earned before anything was done about it */
        *credit += c->setup.hears.shown(c->setup.hears.context, f->feature, f->cell) *
                   lists_each(c, f->feature);
    return !goes_by_account(c) || *credit >= (again ? c->setup.rules->confirm_queries : 1);
}

int64_t ek_control_earned_ms(const struct ek_control *c, const struct ek_finding *f,
                             int64_t time_ms)
{
    double lasted = (double)time_ms - (double)f->since_ms;
    if (keeps_account(c) || f->state != EK_RECOVERED || f->class == EK_CLASS_NONE || lasted < 0)
        return INT64_MAX;
    double ms = lasted * f->share * lists_each(c, f->feature);
    return ms < 9e18 ? (int64_t)ms : INT64_MAX;
}

static void take_in(struct ek_control *c)
{
    const struct ek_control_hears *h = &c->setup.hears;
    for (int i = 0; i < c->rollouts.count; i++) {
        struct ek_rollout *r = &c->rollouts.one[i];
        uint32_t episode;
        double shows = h->shows(h->context, r->feature, r->cell, &episode);
        if (episode && episode == r->about.episode)
            r->credit += shows * lists_each(c, r->feature);
    }
}

void ek_control_list(struct ek_control *c, const struct ek_plan_routing *routing)
{
    const struct ek_plan *p = ek_control_plan(c);
    if (!keeps_account(c) || !c->rollouts.count)
        return;
    take_in(c);
    for (int i = 0; i < p->count; i++) {
        const struct ek_plan_entry *e = &p->entry[i];
        if (e->by != EK_BY_FINDING || !ek_routing_has(routing, i))
            continue;
        struct ek_rollout *r = ek_rollout_find(&c->rollouts, e->feature, e->cell);
        if (!r)
            continue;
        r->credit -= 1;
        c->spent |= r->credit < 1;
    }
}

bool ek_control_end_spent(struct ek_control *c)
{
    bool some = false;
    for (int i = goes_by_account(c) ? c->wanted.count - 1 : -1; i >= 0; i--) {
        const struct ek_plan_entry *e = &c->wanted.entry[i];
        const struct ek_rollout *r = ek_control_rollout(c, e->feature, e->cell);
        if (r && r->credit < 1 && !ek_plan_awaits(e))
            some |= ek_plan_remove(&c->wanted, e->feature, e->cell);
    }
    c->spent = false;
    return some;
}

void ek_control_renumber(struct ek_control *c, int feature, int cell, uint32_t episode)
{
    struct ek_rollout *r = ek_rollout_find(&c->rollouts, feature, cell);
    if (r && episode)
        r->about.episode = episode;
}
