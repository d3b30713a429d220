#include "rules/unit_match.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* TIE_LN: tolerance for rounded factors in unit files.
 * WIDEST_LN, WIDEST: width of the widest interval that names a unit: 20% either way, or a share of
 * a large factor. */
static const double WIDER = 1.25, TOLERANCE_LN = .03, TIE_LN = 1e-9, WIDEST_LN = .3646,
                    WIDEST = .25;
static const char MONEY[] = "money";

static int is_listed(const struct ek_feature_rule *rule, const char *id)
{
    for (int i = 0; i < rule->unit_count; i++)
        if (!strcmp(rule->unit[i], id))
            return 1;
    return 0;
}

static double distance(const struct ek_unit_match *m, double shift_ln)
{
    return fabs(shift_ln - log(m->unit->factor));
}

static int is_better(const struct ek_unit_match *a, const struct ek_unit_match *b, double shift_ln)
{
    if (a->listed != b->listed)
        return a->listed;
    if (a->fit != b->fit)
        return a->fit < b->fit;
    return distance(a, shift_ln) < distance(b, shift_ln) - TIE_LN;
}

/* Insert a match in order of preference; the last one drops out when full. */
static int insert(struct ek_unit_match *match, int count, const struct ek_unit_match *one,
                  double shift_ln)
{
    int at = count;
    while (at > 0 && is_better(one, &match[at - 1], shift_ln))
        at--;
    if (at == EK_UNIT_MATCHES)
        return count;
    int kept = count < EK_UNIT_MATCHES ? count : EK_UNIT_MATCHES - 1;
    memmove(&match[at + 1], &match[at], (size_t)(kept - at) * sizeof *match);
    match[at] = *one;
    return kept + 1;
}

/* Return whether a unit may be named: a listed one, one of the feature's quantity, or one of any
 * feature. For a feature of unknown quantity some conversion fits nearly any factor, so only powers
 * of ten are named. */
static int is_nameable(const struct ek_unit_match *m)
{
    double tens = log10(m->unit->factor);
    return m->listed || m->fit < EK_UNIT_ANY || !m->unit->quantity ||
           (m->fit == EK_UNIT_ANY && fabs(tens - round(tens)) < TIE_LN);
}

static bool is_precise(double width_ln, double factor_ln)
{
    return WIDER * width_ln < factor_ln && width_ln < fmax(WIDEST_LN, WIDEST * factor_ln);
}

int ek_units_match(const struct ek_rules *rules, const struct ek_manifest *m, int item_feature,
                   double shift_ln, double low_ln, double high_ln, struct ek_unit_match *match)
{
    const struct ek_feature *feature = m->item[item_feature];
    const struct ek_feature_rule *rule = &rules->feature[feature - m->features];
    struct ek_measure measure = ek_units_measure(&rules->units, feature->unit);
    double low = shift_ln - fmax(WIDER * (shift_ln - low_ln), TOLERANCE_LN);
    double high = shift_ln + fmax(WIDER * (high_ln - shift_ln), TOLERANCE_LN);
    const struct ek_unit *u;
    int count = 0;
    if (feature->is_money && (!measure.quantity || strcmp(measure.quantity, MONEY) != 0))
        measure = ek_units_measure(&rules->units, MONEY);
    for (size_t i = 0; (u = ek_units_at(&rules->units, i)); i++) {
        const struct ek_unit_match one = {u, is_listed(rule, u->id), ek_unit_fit(u, &measure)};
        double factor_ln = log(u->factor);
        bool precise = one.listed || is_precise(high_ln - low_ln, fabs(factor_ln));
        if (precise && factor_ln >= low && factor_ln <= high && is_nameable(&one))
            count = insert(match, count, &one, shift_ln);
    }
    return count;
}
