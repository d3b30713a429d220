#include "guard/finding_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const double ALL_LISTS = .995;  /* a fraction that rounds to 100% */
static const double TWO_DIGITS = 9.95; /* a percentage with two digits before the point */
enum { PERCENT_BYTES = 16 };

static int add_where(struct ek_buf *b, const struct ek_manifest *m, const struct ek_finding *f)
{
    const char *feature = m->item[f->feature]->name;
    if (!f->dimension)
        return ek_buf_printf(b, "%s: ", feature);
    return ek_buf_printf(b, "%s, %s=%s: ", feature, f->dimension, f->value ? f->value : "(other)");
}

static int add_scale(struct ek_buf *b, const struct ek_manifest *m, const struct ek_finding *f)
{
    if (f->query_feature >= 0)
        return ek_buf_printf(b, "values are %s by %s, list by list,",
                             f->exponent < 0 ? "divided" : "multiplied",
                             m->query[f->query_feature]->name);
    if (f->varies)
        ek_buf_printf(b, "values are multiplied by another factor in each list, often %.4g",
                      f->factor);
    else
        ek_buf_printf(b, "values are multiplied by %.4g (%.4g to %.4g)", f->factor, f->factor_low,
                      f->factor_high);
    return f->share < ALL_LISTS ? ek_buf_printf(b, " in %.2g%% of the lists", 100 * f->share)
                                : b->rc;
}

/* Append the fraction of each new value. */
static int add_categories(struct ek_buf *b, const struct ek_finding *f)
{
    if (!f->category_count)
        ek_buf_text(b, "there are values that training did not have");
    for (int i = 0; i < f->category_count; i++) {
        const struct ek_category_change *c = &f->category[i];
        ek_buf_printf(b, i ? ", %.9g is %.3g%%" : "value %.9g is %.3g%% of a list",
                      (double)c->value, 100 * c->share);
        if (c->trained > 0)
            ek_buf_printf(b, " (in training %.3g%%)", 100 * c->trained);
        else
            ek_buf_text(b, " (not in training)");
    }
    return b->rc;
}

/* Format 0.02 as "2%". */
static const char *format_percent(double fraction, char text[PERCENT_BYTES])
{
    double percent = 100 * fraction;
    snprintf(text, PERCENT_BYTES, percent < TWO_DIGITS ? "%.2g%%" : "%.0f%%", percent);
    return text;
}

void ek_finding_values_text(enum ek_class class, double now, double trained,
                            char out[EK_FINDING_VALUES_BYTES])
{
    char a[PERCENT_BYTES], b[PERCENT_BYTES];
    snprintf(out, EK_FINDING_VALUES_BYTES, "%s in %s of the values, %s in training",
             class == EK_SIGN ? "negative" : ek_class_name(class), format_percent(now, a),
             format_percent(trained, b));
}

static int add_class(struct ek_buf *b, const struct ek_manifest *m, const struct ek_finding *f)
{
    static const char *const sentences[EK_CLASS_COUNT] = {
        [EK_CLASS_NONE] = "something has changed",
        [EK_OFFSET] = "a constant has been added to the values",
        [EK_ITEMS] = "some items of a list are on another scale than the rest",
        [EK_STUCK] = "nearly all values of a list are equal",
        [EK_CLIP] = "values are cut off at a bound"};
    if (f->class == EK_SCALE)
        return add_scale(b, m, f);
    if (f->class == EK_NEW_CATEGORY)
        return add_categories(b, f);
    if (f->class == EK_POWER)
        return ek_buf_printf(b, "values are raised to the power %.3g", f->exponent);
    if (f->class == EK_SHAPE)
        return ek_buf_printf(b, "the spread %s lists is multiplied by %.3g",
                             m->item[f->feature]->role == EK_ROLE_QUERY ? "between" : "within",
                             f->spread_ratio);
    if (ek_class_counts_values(f->class)) {
        char text[EK_FINDING_VALUES_BYTES];
        ek_finding_values_text(f->class, f->value_share, f->trained_share, text);
        return ek_buf_printf(b, "%s,", text);
    }
    return ek_buf_text(b, sentences[f->class]);
}

