/* A factor that differs by list as a query feature does: the price of the stay is the price of a
 * night times the nights.
 */
#include "detect/detector_internal.h"

#include <math.h>

enum {
    MOVING_LISTS = 24, /* with a factor that is not 1, to name a query feature */
    LISTS_BEFORE = 64  /* before the change, to know how the feature went with it when healthy */
};
/* A query feature explains a change when it does so this much better, in ln likelihood. */
static const double GAIN = 8;
/* Under x -> x v the slope of ln x on ln v grows by 1; so much around it is allowed. */
static const double SLOPE_LOW = .5, SLOPE_HIGH = 1.5;

/* Residuals of lists with a usable positive value of query feature m, and the ln of that value. */
static int with_offsets(struct ek_detector *d, const struct ek_window *w, int m, int *moving)
{
    int n = 0;
    *moving = 0;
    for (int i = 0; i < w->count; i++) {
        float value = ek_history_query(d->history, d->window_row[i])[m];
        if (!w->record[i].usable || !(value > 0) || !isfinite(value))
            continue; /* a list that has no such value says nothing for it */
        d->offset[n] = logf(value);
        *moving += fabsf(d->offset[n]) > EK_DEAD_BAND_LEVEL_LN;
        w->scratch[n++] = w->record[i].r - w->mu;
    }
    return n;
}

/* Least squares slope of y on x; 0 when x does not vary. */
static double slope_of(const float *x, const float *y, int n)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < n; i++) {
        sx += x[i];
        sy += y[i];
        sxx += (double)x[i] * x[i];
        sxy += (double)x[i] * y[i];
    }
    double variance = n ? sxx - sx * sx / n : 0;
    return variance > 1e-6 * n ? (sxy - sx * sy / n) / variance : 0;
}

/* Slopes on every query feature before the change; NaN where too few lists are remembered. The
 * price goes with the usual price of the destination at all times: that is no factor. */
static void slopes_before(struct ek_detector *d, const struct ek_episode *e)
{
    struct ek_window w;
    int moving;
    ek_detector_window(d, e->feature, e->cell, 0, &w);
    while (w.count && d->window_row[w.count - 1] >= e->since_row)
        w.count--;
    for (int m = 0; m < d->query_features; m++) {
        int n = with_offsets(d, &w, m, &moving);
        d->slope[m] = n < LISTS_BEFORE ? NAN : (float)slope_of(d->offset, w.scratch, n);
    }
}

int ek_factor_feature(struct ek_detector *d, const struct ek_episode *e, struct ek_window *w)
{
    const float *density = ek_profile_density(d->profile, e->feature);
    double best = e->diagnosis.level.gain_ln + GAIN;
    int found = -1, before = 0;
    for (int m = 0; m < d->query_features; m++) {
        if (d->manifest->query[m]->type == EK_TYPE_CATEGORY)
            continue; /* nothing is multiplied by a code */
        int moving, n = with_offsets(d, w, m, &moving);
        if (moving < MOVING_LISTS)
            continue;
        if (!before++) {
            slopes_before(d, e);
            ek_detector_window(d, e->feature, e->cell, e->since_row, w);
            n = with_offsets(d, w, m, &moving);
        }
        double grown = slope_of(d->offset, w->scratch, n) - d->slope[m];
        if (!(grown > SLOPE_LOW && grown < SLOPE_HIGH))
            continue;
        double gain = ek_align_by_list(density, w->scratch, d->offset, n);
        if (gain > best) {
            best = gain;
            found = m;
        }
    }
    return found;
}
