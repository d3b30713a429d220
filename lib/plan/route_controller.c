/* Route controller: desired entries, rollouts, route budgets and limits. */
#include "plan/route_controller.h"

#include "base/alloc.h"
#include "plan/controller_internal.h"
#include "plan/plan.h"

#include <math.h>
#include <string.h>

/* Lists between compositions, because traffic fractions and available cells change without an
 * event. */
enum { AGAIN_LISTS = 1024 };

static bool limits_share(const struct ek_controller *c)
{
    const struct ek_controller_cells *cells = &c->setup.cells;
    return c->setup.rules->max_routed_share < 1 && (cells->share_of || cells->each_list);
}

int ek_controller_new(struct ek_controller **out, const struct ek_controller_setup *s,
                      struct ek_error *e)
{
    struct ek_controller *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->setup = *s;
    c->free_ms = -1;
    if (limits_share(c) && s->cells.each_list && ek_route_coverage_new(&c->reach)) {
        ek_free(c);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    *out = c;
    return EK_OK;
}

void ek_controller_free(struct ek_controller *c)
{
    if (!c)
        return;
    ek_controller_pins_free(c);
    ek_route_coverage_free(c->reach);
    ek_free(c);
}

const struct ek_plan *ek_controller_plan(const struct ek_controller *c)
{
    return &c->plan[c->now];
}

const struct ek_plan *ek_controller_desired(const struct ek_controller *c)
{
    return &c->desired;
}

enum ek_bound ek_controller_reached_limit(const struct ek_controller *c)
{
    return c->tripped;
}

const struct ek_rollout *ek_controller_rollout(const struct ek_controller *c, int feature, int cell)
{
    return ek_rollout_find((struct ek_rollouts *)&c->rollouts, feature, cell);
}

static const struct ek_feature_rule *rule_of(const struct ek_controller *c, int feature)
{
    const struct ek_manifest *m = c->setup.manifest;
    return &c->setup.rules->feature[m->item[feature] - m->features];
}

static enum ek_mode rules_mode(const struct ek_controller *c, int feature, int cell)
{
    const struct ek_controller_cells *cells = &c->setup.cells;
    const struct ek_manifest *m = c->setup.manifest;
    const char *value = cells->value_of ? cells->value_of(cells->context, cell) : NULL;
    const char *name = value ? cells->name_of(cells->context, cell) : NULL;
    return ek_rules_mode(c->setup.rules, (int)(m->item[feature] - m->features), name, value);
}

/* ----------------------------------------------------------------- budgets */

/* Limits of action_min_fraction: a list with the fault adds two lists or more to the budget, and
 * action_min_fraction 0 counts as the minimum. So every class has a budget. */
static const double SHARE_MOST = .5, SHARE_LEAST = 1e-4;

static double lists_each(const struct ek_controller *c, int feature)
{
    double share = rule_of(c, feature)->action_min_fraction;
    return 1 / fmin(fmax(share, SHARE_LEAST), SHARE_MOST);
}

static bool has_budget(const struct ek_controller *c)
{
    return c->setup.callbacks.sum_memberships && c->setup.callbacks.membership;
}

/* With `recover: manual` budgets are counted but end no route, because the rules may change. */
static bool uses_budget(const struct ek_controller *c)
{
    return has_budget(c) && c->setup.rules->recover_auto;
}

static bool is_desired(const struct ek_controller *c, int feature, int cell)
{
    const struct ek_plan_entry *e = ek_plan_entry_at(&c->desired, feature, cell);
    return e && e->until_ms < 0;
}

/* Return whether the budget, including recent lists, suffices to start or continue a route.
 * *credit: its budget. */
static bool is_earned(const struct ek_controller *c, const struct ek_finding *f, double *credit)
{
    *credit = 0;
    if (f->cell < 0) /* finding of the fleet without a cell here; the leader acts on it */
        return !f->passing;
    const struct ek_rollout *r = ek_controller_rollout(c, f->feature, f->cell);
    bool lasts = is_desired(c, f->feature, f->cell), again = r && r->context.episode == f->episode;
    *credit = !r ? 0 : again ? r->credit : fmax(r->credit, 0); /* debts end with their fault */
    if (lasts && again)
        return true;
    if (f->passing && !lasts)
        return false;
    if (!has_budget(c))
        return true;
    if (!again) /* lists since the change began */
        *credit +=
            c->setup.callbacks.sum_memberships(c->setup.callbacks.context, f->feature, f->cell) *
            lists_each(c, f->feature);
    return !uses_budget(c) || *credit >= (again ? c->setup.rules->confirmation_lists : 1);
}

/* Estimate how long a cleared fault has paid for its route if lists are not counted, from its
 * duration and fraction. INT64_MAX: lists are counted, or unknown. */
static int64_t estimate_earned_ms(const struct ek_controller *c, const struct ek_finding *f,
                                  int64_t time_ms)
{
    double lasted = (double)time_ms - (double)f->since_ms;
    if (has_budget(c) || f->state != EK_RECOVERED || f->class == EK_CLASS_NONE || lasted < 0)
        return INT64_MAX;
    double ms = lasted * f->share * lists_each(c, f->feature);
    return ms < 9e18 ? (int64_t)ms : INT64_MAX;
}

static void update_budgets(struct ek_controller *c)
{
    const struct ek_controller_callbacks *h = &c->setup.callbacks;
    for (int i = 0; i < c->rollouts.count; i++) {
        struct ek_rollout *r = &c->rollouts.one[i];
        uint32_t episode;
        double shows = h->membership(h->context, r->feature, r->cell, &episode);
        if (episode && episode == r->context.episode)
            r->credit += shows * lists_each(c, r->feature);
    }
}

void ek_controller_list(struct ek_controller *c, const struct ek_plan_routing *routing)
{
    const struct ek_plan *p = ek_controller_plan(c);
    if (!has_budget(c) || !c->rollouts.count)
        return;
    update_budgets(c);
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

/* Remove entries without budget. Return whether any was removed. */
static bool end_spent(struct ek_controller *c)
{
    bool some = false;
    for (int i = uses_budget(c) ? c->desired.count - 1 : -1; i >= 0; i--) {
        const struct ek_plan_entry *e = &c->desired.entry[i];
        const struct ek_rollout *r = ek_controller_rollout(c, e->feature, e->cell);
        if (r && r->credit < 1 && !ek_plan_awaits(e))
            some |= ek_plan_remove(&c->desired, e->feature, e->cell);
    }
    c->spent = false;
    return some;
}

/* --------------------------------------------------------------- decisions */

static enum ek_bound bound_of(enum ek_exceeds x)
{
    static const enum ek_bound bound[] = {EK_BOUND_NONE, EK_BOUND_ROUTED, EK_BOUND_SHARE,
                                          EK_BOUND_PLAN};
    return bound[x];
}

/* Apply the rules; only alert if the budget is too small. A route that is desired stays so while
 * the factor itself is beyond the threshold, as the ends of its interval scatter. Its repair is
 * chosen by the interval. */
static struct ek_decision decide(const struct ek_controller *c, const struct ek_finding *f)
{
    const struct ek_controller_setup *s = &c->setup;
    struct ek_decision d = ek_decide(s->rules, s->manifest, &s->means, f);
    if (!d.desired && ek_plan_has(&c->desired, f->feature, f->cell)) {
        struct ek_finding certain = *f;
        const struct ek_plan_repair repair = d.repair;
        certain.factor_low = certain.factor_high = f->factor;
        d = ek_decide(s->rules, s->manifest, &s->means, &certain);
        if (d.desired && repair.by != EK_REPAIR_UNKNOWN) {
            d.repair = repair;
            d.treatment.value = repair.number;
        }
    }
    bool open = f->state == EK_CONFIRMED || f->state == EK_UPDATED;
    double credit;
    if (d.desired && open && !is_earned(c, f, &credit)) {
        d.treatment = (struct ek_treatment){EK_ACT_ALERT, 0};
        d.desired = false;
    }
    return d;
}

struct ek_decision ek_controller_decide(const struct ek_controller *c, const struct ek_finding *f)
{
    const struct ek_controller_setup *s = &c->setup;
    struct ek_decision d = decide(c, f);
    const struct ek_rollout *r = ek_controller_rollout(c, f->feature, f->cell);
    bool acts = d.desired && d.mode >= EK_MODE_CANARY;
    bool desired = ek_plan_has(&c->desired, f->feature, f->cell);
    d.rolled_back = acts && desired && r && r->rolled_back != EK_GUARDRAIL_NONE;
    if (d.rolled_back)
        d.mode = EK_MODE_OBSERVE;
    const struct ek_plan_entry *entry = ek_plan_entry_at(&c->desired, f->feature, f->cell);
    d.stays = f->state == EK_RECOVERED && entry && ek_plan_awaits(entry);
    d.paused = acts && c->paused;
    if (!acts || c->paused || ek_plan_has(ek_controller_plan(c), f->feature, f->cell))
        return d;
    if (!desired && !ek_plan_has_space(&c->desired, f->feature, f->cell))
        d.limited = EK_BOUND_PLAN;
    else if (desired && ek_rollout_may_act(r))
        d.limited = bound_of(c->limited);
    if (d.limited != EK_BOUND_NONE && s->rules->on_limit == EK_LIMIT_OBSERVE)
        d.mode = EK_MODE_OBSERVE;
    return d;
}

/* ---------------------------------------------------------------- findings */

/* A factor of a part of the lists corrects nothing in the others. */
static struct ek_plan_repair repair_of(const struct ek_finding *f, const struct ek_decision *d)
{
    static const double ALL_LISTS = .9;
    bool one = f->class == EK_SCALE && f->query_feature < 0 && f->share >= ALL_LISTS;
    bool by_list = f->class == EK_SCALE && f->query_feature >= 0 && !(f->exponent < 0);
    struct ek_plan_repair r = d->repair;
    r.factor = one ? f->factor : (double)NAN;
    r.query_feature = by_list ? f->query_feature : -1;
    return r;
}

/* Set a repair; a unit stays if the finding now has a wide interval, which few lists can make too
 * small, and the factor is still near it. */
static void keep_unit(struct ek_plan_repair *own, const struct ek_finding *f,
                      struct ek_plan_repair now)
{
    static const double NEAR = 1.5;
    double unit = own->number, off = unit > 0 ? f->factor / unit : 0;
    bool has_unit = own->exact && (own->by == EK_REPAIR_NUMBER || own->by == EK_REPAIR_LIST);
    if (has_unit && now.by == EK_REPAIR_LEVEL && off < NEAR && off > 1 / NEAR) {
        now.by = own->by;
        now.number = unit;
        now.exact = true;
    }
    *own = now;
}

/* Return the strictest active rollout of the same fault, if the finding has another cell now, else
 * NULL. Cells of one dimension have no list in common, so each has a fault of its own. */
static const struct ek_rollout *previous_rollout(const struct ek_controller *c,
                                                 const struct ek_finding *f)
{
    const struct ek_controller_cells *cells = &c->setup.cells;
    const struct ek_rollout *found = NULL;
    for (int i = 0; f->cause && i < c->rollouts.count; i++) {
        const struct ek_rollout *r = &c->rollouts.one[i];
        if (r->ended_ms >= 0 || r->feature != f->feature || r->context.cause != f->cause ||
            r->cell == f->cell ||
            cells->dimension_of(cells->context, r->cell) ==
                cells->dimension_of(cells->context, f->cell))
            continue;
        if (!found || ek_rollout_is_stricter(r, found))
            found = r;
    }
    return found;
}

/* A statistic near a threshold may end and restart the route of one fault, and the fault may pass
 * to another cell. A rollback is final in it. */
static struct ek_rollout *rollout_for(struct ek_controller *c, const struct ek_finding *f,
                                      int64_t time_ms)
{
    struct ek_rollout *r = ek_rollout_find(&c->rollouts, f->feature, f->cell);
    if (r && f->state == EK_UPDATED && f->episode == r->context.episode)
        ek_rollout_restart(r, time_ms);
    bool begins = f->state == EK_CONFIRMED && !(r && r->ended_ms < 0);
    const struct ek_rollout *from = begins ? previous_rollout(c, f) : NULL;
    r = ek_rollout_begin(&c->rollouts, f->feature, f->cell, c->setup.rules,
                         &rule_of(c, f->feature)->canary, time_ms);
    if (r && from)
        ek_rollout_inherit(r, from); /* an active rollout is not evicted */
    return r;
}

static void want(struct ek_controller *c, const struct ek_finding *f, const struct ek_decision *d,
                 int64_t time_ms)
{
    if (!ek_plan_has_space(&c->desired, f->feature, f->cell)) {
        c->wanted_full = true;
        return;
    }
    double credit;
    is_earned(c, f, &credit);
    const struct ek_plan_entry *before = ek_plan_entry_at(&c->desired, f->feature, f->cell);
    c->report_due |= before && ek_plan_awaits(before); /* the fault has returned */
    ek_plan_set(&c->desired, f->feature, f->cell, d->treatment, time_ms);
    for (int i = 0; i < c->desired.count; i++)
        if (c->desired.entry[i].feature == f->feature && c->desired.entry[i].cell == f->cell)
            keep_unit(&c->desired.entry[i].repair, f, repair_of(f, d));
    struct ek_rollout *r = rollout_for(c, f, time_ms);
    if (!r)
        return;
    r->credit = credit;
    r->context = (struct ek_rollout_context){f->episode,     f->class, f->factor, f->factor_low,
                                             f->factor_high, f->share, f->cause};
}

/* Return whether the repair of an entry changes lists without the fault, too. */
static bool changes_healthy_lists(const struct ek_plan_entry *e)
{
    if (e->treatment.action != EK_ACT_REPAIR && e->treatment.action != EK_ACT_FILL)
        return false;
    switch (e->repair.by) {
    case EK_REPAIR_NUMBER:
    case EK_REPAIR_QUERY_FEATURE:
    case EK_REPAIR_POWER:
    case EK_REPAIR_OFFSET:
    case EK_REPAIR_SIGN:
    case EK_REPAIR_ALL:
        return true;
    default:
        return e->repair.by == EK_REPAIR_LEVEL && e->repair.number == 1;
    }
}

/* Start the minimum duration of the entry of a finding, which a repair that would damage healthy
 * lists does not have after its fault. */
static void start_end(struct ek_controller *c, const struct ek_finding *f, int64_t time_ms)
{
    const struct ek_plan_entry *entry = ek_plan_entry_at(&c->desired, f->feature, f->cell);
    if (f->state == EK_RECOVERED && entry && changes_healthy_lists(entry)) {
        ek_plan_end(&c->desired, f->feature, f->cell, time_ms, 0);
        return;
    }
    const struct ek_rollout *r = ek_controller_rollout(c, f->feature, f->cell);
    int64_t min_duration_ms =
        r ? ek_rollout_min_duration_ms(r, c->setup.rules) : c->setup.rules->min_duration_ms;
    int64_t earned_ms = estimate_earned_ms(c, f, time_ms);
    ek_plan_end(&c->desired, f->feature, f->cell, time_ms,
                earned_ms < min_duration_ms ? earned_ms : min_duration_ms);
}

/* Return whether the route of a finding acts, or acted before the pause. If the plan before the
 * pause is unknown, return whether the rules let it act. */
static bool does_something(const struct ek_controller *c, int feature, int cell)
{
    const struct ek_plan *p = c->paused ? &c->before : ek_controller_plan(c);
    const struct ek_plan_entry *e = ek_plan_entry_at(p, feature, cell);
    if (c->paused && !p->count)
        return rules_mode(c, feature, cell) != EK_MODE_OBSERVE;
    return e && e->by == EK_BY_FINDING && e->mode != EK_MODE_OBSERVE;
}

/* End the entry of a recovered fault. With `recover: manual` an active route waits for an
 * operator. */
static void recover(struct ek_controller *c, const struct ek_finding *f, int64_t time_ms)
{
    bool acts = does_something(c, f->feature, f->cell);
    if (c->setup.rules->recover_auto || !acts) {
        start_end(c, f, time_ms);
        return;
    }
    ek_plan_await(&c->desired, f->feature, f->cell);
    c->report_due = true;
}

void ek_controller_add_finding(struct ek_controller *c, const struct ek_finding *f, int64_t time_ms)
{
    struct ek_decision d;
    switch (f->state) {
    case EK_CONFIRMED:
    case EK_UPDATED:
        d = decide(c, f);
        if (d.desired)
            want(c, f, &d, time_ms);
        else /* a statistic near a threshold must not make the plan flap */
            start_end(c, f, time_ms);
        break;
    case EK_DISMISSED: /* a suspicion that was not confirmed does not end an earlier minimum
                          duration */
        if (f->class != EK_CLASS_NONE)
            ek_plan_remove(&c->desired, f->feature, f->cell);
        break;
    case EK_RECOVERED:
        recover(c, f, time_ms);
        break;
    case EK_SUSPECTED:
        return;
    }
    c->stale = true;
}

void ek_controller_set_episode(struct ek_controller *c, int feature, int cell, uint32_t episode)
{
    struct ek_rollout *r = ek_rollout_find(&c->rollouts, feature, cell);
    if (r && episode)
        r->context.episode = episode;
}

void ek_controller_set_incident(struct ek_controller *c, int feature, int cell, uint32_t cause)
{
    struct ek_rollout *r = ek_rollout_find(&c->rollouts, feature, cell);
    if (r)
        r->context.cause = cause;
}

void ek_controller_reset_cell(struct ek_controller *c, int cell)
{
    int kept = 0;
    for (int i = 0; i < c->before.count; i++)
        if (c->before.entry[i].cell != cell)
            c->before.entry[kept++] = c->before.entry[i];
    c->before.count = kept;
    ek_rollouts_reset_cell(&c->rollouts, cell);
}

void ek_controller_start_at(struct ek_controller *c, uint64_t version)
{
    ek_controller_current_plan(c)->version = version;
}

/* -------------------------------------------------------- inputs of a plan */

void ek_controller_retain_cells(struct ek_controller *c)
{
    const struct ek_plan *const plan[] = {&c->desired, ek_controller_plan(c), &c->before};
    int cells = 0;
    memset(c->held, 0, sizeof c->held);
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < plan[p]->count; i++)
            c->held[plan[p]->entry[i].cell] = 1;
    for (int i = 0; i < plan[1]->modes; i++)
        c->held[plan[1]->mode[i].cell] = 1;
    for (int i = 0; i < c->modes; i++)
        c->held[c->mode[i].cell] = 1;
    ek_controller_pins_retain(c, c->held);
    for (int cell = 0; cell <= INT16_MAX; cell++)
        cells = c->held[cell] ? cell + 1 : cells;
    if (c->setup.cells.retain)
        c->setup.cells.retain(c->setup.cells.context, c->held, cells);
}

/* Add the modes of segments for a feature. If one has no cell, the feature is not routed at all:
 * its lists cannot be distinguished. */
static bool add_modes(struct ek_controller *c, int feature, const struct ek_feature_rule *owner,
                      bool own)
{
    const struct ek_controller_cells *cells = &c->setup.cells;
    for (int i = 0; i < owner->mode_in_count; i++) {
        const struct ek_mode_in *in = &owner->mode_in[i];
        int cell = -1;
        if (c->modes < EK_PLAN_MODES_MAX && cells->assign)
            cell = cells->assign(cells->context, in->dimension, in->value);
        c->no_memory |= cell < -1;
        if (cell < 0)
            return false;
        c->mode[c->modes++] = (struct ek_plan_mode){feature, cell, in->mode, own};
        if (!c->held[cell])
            ek_controller_retain_cells(c); /* the next segment value must not take the cell */
    }
    return true;
}

/* Find the modes of segments for all desired features. */
static void find_modes(struct ek_controller *c)
{
    const struct ek_rules *rules = c->setup.rules;
    c->modes = 0;
    c->modes_full = c->no_memory = false;
    memset(c->apart, 0, sizeof c->apart);
    for (int i = 0; i < c->desired.count; i++) {
        int feature = c->desired.entry[i].feature, before = c->modes;
        const struct ek_feature_rule *rule = rule_of(c, feature);
        bool known = c->apart[feature] != EK_APART_NEW;
        bool placed = known || (add_modes(c, feature, rule, true) &&
                                (rule->has_mode || add_modes(c, feature, &rules->defaults, false)));
        if (known)
            continue;
        c->apart[feature] = placed ? EK_APART_NO : EK_APART_YES;
        c->modes = placed ? c->modes : before;
        c->modes_full |= !placed && !c->no_memory;
    }
}

static enum ek_mode mode_of(void *context, int feature, int cell)
{
    const struct ek_controller *c = context;
    return c->apart[feature] == EK_APART_YES ? EK_MODE_OBSERVE : rules_mode(c, feature, cell);
}

static int dimension_of(void *context, int cell)
{
    const struct ek_controller_cells *cells = &((struct ek_controller *)context)->setup.cells;
    return cells->dimension_of(cells->context, cell);
}

static double share_of(void *context, const int *cell, int count)
{
    const struct ek_controller_cells *cells = &((struct ek_controller *)context)->setup.cells;
    return cells->share_of(cells->context, cell, count);
}

/* ------------------------------------------------------------------ limits */

/* Return whether no limit has been exceeded for one minimum duration. */
static bool is_free(const struct ek_controller *c, int64_t time_ms)
{
    return c->limited == EK_EXCEEDS_NONE ||
           (c->free_ms >= 0 &&
            (time_ms < c->free_ms || time_ms - c->free_ms >= c->setup.rules->min_duration_ms));
}

/* Report a limit once, until it has not been exceeded for one minimum duration. */
static void note_limit(struct ek_controller *c, const struct ek_composed *out, bool was,
                       int64_t time_ms)
{
    bool full = out->limited == EK_EXCEEDS_PLAN || c->modes_full;
    bool exceeds = out->limited != EK_EXCEEDS_NONE && out->limited != EK_EXCEEDS_PLAN;
    if (exceeds && !was)
        c->tripped = bound_of(out->limited);
    if (exceeds)
        c->limited = out->limited;
    else if (!was)
        c->limited = EK_EXCEEDS_NONE;
    if (exceeds || !was)
        c->free_ms = -1;
    else if (c->free_ms < 0)
        c->free_ms = time_ms;
    if ((full && !c->was_full) || c->wanted_full)
        c->tripped = c->tripped ? c->tripped : EK_BOUND_PLAN;
    c->was_full = full;
    c->wanted_full = false;
}

/* ---------------------------------------------------------------- rollouts */

/* Lists between checks of rollouts. */
enum { LOOK_LISTS = 32 };

void ek_controller_sync_rollouts(struct ek_controller *c, int64_t time_ms)
{
    for (int i = 0; i < c->rollouts.count; i++) {
        struct ek_rollout *r = &c->rollouts.one[i];
        if (r->ended_ms < 0 && !ek_plan_has(&c->desired, r->feature, r->cell))
            ek_rollout_end(&c->rollouts, r->feature, r->cell, time_ms);
    }
    for (int i = 0; i < c->desired.count; i++) {
        const struct ek_plan_entry *e = &c->desired.entry[i];
        ek_rollout_begin(&c->rollouts, e->feature, e->cell, c->setup.rules,
                         &rule_of(c, e->feature)->canary, time_ms);
    }
}

/* Return the mode that applies to steps and guardrails of a route: canary if any list in scope has
 * it, because these lists need the steps. */
static enum ek_mode mode_of_route(const struct ek_controller *c, const struct ek_plan_entry *e)
{
    const struct ek_plan *p = ek_controller_plan(c);
    const struct ek_plan_outcomes words = {p->mode, p->modes, c->setup.cells.dimension_of,
                                           c->setup.cells.context};
    unsigned modes = ek_plan_get_modes(&words, e->feature, e->cell, e->mode);
    if (modes & ek_mode_bit(EK_MODE_CANARY))
        return EK_MODE_CANARY;
    return modes & ek_mode_bit(EK_MODE_ENFORCE) ? EK_MODE_ENFORCE : EK_MODE_OBSERVE;
}

/* Return whether the plan lets the route of a rollout change lists. */
static bool is_acting(const struct ek_controller *c, const struct ek_rollout *r)
{
    const struct ek_plan *p = c->paused ? &c->before : ek_controller_plan(c);
    for (int i = 0; i < p->count; i++)
        if (p->entry[i].feature == r->feature && p->entry[i].cell == r->cell &&
            p->entry[i].by == EK_BY_FINDING && mode_of_route(c, &p->entry[i]) >= EK_MODE_CANARY)
            return true;
    return false;
}

void ek_controller_update_percentages(struct ek_controller *c)
{
    for (int i = 0; i < c->rollouts.count; i++) {
        struct ek_rollout *r = &c->rollouts.one[i];
        bool stepped = r->compared > 0; /* each step needs compared lists */
        if (r->ended_ms < 0 && !stepped && !is_acting(c, r))
            ek_rollout_set_initial(r, &rule_of(c, r->feature)->canary);
    }
}

/* Return the active rollout that stepped last; it gets the blame for latency. */
static const struct ek_rollout *grew_last(const struct ek_controller *c)
{
    const struct ek_plan *p = ek_controller_plan(c);
    const struct ek_rollout *last = NULL;
    for (int i = 0; i < p->count; i++) {
        const struct ek_rollout *r =
            ek_controller_rollout(c, p->entry[i].feature, p->entry[i].cell);
        bool acts = r && ek_rollout_may_act(r) && mode_of_route(c, &p->entry[i]) >= EK_MODE_CANARY;
        if (acts && p->entry[i].by == EK_BY_FINDING && (!last || r->step_ms > last->step_ms))
            last = r;
    }
    return last;
}

static struct ek_rollout_stats get_stats(const struct ek_controller *c, const struct ek_rollout *r,
                                         const struct ek_rollout *last)
{
    static const struct ek_rollout_stats nothing = {.dead_rate_elsewhere = NAN,
                                                    .rank_change_p95 = NAN,
                                                    .latency_p99_ms = NAN,
                                                    .latency_before_ms = NAN};
    const struct ek_controller_callbacks *h = &c->setup.callbacks;
    struct ek_rollout_stats f = nothing;
    if (!h->get_stats || !h->get_stats(h->context, r->feature, r->cell, &f))
        f = nothing;
    if (r != last)
        f.latency_p99_ms = f.latency_before_ms = (double)NAN;
    return f;
}

static bool check_rollout(struct ek_controller *c, struct ek_rollout *r,
                          const struct ek_rollout *last, int64_t time_ms)
{
    const struct ek_plan *p = ek_controller_plan(c);
    const struct ek_controller_callbacks *h = &c->setup.callbacks;
    enum ek_mode mode = EK_MODE_OBSERVE; /* an entry outside the plan does not act */
    for (int i = 0; i < p->count; i++)
        if (p->entry[i].feature == r->feature && p->entry[i].cell == r->cell &&
            p->entry[i].by == EK_BY_FINDING)
            mode = mode_of_route(c, &p->entry[i]);
    struct ek_rollout_stats f = get_stats(c, r, last);
    if (ek_rollout_step(r, mode, &rule_of(c, r->feature)->canary, &f, time_ms) ==
        EK_ROLLOUT_UNCHANGED)
        return false;
    r->compared = f.compared;
    if (h->reset_stats)
        h->reset_stats(h->context, r->feature, r->cell);
    return true;
}

/* Check all rollouts. Return whether one changed. No effect while paused. */
static bool check_rollouts(struct ek_controller *c, int64_t time_ms, uint64_t query)
{
    bool some = c->desired.count && !c->paused;
    bool changed = false;
    if (!some || query % LOOK_LISTS != 0)
        return false;
    const struct ek_rollout *last = grew_last(c);
    for (int i = 0; i < c->rollouts.count; i++)
        if (ek_rollout_may_act(&c->rollouts.one[i]))
            changed |= check_rollout(c, &c->rollouts.one[i], last, time_ms);
    return changed;
}

/* ------------------------------------------------------------------ update */

/* Remove expired entries. */
static void expire(struct ek_controller *c, int64_t time_ms)
{
    if (c->desired.count && ek_plan_expire(&c->desired, time_ms))
        c->stale = true;
    if (c->spent && end_spent(c))
        c->stale = true;
}

static bool is_due(const struct ek_controller *c, int64_t time_ms, uint64_t query)
{
    bool moves = limits_share(c) || c->was_full;
    bool again = moves && c->desired.count && query % AGAIN_LISTS == 0;
    bool freed = c->limited != EK_EXCEEDS_NONE && is_free(c, time_ms);
    return c->stale || (!c->paused && (again || freed)) || ek_controller_pins_due(c, time_ms);
}

static void compose(struct ek_controller *c, int64_t time_ms, struct ek_composed *out)
{
    bool was = !is_free(c, time_ms);
    ek_controller_sync_rollouts(c, time_ms);
    find_modes(c);
    if (c->reach && !c->paused) {
        ek_route_coverage_clear(c->reach);
        c->setup.cells.each_list(c->setup.cells.context, c->reach);
    }
    struct ek_composing composing = {.rules = c->setup.rules,
                                     .desired = &c->desired,
                                     .rollouts = &c->rollouts,
                                     .pin = c->pinned,
                                     .pins = ek_controller_pins_get(c, time_ms),
                                     .mode = c->mode,
                                     .modes = c->modes,
                                     .paused = c->paused,
                                     .was_limited = was,
                                     .mode_of = mode_of,
                                     .dimension_of = dimension_of,
                                     .share_of = limits_share(c) ? share_of : NULL,
                                     .reach = c->reach,
                                     .context = c};
    ek_plan_compose(&c->plan[!c->now], ek_controller_plan(c), &composing, out);
    if (out->changed && c->plan[!c->now].version <= c->above)
        c->plan[!c->now].version = c->above + 1;
    if (!c->paused)
        note_limit(c, out, was, time_ms);
    c->now = !c->now;
    c->above = 0;
    c->stale = c->no_memory; /* retry with the next list */
    ek_controller_retain_cells(c);
}

int ek_controller_update(struct ek_controller *c, int64_t time_ms, uint64_t query, bool *changed)
{
    struct ek_composed composed;
    *changed = false;
    c->tripped = EK_BOUND_NONE;
    expire(c, time_ms);
    if (check_rollouts(c, time_ms, query))
        c->stale = true;
    if (!is_due(c, time_ms, query))
        return EK_OK;
    compose(c, time_ms, &composed);
    *changed = composed.changed || c->report_due;
    c->report_due = false;
    const struct ek_plan *was = &c->plan[!c->now];
    int reported = ek_controller_report(c, was, &composed, time_ms, query);
    int ended = ek_controller_pins_end(c, time_ms, query, was->version);
    if (c->no_memory)
        return EK_ENOMEM;
    return reported ? reported : ended;
}

/* ---------------------------------------------------------------- commands */

/* End a route that waits for an operator. Return whether it did. */
static bool end_by_hand(struct ek_controller *c, int feature, int cell)
{
    const struct ek_plan_entry *e = ek_plan_entry_at(&c->desired, feature, cell);
    if (!e || !ek_plan_awaits(e))
        return false;
    ek_plan_remove(&c->desired, feature, cell);
    c->stale = true;
    return true;
}

int ek_controller_resume(struct ek_controller *c, int feature, int cell, int64_t time_ms,
                         struct ek_error *e)
{
    if (end_by_hand(c, feature, cell))
        return EK_OK;
    struct ek_rollout *r = ek_rollout_find(&c->rollouts, feature, cell);
    const struct ek_controller_callbacks *h = &c->setup.callbacks;
    if (!r || r->ended_ms >= 0 || r->rolled_back == EK_GUARDRAIL_NONE)
        return ek_fail(e, EK_ESTATE, "no rolled-back or waiting route of '%s' in this segment",
                       c->setup.manifest->item[feature]->name);
    ek_rollout_resume(r, &rule_of(c, feature)->canary, time_ms);
    if (h->reset_stats)
        h->reset_stats(h->context, feature, cell);
    c->stale = true;
    return EK_OK;
}
