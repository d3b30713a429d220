#include "offline/scale/scaling.h"

#include "base/alloc.h"
#include "offline/scale/fdm.h"

#include <math.h>

#define LARGEST     1e18
#define TWO_OVER_PI 0.63661977236758134308

/* Point of the cdf: a training value, and the fractions of values below it and up to it. */
struct knot {
    float x;
    double below, up_to;
};

struct fit {
    enum ek_transform_kind scale;
    double min, max, mean, sd; /* min > max: no values */
    struct knot *knot;
    size_t knots;
};

struct ek_scaling {
    int features;
    struct fit fit[]; /* [features] */
};

int ek_scaling_new(struct ek_scaling **out, int features, struct ek_error *e)
{
    struct ek_scaling *s = ek_calloc(1, sizeof *s + (size_t)features * sizeof s->fit[0]);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    s->features = features;
    *out = s;
    return EK_OK;
}

void ek_scaling_free(struct ek_scaling *s)
{
    for (int f = 0; s && f < s->features; f++)
        ek_free(s->fit[f].knot);
    ek_free(s);
}

/* Two passes, because sums of squares alone lose precision for large values. */
static void fit_moments(struct fit *f, const struct ek_values *v)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < v->entries; i++)
        sum += v->value[i].count * (double)v->value[i].x;
    f->mean = v->count > 0 ? sum / v->count : 0;
    for (size_t i = 0; i < v->entries; i++) {
        double d = (double)v->value[i].x - f->mean;
        squares += v->value[i].count * d * d;
    }
    f->sd = v->count > 0 ? sqrt(squares / v->count) : 0;
}

/* Keep all values, or evenly spaced quantiles that include the first and last value. */
static int fit_knots(struct fit *f, const struct ek_values *v)
{
    size_t room = v->entries < EK_SCALING_KNOTS ? v->entries : EK_SCALING_KNOTS;
    f->knot = ek_calloc(room, sizeof *f->knot);
    if (!f->knot)
        return EK_ENOMEM;
    double below = 0;
    for (size_t i = 0; i < v->entries; i++) {
        double up_to = below + v->value[i].count;
        double due = (double)f->knots * v->count / (double)room;
        if (f->knots < room && (v->entries == room || up_to > due || i + 1 == v->entries))
            f->knot[f->knots++] = (struct knot){v->value[i].x, below / v->count, up_to / v->count};
        below = up_to;
    }
    return EK_OK;
}

int ek_scaling_fit(struct ek_scaling *s, int feature, enum ek_transform_kind scale,
                   const struct ek_values *v, struct ek_error *e)
{
    struct fit f = {.scale = scale, .min = 1, .max = -1};
    if (v->entries) {
        f.min = (double)v->value[0].x;
        f.max = (double)v->value[v->entries - 1].x;
    }
    fit_moments(&f, v);
    if (scale == EK_SCALE_CDF && fit_knots(&f, v))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_free(s->fit[feature].knot);
    s->fit[feature] = f;
    return EK_OK;
}

int ek_scaling_get(struct ek_scaling **out, const struct ek_dataset *train,
                   const enum ek_transform_kind *scale, struct ek_error *e)
{
    struct ek_scaling *s;
    size_t width = (size_t)train->item_features;
    int rc = ek_scaling_new(&s, train->item_features, e);
    if (rc)
        return rc;
    for (size_t f = 0; !rc && f < width; f++) {
        struct ek_values v = {0};
        rc = ek_values_from_column(&v, train->x + f, train->items, width, e);
        if (!rc)
            rc = ek_scaling_fit(s, (int)f, scale[f], &v, e);
        ek_values_release(&v);
    }
    if (rc)
        ek_scaling_free(s);
    else
        *out = s;
    return rc;
}

int ek_scale_columns(enum ek_transform_kind scale)
{
    return scale == EK_SCALE_MERGE ? EK_SCALING_MERGED : 1;
}

enum ek_transform_kind ek_scaling_part(enum ek_transform_kind scale, int column)
{
    static const enum ek_transform_kind MERGED[EK_SCALING_MERGED] = {EK_SCALE_MINMAX, EK_SCALE_LOG,
                                                                     EK_SCALE_ARCTAN};
    return scale == EK_SCALE_MERGE ? MERGED[column] : scale;
}

size_t ek_scaling_columns(const struct ek_scaling *s)
{
    size_t columns = 0;
    for (int f = 0; f < s->features; f++)
        columns += (size_t)ek_scale_columns(s->fit[f].scale);
    return columns;
}

/* Return ln(1 + d), extended to d < 0 as an odd function. */
static double log_signed(double d)
{
    return copysign(log1p(fabs(d)), d);
}

static double log_of_range(const struct fit *f, double d)
{
    return f->max > f->min ? log_signed(d) / log1p(f->max - f->min) : 0;
}

/* Interpolate between the upper fraction of one knot and the lower fraction of the next. If all
 * values are knots, these are equal. */
