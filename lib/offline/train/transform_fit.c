#include "offline/train/transform_fit.h"

#include "base/alloc.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The usable values of a feature, rising. */
static size_t sorted_values(const struct ek_dataset *d, size_t feature, float *values)
{
    size_t n = 0;
    for (size_t i = 0; i < d->items; i++) {
        float x = d->x[i * (size_t)d->item_features + feature];
        if (isfinite(x))
            values[n++] = x;
    }
    qsort(values, n, sizeof *values, ascending);
    return n;
}

static void fit_moments(const float *values, size_t n, float *mean, float *sd)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)values[i];
    double middle = n ? sum / (double)n : 0;
    for (size_t i = 0; i < n; i++)
        square += ((double)values[i] - middle) * ((double)values[i] - middle);
    double deviation = n ? sqrt(square / (double)n) : 0;
    *mean = (float)middle;
    *sd = deviation > FLT_MIN && n && values[0] < values[n - 1] ? (float)deviation : 1;
}

static void fit_knots(const float *values, size_t n, float *knot)
{
    for (size_t i = 0; i < EK_CDF_KNOTS; i++) {
        double rank = (double)i * (double)(n - 1) / (EK_CDF_KNOTS - 1);
        knot[i] = n ? values[(size_t)(rank + 0.5)] : 0;
    }
}

int ek_transform_fit(struct ek_model *m, const struct ek_dataset *d, struct ek_error *e)
{
    if (!m->raw_mean && !m->cdf)
        return EK_OK;
    float *values = ek_calloc(d->items, sizeof *values);
    if (!values)
        return ek_fail(e, EK_ENOMEM, "no memory to sort %zu values", d->items);
    for (size_t f = 0; f < (size_t)m->item_features; f++) {
        size_t n = sorted_values(d, f, values);
        if (m->raw_mean)
            fit_moments(values, n, &m->raw_mean[f], &m->raw_sd[f]);
        if (m->cdf)
            fit_knots(values, n, m->cdf + f * EK_CDF_KNOTS);
    }
    ek_free(values);
    return EK_OK;
}
