#include "guard/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const double ek_quantile_share[EK_QUANTILES] = {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99};

void ek_values_of(const struct ek_sketch *s, struct ek_values *out)
{
    struct ek_sketch_summary sum;
    ek_sketch_summarize(s, &sum);
    double items = (double)sum.total;
    *out = (struct ek_values){.items = sum.total,
                              .missing = (double)sum.missing / items,
                              .zero = (double)sum.zero / items,
                              .negative = (double)sum.negative / items,
                              .infinite = (double)sum.infinite / items,
                              .log_mean = sum.log_mean,
                              .log_sd = sum.log_sd};
    ek_sketch_quantiles(s, ek_quantile_share, EK_QUANTILES, out->quantile);
}

void ek_feature_view_of(const struct ek_sketch *s, uint64_t lists, const struct ek_bins *bins,
                        const struct ek_sketch *reference, const struct ek_values *training,
                        struct ek_feature_view *out)
{
    out->accepted = (struct ek_accepted_view){.factor = 1};
    out->lists = lists;
    ek_values_of(s, &out->values);
    out->scale_ratio = exp(out->values.log_mean - training->log_mean);
    ek_divergence_of(bins, reference, s, &out->divergence);
}

double ek_feature_view_moved(const struct ek_feature_view *v)
{
    double moved = v->divergence.psi - v->divergence.psi_expected;
    return isnan(moved) ? (double)-INFINITY : moved;
}

static int add_number(struct ek_buf *b, const char *key, double value)
{
    if (!isfinite(value))
        return ek_buf_printf(b, ",\"%s\":null", key);
    return ek_buf_printf(b, ",\"%s\":%.6g", key, value);
}

struct number {
    const char *key;
    double value;
};

static int add_numbers(struct ek_buf *b, const struct number *numbers, size_t count)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < count; i++)
        rc = add_number(b, numbers[i].key, numbers[i].value);
    return rc;
}

static int add_values(struct ek_buf *b, const struct ek_values *v)
{
    const struct number numbers[] = {
        {"missing", v->missing},   {"zero", v->zero},         {"negative", v->negative},
        {"infinite", v->infinite}, {"log_mean", v->log_mean}, {"log_sd", v->log_sd},
    };
    char key[16];
    int rc = ek_buf_printf(b, "\"items\":%" PRIu64, v->items);
    if (!rc)
        rc = add_numbers(b, numbers, sizeof numbers / sizeof *numbers);
    for (int i = 0; !rc && i < EK_QUANTILES; i++) {
        snprintf(key, sizeof key, "p%.0f", 100 * ek_quantile_share[i]);
        rc = add_number(b, key, v->quantile[i]);
    }
    return rc;
}

int ek_values_json(struct ek_buf *out, const struct ek_values *v)
{
    int rc = ek_buf_text(out, "{");
    if (!rc)
        rc = add_values(out, v);
    return rc ? rc : ek_buf_text(out, "}");
}

/* Nothing where training is what is normal. */
static int add_accepted(struct ek_buf *b, const struct ek_accepted_view *a)
{
    int rc = a->factor != 1 ? add_number(b, "accepted", a->factor) : EK_OK;
    return rc || !a->in_part ? rc : ek_buf_text(b, ",\"accepted_in_part\":true");
}

int ek_feature_view_json(struct ek_buf *out, const struct ek_feature_view *v)
{
    const struct ek_divergence *d = &v->divergence;
    const struct number numbers[] = {
        {"scale_ratio", v->scale_ratio},     {"psi", d->psi},
        {"psi_expected", d->psi_expected},   {"ks", d->ks},
        {"jensenshannon", d->jensenshannon}, {"hellinger", d->hellinger},
        {"wasserstein", d->wasserstein},     {"wasserstein_ln", d->wasserstein_ln},
    };
    int rc = ek_buf_printf(out, "{\"lists\":%" PRIu64 ",", v->lists);
    if (!rc)
        rc = add_values(out, &v->values);
    if (!rc)
        rc = add_numbers(out, numbers, sizeof numbers / sizeof *numbers);
    if (!rc)
        rc = add_accepted(out, &v->accepted);
    return rc ? rc : ek_buf_text(out, "}");
}
