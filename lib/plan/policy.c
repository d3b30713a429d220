#include "plan/policy.h"

#include <math.h>
#include <string.h>

/* Return whether a matching unit is in the rules of the feature. */
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

/* Traffic may shift by a tenth, but units rarely do, so a small factor needs a known unit. A route
 * affects all lists of its segment, so a small fraction is not acted on either. */
static int too_small(const struct ek_feature_rule *rule, const struct ek_manifest *m,
                     const struct ek_finding *f)
{
    if (f->class != EK_SCALE || f->query_feature >= 0)
        return 0;
    if (f->share < rule->action_min_fraction)
        return 1;
    double nearer = f->factor > 1 ? f->factor_low : 1 / f->factor_high;
    return nearer < rule->action_threshold && !listed_unit(rule, m, f);
}

static struct ek_treatment treatment_of(enum ek_action action, const struct ek_finding *f)
{
    double value = action == EK_ACT_ROUTE_NORMALIZED ? f->spread_ratio
                   : action == EK_ACT_REPAIR         ? f->factor
                                                     : 0;
    return (struct ek_treatment){action, value};
}

struct ek_decision ek_decide(const struct ek_rules *rules, const struct ek_manifest *m,
                             int have_model, const struct ek_finding *f)
{
    const struct ek_feature *feature = m->item[f->feature];
    int number = (int)(feature - m->features);
    const struct ek_feature_rule *rule = &rules->feature[number];
    enum ek_mode mode = ek_rules_mode(rules, number, f->value ? f->dimension : NULL, f->value);
    enum ek_action action = rule->actions[f->class];
    int unable = mode != EK_MODE_OBSERVE && !have_model;
    if (ek_action_treats(action) && (unable || !feature->routable || too_small(rule, m, f)))
        action = EK_ACT_ALERT;
    if (action == EK_ACT_REPAIR && (isnan(f->factor) || f->query_feature >= 0))
        action = EK_ACT_ROUTE;
    return (struct ek_decision){.treatment = treatment_of(action, f),
                                .mode = mode,
                                .desired = ek_action_treats(action) && have_model,
                                .limited = EK_BOUND_NONE};
}
