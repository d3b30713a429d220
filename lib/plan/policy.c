#include "plan/policy.h"

#include "assets/residual_grid.h"
#include "base/decimal.h"

#include <math.h>
#include <string.h>

/* Decision table of mitigations in feature values: the repair for a finding. */
/* ALL_LISTS: fraction from which all lists, or all values, are affected. ESTIMATE_ERROR: relative
 * error of a factor up to which the estimate is better than the usual level. SAFE: fraction of
 * misjudged lists up to which each list is tested even if all are affected. LISTS, ITEMS: fraction
 * of misjudged lists and items up to which a test is better than the fault. ALONE: relative error
 * up to which the only unit of the interval is the fault, even if it is not one of the feature. */
static const double ALL_LISTS = .99, ESTIMATE_ERROR = .2, SAFE = 1e-4, LISTS = .25, ITEMS = .2,
                    ALONE = .01;
/* Of an estimated factor: more are not known, and would change the plan with each measurement. */
enum { ESTIMATE_DIGITS = 4 };
/* Factor below which users may have changed the values of a query feature. */
static const double QUERY_LEAST = 3;

static const struct ek_plan_repair NONE = {.factor = NAN, .query_feature = -1};

static struct ek_plan_repair repair_by(enum ek_repair_by by, double number, bool exact)
{
    struct ek_plan_repair r = NONE;
    r.by = by;
    r.number = number;
    r.exact = exact;
    return r;
}

/* Return half the width of the interval of a finding's factor, relative; infinite if unknown. */
static double factor_relative_error(const struct ek_finding *f)
{
    bool known = f->factor_low > 0 && f->factor_high >= f->factor_low && isfinite(f->factor_high);
    return known ? sqrt(f->factor_high / f->factor_low) - 1 : INFINITY;
}

/* Return the fraction misjudged when each is compared with the middle between normal and moved:
 * two normal distributions, |shift| apart. */
static double misjudged(double factor, double sd)
{
    return sd > 0 ? .5 * erfc(fabs(log(factor)) / (2 * sd) / M_SQRT2) : 0;
}

/* Return whether the factor of a unit lies in the interval, or within the bin of the residuals that
 * the estimate was read from. */
static bool is_inside(const struct ek_finding *f, int i)
{
    double factor = f->unit[i].unit->factor;
    return (factor >= f->factor_low && factor <= f->factor_high) ||
           fabs(log(factor / f->factor)) < EK_RESIDUAL_BIN;
}

/* Return the factor of the unit to use, or NaN: the first match that the rules list or the unit of
 * the feature allows, or the only one within a narrow interval. A catalog of hundreds has a unit
 * near any number, so one that is not listed must also lie in the interval if `strict`. A listed
 * one may lie a little outside (rules/unit_match.h), as few lists make the interval too small.
 * Others than listed ones are at least a factor `least`. */
static double exact_unit(const struct ek_finding *f, double least, bool strict)
{
    double alone = NAN;
    bool several = false;
    for (int i = 0; i < f->unit_count; i++) {
        double factor = f->unit[i].unit->factor;
        if (!f->unit[i].listed && fabs(log(factor)) < log(least))
            continue;
        bool sure = !strict || is_inside(f, i);
        if (f->unit[i].listed || (sure && f->unit[i].fit <= EK_UNIT_QUANTITY))
            return factor;
        if (!is_inside(f, i))
            continue;
        several |= !isnan(alone) && alone != factor;
        alone = factor;
    }
    return several || factor_relative_error(f) > ALONE ? (double)NAN : alone;
}

/* Users choose the values of a query feature, so that another mean alone is no fault: only a unit
 * is undone. Few values in training show the fault list by list. */
static struct ek_plan_repair of_query_scale(const struct ek_finding *f, const struct ek_baseline *b,
                                            int known_count)
{
    double unit = f->varies ? (double)NAN : exact_unit(f, QUERY_LEAST, false),
           wrong = misjudged(unit, (double)b->sd);
    bool part = f->share < ALL_LISTS;
    if (isnan(unit))
        return NONE;
    if (known_count > 1 || (part && wrong <= LISTS))
        return repair_by(EK_REPAIR_LIST, unit, true);
    return part ? NONE : repair_by(wrong <= SAFE ? EK_REPAIR_LIST : EK_REPAIR_NUMBER, unit, true);
}

static struct ek_plan_repair of_scale(const struct ek_finding *f, const struct ek_baseline *b)
{
    struct ek_plan_repair r = NONE;
    if (f->query_feature >= 0 && f->exponent < 0) /* divided by the query feature */
        return r;
    if (f->query_feature >= 0) {
        r = repair_by(EK_REPAIR_QUERY_FEATURE, 1, true);
        r.query_feature = f->query_feature;
        return r;
    }
    if (f->varies)
        return repair_by(EK_REPAIR_LEVEL, 1, false);
    double unit = exact_unit(f, 1, true),
           number = isnan(unit) ? ek_round_digits(f->factor, ESTIMATE_DIGITS) : unit;
    bool by_level = isnan(unit) && factor_relative_error(f) > ESTIMATE_ERROR;
    double wrong = misjudged(f->factor, (double)b->sd);
    bool part = f->share < ALL_LISTS;
    if (wrong <= SAFE || (part && wrong <= LISTS))
        r = repair_by(by_level ? EK_REPAIR_LEVEL : EK_REPAIR_LIST, number, !isnan(unit));
    else if (!part)
        r = by_level ? repair_by(EK_REPAIR_LEVEL, 1, false)
                     : repair_by(EK_REPAIR_NUMBER, number, !isnan(unit));
    return r;
}

