#include "guard/view.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>

enum { DIGITS = 6 };

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

static void add_number(struct ek_json_writer *w, const char *key, double value)
{
    ek_json_add_rounded(w, key, value, DIGITS);
}

static void add_values(struct ek_json_writer *w, const struct ek_values *v)
{
    char key[16];
    ek_json_add_count(w, "items", v->items);
    add_number(w, "missing", v->missing);
    add_number(w, "zero", v->zero);
    add_number(w, "negative", v->negative);
    add_number(w, "infinite", v->infinite);
    add_number(w, "log_mean", v->log_mean);
    add_number(w, "log_sd", v->log_sd);
    for (int i = 0; i < EK_QUANTILES; i++) {
        snprintf(key, sizeof key, "p%.0f", 100 * ek_quantile_share[i]);
        add_number(w, key, v->quantile[i]);
    }
}

int ek_values_json(struct ek_buf *out, const struct ek_values *v)
{
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    add_values(&w, v);
    ek_json_close(&w, '}');
    return w.rc;
}

int ek_feature_view_json(struct ek_buf *out, const struct ek_feature_view *v)
{
    const struct ek_divergence *d = &v->divergence;
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_count(&w, "lists", v->lists);
    add_values(&w, &v->values);
    add_number(&w, "scale_ratio", v->scale_ratio);
    add_number(&w, "psi", d->psi);
    add_number(&w, "psi_expected", d->psi_expected);
    add_number(&w, "ks", d->ks);
    add_number(&w, "jensenshannon", d->jensenshannon);
    add_number(&w, "hellinger", d->hellinger);
    add_number(&w, "wasserstein", d->wasserstein);
    add_number(&w, "wasserstein_ln", d->wasserstein_ln);
    if (v->accepted.factor != 1)
        add_number(&w, "accepted", v->accepted.factor);
    if (v->accepted.in_part)
        ek_json_add_flag(&w, "accepted_in_part", true);
    ek_json_close(&w, '}');
    return w.rc;
}
