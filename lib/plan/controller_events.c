/* Decision records for changes of the plan, each with a reason. */
#include "plan/controller_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { WHY_BYTES = 300, FOR_BYTES = 32 };

struct reporting {
    struct ek_controller *c;
    const struct ek_plan *was, *is;
    const struct ek_composed *composed;
    int64_t time_ms;
    uint64_t query;
    int rc;
    bool resumed; /* after a pause: `was` is the plan before the pause */
};

/* Format a duration, such as "45 s", "10 min" or "1.5 h". */
static const char *for_text(int64_t ms, char text[FOR_BYTES])
{
    double s = (double)ms / 1000;
    if (s < 120)
        snprintf(text, FOR_BYTES, "%.3g s", s);
    else if (s < 7200)
        snprintf(text, FOR_BYTES, "%.3g min", s / 60);
    else
        snprintf(text, FOR_BYTES, "%.3g h", s / 3600);
    return text;
}

static double percent(int hundredths)
{
    return hundredths / 100.0;
}

static struct ek_decision_record begin(const struct reporting *t, enum ek_decision_kind what)
{
    struct ek_decision_record d = ek_decision_get(what);
    d.query = t->query;
    d.time_ms = t->time_ms;
    d.before = t->was->version;
    d.after = t->is->version;
    return d;
}

static void hand_over(struct reporting *t, const struct ek_decision_record *d)
{
    const struct ek_controller_callbacks *h = &t->c->setup.callbacks;
    int rc = h->decided ? h->decided(h->context, d) : EK_OK;
    t->rc = t->rc ? t->rc : rc;
}

/* `e` is an entry of the previous or the current plan. */
static void report_decision(struct reporting *t, enum ek_decision_kind what,
                            const struct ek_plan_entry *e, const struct ek_rollout *r,
                            const char *why)
{
    const struct ek_controller_cells *cells = &t->c->setup.cells;
    struct ek_decision_record d = begin(t, what);
    d.reason = why;
    d.feature = t->c->setup.manifest->item[e->feature]->name;
    d.dimension = cells->name_of ? cells->name_of(cells->context, e->cell) : NULL;
    d.value = cells->value_of ? cells->value_of(cells->context, e->cell) : NULL;
    d.action = e->treatment.action;
    d.percent = e->mode == EK_MODE_CANARY ? e->percent : -1;
    if (r) {
        d.finding = r->context.episode;
        d.class = r->context.class;
        d.factor = r->context.factor;
        d.factor_low = r->context.factor_low;
        d.factor_high = r->context.factor_high;
        d.fraction = r->context.share;
    }
    if (r && what == EK_DECIDED_ROLLBACK) {
        d.guardrail = r->rolled_back;
        d.observed = r->observed;
        d.limit = r->limit;
    }
    hand_over(t, &d);
}

/* Return the entry for the same feature and segment that a finding caused, or NULL. */
static const struct ek_plan_entry *find_found(const struct ek_plan *p,
                                              const struct ek_plan_entry *like)
{
    int i = ek_plan_find(p, like->feature, like->cell);
    return i >= 0 && p->entry[i].by == EK_BY_FINDING ? &p->entry[i] : NULL;
}

static void set_mode(const struct ek_plan_entry *e, char *text, size_t size)
{
    switch (e->mode) {
    case EK_MODE_ENFORCE:
        snprintf(text, size, "enforced");
        return;
    case EK_MODE_CANARY:
        snprintf(text, size, "in a canary of %.4g%% of the lists", percent(e->percent));
        return;
    case EK_MODE_SHADOW:
        snprintf(text, size, "in shadow, so that no output changes");
        return;
    case EK_MODE_OBSERVE:
    case EK_MODE_COUNT:
        break;
    }
    snprintf(text, size, "where 'mode_in' lets it");
}

