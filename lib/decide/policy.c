#include "decide/policy.h"

#include <math.h>
#include <string.h>

static int acts(enum ek_action a)
{
    return a != EK_ACT_NONE && a != EK_ACT_ALERT;
}

/* A unit that fits the finding and that the rules list for the feature. */
static int listed_unit(const struct ek_feature_rule *rule, const struct ek_manifest *m,
                       const struct ek_finding *f)
{
    for (int j = 0; j < f->unit_count; j++)
        if (f->unit[j].listed)
            return 1;
    for (int i = 0; i < rule->unit_count; i++) {
        static const char prefix[] = "query_feature:";
        if (f->query_feature >= 0 && !strncmp(rule->unit[i], prefix, sizeof prefix - 1) &&
            !strcmp(rule->unit[i] + sizeof prefix - 1, m->query[f->query_feature]->name))
            return 1;
    }
    return 0;
}

/* Traffic may move by a tenth, units rarely do: a small factor needs a known unit to be acted on.
 * And a route changes all lists: too many for the sake of a few.
 */
static int too_small(const struct ek_feature_rule *rule, const struct ek_manifest *m,
                     const struct ek_finding *f)
{
    if (f->class != EK_SCALE || f->query_feature >= 0)
        return 0;
    if (f->share < rule->act_share)
        return 1;
    double nearer = f->factor > 1 ? f->factor_low : 1 / f->factor_high;
    return nearer < rule->act_effect && !listed_unit(rule, m, f);
}

static struct ek_treatment treatment_of(enum ek_action action, const struct ek_finding *f)
{
    double value = action == EK_ACT_ROUTE_SPREAD ? f->spread_ratio
                   : action == EK_ACT_RESCALE    ? f->factor
                                                 : 0;
    return (struct ek_treatment){action, value};
}

static int routed_already(const struct ek_plan *plan, int feature)
{
    for (int i = 0; i < plan->count; i++)
        if (plan->entry[i].feature == feature)
            return 1;
    return 0;
}

/* The limit that keeps a treatment out of the plan, EK_BOUND_NONE for none. */
static enum ek_bound limit_of(const struct ek_rules *rules, const struct ek_plan *plan,
                              const struct ek_finding *f)
{
    if (!routed_already(plan, f->feature) && ek_plan_features(plan) >= rules->max_routed_features)
        return EK_BOUND_ROUTED;
    return ek_plan_has_room(plan, f->feature, f->cell) ? EK_BOUND_NONE : EK_BOUND_PLAN;
}

struct ek_decision ek_decide(const struct ek_rules *rules, const struct ek_manifest *m,
                             const struct ek_plan *plan, int have_model, const struct ek_finding *f)
{
    const struct ek_feature *feature = m->item[f->feature];
    const struct ek_feature_rule *rule = &rules->feature[feature - m->features];
    enum ek_action action = rule->on[f->class];
    int unable = rule->mode == EK_MODE_ENFORCE && !have_model;
    if (acts(action) && (unable || !feature->routable || too_small(rule, m, f)))
        action = EK_ACT_ALERT;
    if (action == EK_ACT_RESCALE && (isnan(f->factor) || f->query_feature >= 0))
        action = EK_ACT_ROUTE;
    struct ek_decision decision = {treatment_of(action, f), rule->mode, 0, EK_BOUND_NONE};
    if (!acts(action) || rule->mode != EK_MODE_ENFORCE)
        return decision;
    decision.limited = limit_of(rules, plan, f);
    decision.enforced = decision.limited == EK_BOUND_NONE;
    if (!decision.enforced && rules->on_limit == EK_LIMIT_OBSERVE)
        decision.mode = EK_MODE_OBSERVE;
    return decision;
}
