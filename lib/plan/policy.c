#include "plan/policy.h"

#include <math.h>
#include <string.h>

/* Half width of the widest interval of a factor (ln) that is acted on: 20%, or a fraction of a
 * large shift. */
static const double ERROR_LN = .1823, ERROR_FRACTION = .25;

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

/* Return whether the factor has no narrow interval: one factor does not explain the lists. */
static int is_uncertain(const struct ek_finding *f)
{
    double error_ln = log1p(ek_factor_relative_error(f));
    return !f->varies && !(error_ln <= fmax(ERROR_LN, ERROR_FRACTION * fabs(log(f->factor))));
}

/* Return whether a change may be that of traffic. Traffic shifts by a tenth, or drifts further, but
 * units rarely do, so a small, gradual or uncertain factor needs a known unit. A route affects all
 * lists of its segment, so a small fraction is not acted on either. */
static int is_unlikely_unit(const struct ek_feature_rule *rule, const struct ek_manifest *m,
                            const struct ek_finding *f)
{
    if (f->weak || f->mix)
        return 1;
    if (f->class != EK_SCALE || f->query_feature >= 0)
        return 0;
    if (f->share < rule->action_min_fraction)
        return 1;
    double nearer = f->factor > 1 ? f->factor_low : 1 / f->factor_high;
    return (nearer < rule->action_threshold || f->gradual || is_uncertain(f)) &&
           !listed_unit(rule, m, f);
}

static struct ek_treatment treatment_of(enum ek_action action, const struct ek_finding *f,
                                        const struct ek_plan_repair *repair)
{
    if (repair->by != EK_REPAIR_UNKNOWN)
        return (struct ek_treatment){action, repair->number};
    double value = action == EK_ACT_ROUTE_NORMALIZED ? f->spread_ratio
                   : action == EK_ACT_REPAIR         ? f->factor
                                                     : 0;
    return (struct ek_treatment){action, value};
}

/* Return the action of `auto` for new scores. */
static enum ek_action auto_of_scores(enum ek_class class)
{
    switch (class) {
    case EK_SCALE:
        return EK_ACT_ROUTE;
    case EK_POWER:
    case EK_OFFSET:
        return EK_ACT_ROUTE_NORMALIZED;
    case EK_SIGN:
        return EK_ACT_BLANK;
    default:
        return EK_ACT_ALERT;
    }
}

/* Return the action that new scores can carry out. */
static enum ek_action of_scores(enum ek_action action, const struct ek_finding *f, bool routable)
{
    if (action == EK_ACT_AUTO)
        action = auto_of_scores(f->class);
    if (action == EK_ACT_FILL || (ek_action_treats(action) && !routable))
        return EK_ACT_ALERT;
    bool factor = f->class == EK_SCALE && !isnan(f->factor) && f->query_feature < 0 && !f->varies;
    return action == EK_ACT_REPAIR && !factor ? EK_ACT_ROUTE : action;
}

/* Return why a query feature is not repaired, NULL for a reason that any feature may have. */
static const char *why_unable(const struct ek_means *means, const struct ek_finding *f)
{
    if (!means->features)
        return means->model ? "a query feature cannot be routed" : NULL;
    return f->class == EK_SCALE ? "a query feature is repaired only by a sure conversion" : NULL;
}

struct ek_decision ek_decide(const struct ek_rules *rules, const struct ek_manifest *m,
                             const struct ek_means *means, const struct ek_finding *f)
{
    const struct ek_feature *feature = m->item[f->feature];
    int number = (int)(feature - m->features);
    const struct ek_feature_rule *rule = &rules->feature[number];
    enum ek_mode mode = ek_rules_mode(rules, number, f->value ? f->dimension : NULL, f->value);
    enum ek_action action = rule->actions[f->class];
    struct ek_plan_repair repair = {.factor = NAN, .query_feature = -1};
    bool query = feature->role == EK_ROLE_QUERY, treats = ek_action_treats(action);
    if (treats && means->features) {
        repair = ek_repair_decide(action, f, means->profile, query);
        action = ek_repair_action(&repair);
    } else {
        action = of_scores(action, f, feature->routable);
    }
    const char *why = query && treats && !ek_action_treats(action) ? why_unable(means, f) : NULL;
    bool unable = mode != EK_MODE_OBSERVE && !ek_means_any(means);
    if (ek_action_treats(action) && (unable || is_unlikely_unit(rule, m, f)))
        action = EK_ACT_ALERT;
    return (struct ek_decision){.treatment = treatment_of(action, f, &repair),
                                .repair = repair,
                                .mode = mode,
                                .desired = ek_action_treats(action) && ek_means_any(means),
                                .no_model = !ek_means_any(means),
                                .unable = why,
                                .limited = EK_BOUND_NONE};
}