/* A route that a pin, a limit or the rules suspended is not a relapse. */
static void report_start(struct reporting *t, const struct ek_plan_entry *e)
{
    const struct ek_rollout *r = ek_controller_rollout(t->c, e->feature, e->cell);
    bool relapse = r && r->relapses > 0 && e->since_ms == t->time_ms;
    char mode[64], why[WHY_BYTES], held[FOR_BYTES];
    set_mode(e, mode, sizeof mode);
    if (relapse)
        snprintf(why, sizeof why, "the fault has come back %d time%s: %s is %s, and holds %s",
                 r->relapses, r->relapses > 1 ? "s" : "", ek_action_name(e->treatment.action), mode,
                 for_text(ek_rollout_min_duration_ms(r, t->c->setup.rules), held));
    else
        snprintf(why, sizeof why, "a finding requests %s: it is %s",
                 ek_action_name(e->treatment.action), mode);
    report_decision(t, relapse ? EK_DECIDED_RELAPSE : EK_DECIDED_ROUTE, e, r, why);
}

/* Report a mode that new rules changed. */
static void report_mode(struct reporting *t, const struct ek_plan_entry *from,
                        const struct ek_plan_entry *e)
{
    const struct ek_rollout *r = ek_controller_rollout(t->c, e->feature, e->cell);
    enum ek_decision_kind what = ek_mode_acts(e->mode) == ek_mode_acts(from->mode) ? EK_DECIDED_STEP
                                 : ek_mode_acts(e->mode) ? EK_DECIDED_ROUTE
                                                         : EK_DECIDED_END;
    char mode[64], why[WHY_BYTES];
    set_mode(e, mode, sizeof mode);
    snprintf(why, sizeof why, "under the current rules it is %s", mode);
    report_decision(t, what, e, r, why);
}

static void report_step(struct reporting *t, const struct ek_plan_entry *from,
                        const struct ek_plan_entry *e)
{
    const struct ek_rollout *r = ek_controller_rollout(t->c, e->feature, e->cell);
    char why[WHY_BYTES];
    if (e->percent > from->percent)
        snprintf(why, sizeof why,
                 "from %.4g%% to %.4g%% of the lists: %" PRIu64
                 " lists were compared, and no limit of 'abort_if' was exceeded",
                 percent(from->percent), percent(e->percent), r ? r->compared : 0);
    else
        snprintf(why, sizeof why, "from %.4g%% to %.4g%% of the lists: by the changed rules",
                 percent(from->percent), percent(e->percent));
    report_decision(t, EK_DECIDED_STEP, e, r, why);
}

static void report_rollback(struct reporting *t, const struct ek_plan_entry *e,
                            const struct ek_rollout *r)
{
    char why[WHY_BYTES];
    switch (r->rolled_back) {
    case EK_GUARDRAIL_DRIFT:
        snprintf(why, sizeof why,
                 "the model no longer ranks as the upstream ranker does (model_drift)");
        break;
    case EK_GUARDRAIL_WORSE:
        snprintf(why, sizeof why,
                 "the route does more harm than the fault (worse_than_unmitigated)");
        break;
    case EK_GUARDRAIL_RANKS:
    case EK_GUARDRAIL_ERRORS:
    case EK_GUARDRAIL_DEAD:
    case EK_GUARDRAIL_LATENCY:
    case EK_GUARDRAIL_NONE:
    case EK_GUARDRAIL_COUNT:
        snprintf(why, sizeof why, "%s is %.3g, and 'abort_if' allows %.3g",
                 ek_guardrail_name(r->rolled_back), r->observed, r->limit);
        break;
    }
    report_decision(t, EK_DECIDED_ROLLBACK, e, r, why);
}

