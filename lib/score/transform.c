#include "score/transform.h"

#include "base/alloc.h"
#include "num/ln.h"

#include <math.h>
#include <string.h>

static const double LIMIT = 1e18;

int ek_transformer_init(struct ek_transformer *t, const struct ek_model *m)
{
    size_t features = (size_t)m->item_features;
    memset(t, 0, sizeof *t);
    t->model = m;
    t->log_mean = ek_calloc_aligned(features, sizeof *t->log_mean);
    t->log_scale = ek_calloc_aligned(features, sizeof *t->log_scale);
    t->part = ek_calloc_aligned(features, (1 + EK_TRANSFORM_PARTS) * sizeof *t->part);
    if (!t->log_mean || !t->log_scale || !t->part) {
        ek_transformer_release(t);
        return EK_ENOMEM;
    }
    for (size_t f = 0; f < features; f++) {
        t->log_mean[f] = (double)m->item_mean[f];
        t->log_scale[f] = 1 / (double)m->item_sd[f];
    }
    return EK_OK;
}

void ek_transformer_release(struct ek_transformer *t)
{
    ek_free(t->log_mean);
    ek_free(t->log_scale);
    ek_free(t->part);
    memset(t, 0, sizeof *t);
}

static float cut(double x)
{
    return (float)(x > LIMIT ? LIMIT : x < -LIMIT ? -LIMIT : x);
}

static size_t knots_below(const float *knot, double x)
{
    size_t below = 0;
    for (size_t step = EK_CDF_KNOTS / 2; step; step /= 2)
        below += (double)knot[below + step - 1] < x ? step : 0;
    return below + ((double)knot[below] < x);
}

static float share_below(const float *knot, double x)
{
    size_t below = knots_below(knot, x);
    if (below == 0 || below == EK_CDF_KNOTS)
        return below ? 1 : 0;
    double from = (double)knot[below - 1], to = (double)knot[below];
    return (float)(((double)(below - 1) + (x - from) / (to - from)) / (EK_CDF_KNOTS - 1));
}

static float zscore(const struct ek_model *m, size_t f, double x)
{
    return cut((x - (double)m->raw_mean[f]) / (double)m->raw_sd[f]);
}

static float single(const struct ek_model *m, size_t f, double x)
{
    if (!isfinite(x))
        return 0;
    if (m->transform == EK_TRANSFORM_RAW)
        return cut(x);
    if (m->transform == EK_TRANSFORM_ZSCORE)
        return zscore(m, f, x);
    return share_below(m->cdf + f * EK_CDF_KNOTS, x);
}

static void signed_ln(const struct ek_transformer *t, const float *x, size_t items, float *y,
                      size_t stride)
{
    size_t features = (size_t)t->model->item_features;
    const struct ek_ln_rows rows = {x, y, features, stride, items, features};
    ek_signed_ln(&rows, t->log_mean, t->log_scale);
}

void ek_transform_parts(struct ek_transformer *t, const float *x, float *part)
{
    const struct ek_model *m = t->model;
    signed_ln(t, x, 1, t->part, 0);
    for (size_t f = 0; f < (size_t)m->item_features; f++) {
        float *to = part + f * EK_TRANSFORM_PARTS;
        double value = (double)x[f];
        bool here = isfinite(value);
        to[EK_PART_RAW] = here ? cut(value) : 0;
        to[EK_PART_ZSCORE] = here ? zscore(m, f, value) : 0;
        to[EK_PART_CDF] = here ? share_below(m->cdf + f * EK_CDF_KNOTS, value) : 0;
        to[EK_PART_LOG1P] = t->part[f];
    }
}

float ek_transform_mix(const float *part, const float *share)
{
    double sum = 0;
    for (int i = 0; i < EK_TRANSFORM_PARTS; i++)
        sum += (double)part[i] * (double)share[i];
    return (float)sum;
}

static void mix_item(struct ek_transformer *t, const float *x, float *y)
{
    const struct ek_model *m = t->model;
    float *part = t->part + m->item_features;
    ek_transform_parts(t, x, part);
    for (size_t f = 0; f < (size_t)m->item_features; f++)
        y[f] = ek_transform_mix(part + f * EK_TRANSFORM_PARTS, m->mixture + f * EK_TRANSFORM_PARTS);
}

static void transform_item(struct ek_transformer *t, const float *x, float *y)
{
    const struct ek_model *m = t->model;
    if (m->transform == EK_TRANSFORM_MIXTURE)
        mix_item(t, x, y);
    else
        for (size_t f = 0; f < (size_t)m->item_features; f++)
            y[f] = single(m, f, (double)x[f]);
}

void ek_transform(struct ek_transformer *t, const float *x, size_t items, float *y, size_t stride)
{
    if (t->model->transform == EK_TRANSFORM_LOG1P)
        signed_ln(t, x, items, y, stride);
    else
        for (size_t i = 0; i < items; i++)
            transform_item(t, x + i * (size_t)t->model->item_features, y + i * stride);
}