/* Ratio of the bounds from which an interval contains conversions by chance. */
static const double WIDE = 1.44;

/* Append the most likely unit, or why there is none. */
static int add_unit(struct ek_buf *b, const struct ek_manifest *m, const struct ek_finding *f)
{
    const struct ek_feature *feature = m->item[f->feature];
    const struct ek_unit_match *u = f->unit;
    if (f->mix)
        return ek_buf_text(b, "; other features moved with it, as if the mix of lists changed");
    if (f->class != EK_SCALE || f->query_feature >= 0 || f->varies)
        return EK_OK;
    if (!f->unit_count && !feature->unit && !feature->is_money)
        return ek_buf_text(b, "; unknown unit: set 'unit' in the manifest");
    if (!f->unit_count)
        return ek_buf_text(b, f->factor_high > WIDE * f->factor_low
                                  ? "; too uncertain to name a conversion"
                                  : "; no known conversion of its unit fits");
    int sure = u->listed || u->fit < EK_UNIT_ANY || !u->unit->quantity;
    return ek_buf_printf(b, "; %s %s", sure ? "looks like" : "could be", u->unit->text);
}

/* Append the action. Without means of mitigation, observe mode has none to mention. */
static int add_action(struct ek_buf *b, const struct ek_decision *decision)
{
    if (decision->no_model && decision->mode == EK_MODE_OBSERVE)
        return b->rc;
    if (decision->no_model && ek_action_treats(decision->treatment.action))
        return ek_buf_printf(b, "; action: alert, since there is no model for %s",
                             ek_action_name(decision->treatment.action));
    if (decision->unable)
        return ek_buf_printf(b, "; action: %s, since %s",
                             ek_action_name(decision->treatment.action), decision->unable);
    const char *limits = decision->paused                     ? ", not enforced while all is paused"
                         : decision->rolled_back              ? ", rolled back by a guardrail"
                         : decision->limited != EK_BOUND_NONE ? ", kept back by a limit"
                         : decision->mode == EK_MODE_CANARY   ? ", for a canary part of the lists"
                         : decision->mode == EK_MODE_SHADOW   ? ", not enforced in shadow"
                         : decision->mode == EK_MODE_OBSERVE  ? ", not enforced in observe"
                                                              : "";
    return ek_buf_printf(b, "; action: %s%s", ek_action_name(decision->treatment.action),
                         ek_action_treats(decision->treatment.action) ? limits : "");
}

/* Append the recovery with its reason, and the command that ends a waiting route. */
static int add_recovery(struct ek_buf *b, const struct ek_manifest *m, const struct ek_finding *f,
                        const struct ek_decision *decision)
{
    if (f->reason)
        ek_buf_printf(b, "over, %s", f->reason);
    else
        ek_buf_text(b, "back to normal");
    if (!decision->stays)
        return b->rc;
    ek_buf_printf(b, "; its route stays until 'evenkeel resume --feature %s",
                  m->item[f->feature]->name);
    if (f->dimension)
        ek_buf_printf(b, " --segment %s=%s", f->dimension, f->value ? f->value : "(other)");
    return ek_buf_text(b, "' ends it");
}

int ek_finding_text(struct ek_buf *out, const struct ek_manifest *m, const struct ek_finding *f,
                    const struct ek_decision *decision)
{
    add_where(out, m, f);
    if (f->state == EK_DISMISSED && f->reason == ek_finding_accepted())
        return ek_buf_printf(out, "%s by an operator", f->reason);
    if (f->state == EK_DISMISSED)
        return ek_buf_printf(out, "no finding after all, %s", f->reason);
    if (f->state == EK_RECOVERED)
        return add_recovery(out, m, f, decision);
    add_class(out, m, f);
    ek_buf_printf(out, " since list %" PRIu64, f->since_query);
    if (f->state == EK_SUSPECTED)
        return ek_buf_printf(out, " (%s); not confirmed yet", f->signal);
    add_unit(out, m, f);
    return add_action(out, decision);
}