static struct ek_plan_repair of_items(const struct ek_finding *f, const struct ek_baseline *b)
{
    double unit = exact_unit(f, 1, true),
           number = isnan(unit) ? ek_round_digits(f->factor, ESTIMATE_DIGITS) : unit;
    if (!(number > 0) || !isfinite(number) || misjudged(number, (double)b->log_sd) > ITEMS)
        return NONE;
    return repair_by(EK_REPAIR_ITEM, number, !isnan(unit));
}

/* Only simple powers are inverted: a logarithm and two features that were exchanged look like
 * other powers. */
static struct ek_plan_repair of_power(const struct ek_finding *f)
{
    static const double exact[] = {1. / 3, .5, 2, 3}, WITHIN = 1.03;
    struct ek_plan_repair r = NONE;
    for (int i = 0; i < 4; i++)
        if (f->exponent >= exact[i] / WITHIN && f->exponent <= exact[i] * WITHIN) {
            r = repair_by(EK_REPAIR_POWER, exact[i], true);
            r.scale = 1;
        }
    return r;
}

static struct ek_plan_repair of_offset(const struct ek_finding *f)
{
    if (f->offset == 0 || !isfinite(f->offset) || !isfinite(f->offset_error))
        return NONE;
    struct ek_plan_repair r = repair_by(EK_REPAIR_OFFSET, f->offset, false);
    r.scale = fabs(f->offset_error);
    return r;
}

static bool is_positive(const struct ek_baseline *b)
{
    return b->share[1] <= 0 && b->share[2] <= 0;
}

static struct ek_plan_repair of_class(const struct ek_finding *f, const struct ek_baseline *b)
{
    static const double FEW = .01;
    switch (f->class) {
    case EK_SCALE:
        return of_scale(f, b);
    case EK_ITEMS:
        return of_items(f, b);
    case EK_POWER:
        return of_power(f);
    case EK_OFFSET:
        return of_offset(f);
    case EK_SIGN:
        if (f->fewer) /* a sentinel has no size */
            return NONE;
        return is_positive(b) || (f->value_share >= ALL_LISTS && (double)b->share[2] < FEW)
                   ? repair_by(EK_REPAIR_SIGN, 1, true)
                   : NONE;
    case EK_MISSING:
        return f->fewer ? NONE : repair_by(EK_REPAIR_MISSING, 1, false);
    case EK_ZERO:
        return f->fewer || (double)b->share[1] >= FEW ? NONE : repair_by(EK_REPAIR_ZERO, 1, false);
    case EK_STUCK:
        return repair_by(EK_REPAIR_ALL, 1, false);
    default:
        return NONE;
    }
}

static bool is_fill(enum ek_repair_by by)
{
    return by == EK_REPAIR_MISSING || by == EK_REPAIR_ZERO || by == EK_REPAIR_ALL;
}

struct ek_plan_repair ek_repair_decide(enum ek_action action, const struct ek_finding *f,
                                       const struct ek_profile *profile, bool query)
{
    const struct ek_baseline *b = &profile->baseline[f->feature];
    struct ek_plan_repair r = query && f->class == EK_SCALE
                                  ? of_query_scale(f, b, profile->known_count[f->feature])
                                  : of_class(f, b);
    if (action == EK_ACT_BLANK)
        return repair_by(EK_REPAIR_BLANK, 1, false);
    if (action == EK_ACT_FILL && f->class == EK_ZERO && !f->fewer) /* also with zeros in training */
        return repair_by(EK_REPAIR_ZERO, 1, false);
    bool allowed = action == EK_ACT_AUTO || (action == EK_ACT_FILL && is_fill(r.by)) ||
                   (action == EK_ACT_REPAIR && !is_fill(r.by));
    return allowed ? r : NONE;
}

enum ek_action ek_repair_action(const struct ek_plan_repair *r)
{
    if (r->by == EK_REPAIR_UNKNOWN)
        return EK_ACT_ALERT;
    if (r->by == EK_REPAIR_BLANK)
        return EK_ACT_BLANK;
    return is_fill(r->by) ? EK_ACT_FILL : EK_ACT_REPAIR;
}

/* Half width of the widest interval of a factor (ln) that is acted on: 20%, or a fraction of a
 * large shift of nearly all lists or by a unit. */
static const double ERROR_LN = .1823, ERROR_FRACTION = .25;
/* Smallest factor in a part of the lists that no unit needs to confirm. */
static const double PART_LEAST = 2;

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

/* Return whether no unit fits, and a part of the lists has the factor, as surcharges have. */
static bool is_partial(const struct ek_finding *f)
{
    return f->share < EK_WHOLE_SHARE && !f->unit_count;
}

/* Return whether the factor has no narrow interval: one factor does not explain the lists. */
static int is_uncertain(const struct ek_finding *f)
{
    double error_ln = log1p(factor_relative_error(f));
    double fraction = is_partial(f) ? 0 : ERROR_FRACTION;
    return !f->varies && !(error_ln <= fmax(ERROR_LN, fraction * fabs(log(f->factor))));
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
    bool small_part = is_partial(f) && nearer < PART_LEAST;
    return (nearer < rule->action_threshold || small_part || f->gradual || is_uncertain(f)) &&
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