static void report_end(struct reporting *t, const struct ek_plan_entry *e)
{
    const struct ek_rollout *r = ek_controller_rollout(t->c, e->feature, e->cell);
    bool desired = ek_plan_has(&t->c->desired, e->feature, e->cell);
    if (desired && r && r->rolled_back != EK_GUARDRAIL_NONE)
        report_rollback(t, e, r);
    else if (!desired && t->resumed)
        report_decision(t, EK_DECIDED_END, e, r, "no finding requires it since before the pause");
    else if (!desired && ek_plan_awaits(e))
        report_decision(t, EK_DECIDED_END, e, r,
                        "the fault has cleared, and an operator has ended it");
    else if (!desired && r && r->credit < 1 && t->c->setup.callbacks.sum_memberships)
        report_decision(t, EK_DECIDED_END, e, r,
                        "its budget is used up: too few lists show the fault");
    else if (!desired)
        report_decision(t, EK_DECIDED_END, e, r,
                        e->until_ms >= 0
                            ? "no finding requires it, and the minimum duration is over"
                            : "no finding requests it");
    else if (t->c->limited != EK_EXCEEDS_NONE)
        report_decision(t, EK_DECIDED_END, e, r, "a limit of the rules blocks it");
    else if (ek_plan_has(t->is, e->feature, e->cell) || ek_plan_has(t->is, e->feature, 0))
        report_decision(t, EK_DECIDED_END, e, r, "a pin takes precedence");
    else
        report_decision(t, EK_DECIDED_END, e, r, "the rules do not allow it to act");
}

static void report_limit(struct reporting *t, enum ek_bound bound)
{
    const struct ek_rules *rules = t->c->setup.rules;
    const char *then = rules->on_limit == EK_LIMIT_OBSERVE
                           ? "no finding acts: the profile may be outdated"
                           : "the oldest routes continue, other findings are only reported";
    struct ek_decision_record d = begin(t, EK_DECIDED_LIMIT);
    char why[WHY_BYTES];
    if (bound == EK_BOUND_ROUTED) {
        d.observed = t->composed->features;
        d.limit = rules->max_routed_features;
        snprintf(why, sizeof why,
                 "features of %d incidents would be routed, max_routed_features is %d: %s",
                 t->composed->features, rules->max_routed_features, then);
    } else if (bound == EK_BOUND_SHARE) {
        d.observed = t->composed->share;
        d.limit = rules->max_routed_share;
        snprintf(why, sizeof why,
                 "%.3g of the traffic would be acted on, max_routed_share is %.3g: %s",
                 t->composed->share, rules->max_routed_share, then);
    } else
        snprintf(why, sizeof why, "%s", ek_bound_text(bound));
    d.reason = why;
    hand_over(t, &d);
}

int ek_controller_report(struct ek_controller *c, const struct ek_plan *was,
                         const struct ek_composed *composed, int64_t time_ms, uint64_t query)
{
    struct reporting t = {.c = c,
                          .was = was,
                          .is = ek_controller_plan(c),
                          .composed = composed,
                          .time_ms = time_ms,
                          .query = query};
    if (c->tripped != EK_BOUND_NONE)
        report_limit(&t, c->tripped);
    if (!composed->changed || t.is->paused) /* the pause has a separate decision record */
        return t.rc;
    if (was->paused) { /* resumed: report all changes since the pause */
        c->before.version = was->version;
        t.was = was = &c->before;
        t.resumed = true;
    }
    for (int i = 0; i < was->count; i++)
        if (was->entry[i].by == EK_BY_FINDING && !find_found(t.is, &was->entry[i]))
            report_end(&t, &was->entry[i]);
    for (int i = 0; i < t.is->count; i++) {
        const struct ek_plan_entry *e = &t.is->entry[i];
        const struct ek_plan_entry *before = find_found(was, e);
        if (e->by == EK_BY_FINDING && !before)
            report_start(&t, e);
        else if (e->by == EK_BY_FINDING && e->mode != before->mode)
            report_mode(&t, before, e);
        else if (e->by == EK_BY_FINDING && e->percent != before->percent)
            report_step(&t, before, e);
    }
    if (t.resumed)
        c->before.count = 0;
    return t.rc;
}