static double share_below(const struct fit *f, double x)
{
    size_t low = 0, high = f->knots;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((double)f->knot[middle].x < x)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || low == f->knots)
        return f->knots && low ? 1 : 0;
    const struct knot *a = &f->knot[low - 1], *b = &f->knot[low];
    double t = (x - (double)a->x) / ((double)b->x - (double)a->x);
    return a->up_to + t * (b->below - a->up_to);
}

static double scaled(const struct fit *f, enum ek_transform_kind scale, double x)
{
    switch (scale) {
    case EK_SCALE_MINMAX:
        return f->max > f->min ? (x - f->min) / (f->max - f->min) : 0;
    case EK_SCALE_LOG:
        return log_of_range(f, x - f->min);
    case EK_SCALE_LOG_REVERSED:
        return log_of_range(f, f->max - x);
    case EK_SCALE_ARCTAN:
        return f->max >= f->min ? TWO_OVER_PI * atan(x - f->min) : 0;
    case EK_SCALE_ZSCORE:
        return f->max > f->min ? (x - f->mean) / f->sd : 0;
    case EK_SCALE_CDF:
        return share_below(f, x);
    case EK_SCALE_LOG1P:
        return log_signed(x);
    default:
        return x;
    }
}

double ek_scaling_value(const struct ek_scaling *s, int feature, int column, double x)
{
    const struct fit *f = &s->fit[feature];
    double y = scaled(f, ek_scaling_part(f->scale, column), x);
    return fmax(-LARGEST, fmin(LARGEST, y));
}

void ek_scaling_apply(const struct ek_scaling *s, const float *x, size_t items, float missing,
                      float *y)
{
    for (size_t i = 0; i < items; i++)
        for (int f = 0; f < s->features; f++, x++)
            for (int c = 0; c < ek_scale_columns(s->fit[f].scale); c++)
                *y++ = isfinite(*x) ? (float)ek_scaling_value(s, f, c, (double)*x) : missing;
}

void ek_scaling_clear_unscaled(const struct ek_scaling *s, const enum ek_transform_kind *scale,
                               int features, size_t items, float *y)
{
    size_t columns = ek_scaling_columns(s), at = 0;
    for (int f = 0; f < features; f++) {
        for (size_t i = 0; scale[f] == EK_SCALE_NONE && i < items; i++)
            y[i * columns + at] = 0;
        at += (size_t)ek_scale_columns(scale[f]);
    }
}

static const char *const NAMES[] = {
    [EK_METHOD_FDM] = "fdm", [EK_METHOD_OSM] = "osm",       [EK_METHOD_MINMAX] = "minmax",
    [EK_METHOD_LOG] = "log", [EK_METHOD_ARCTAN] = "arctan", [EK_METHOD_ZSCORE] = "zscore",
    [EK_METHOD_CDF] = "cdf", [EK_METHOD_LOG1P] = "log1p",   [EK_METHOD_MERGE] = "merge",
};

const char *const *ek_method_names(void)
{
    return NAMES;
}

enum ek_transform_kind ek_method_scale(enum ek_method method)
{
    static const enum ek_transform_kind SCALES[] = {
        [EK_METHOD_MINMAX] = EK_SCALE_MINMAX, [EK_METHOD_LOG] = EK_SCALE_LOG,
        [EK_METHOD_ARCTAN] = EK_SCALE_ARCTAN, [EK_METHOD_ZSCORE] = EK_SCALE_ZSCORE,
        [EK_METHOD_CDF] = EK_SCALE_CDF,       [EK_METHOD_LOG1P] = EK_SCALE_LOG1P,
        [EK_METHOD_MERGE] = EK_SCALE_MERGE,   [EK_METHOD_FDM] = EK_SCALE_NONE,
        [EK_METHOD_OSM] = EK_SCALE_NONE,
    };
    return SCALES[method];
}

static int by_distribution(const struct ek_dataset *d, enum ek_transform_kind *scale,
                           struct ek_error *e)
{
    size_t width = (size_t)d->item_features;
    int rc = EK_OK;
    for (size_t f = 0; f < width && !rc; f++) {
        struct ek_values v = {0};
        struct ek_fdm found;
        rc = ek_values_from_column(&v, d->x + f, d->items, width, e);
        if (!rc) {
            ek_fdm(&v, &found);
            scale[f] = found.scale;
        }
        ek_values_release(&v);
    }
    return rc;
}

int ek_method_scales(enum ek_method method, const struct ek_dataset *train,
                     const struct ek_dataset *vali, const struct ek_osm_options *o,
                     enum ek_transform_kind *scale, struct ek_error *e)
{
    int rc = EK_OK;
    if (method == EK_METHOD_OSM)
        return ek_osm(train, vali, o, scale, NULL, e);
    if (method == EK_METHOD_FDM)
        rc = by_distribution(train, scale, e);
    for (int f = 0; f < train->item_features && !rc; f++)
        if (o->category && o->category[f])
            scale[f] = EK_SCALE_NONE;
        else if (method != EK_METHOD_FDM)
            scale[f] = ek_method_scale(method);
    return rc;
}
