#include "offline/fit/dependence_fit.h"

#include "base/alloc.h"
#include "base/sort.h"
#include "detect/evalue_tests.h"
#include "detect/evidence.h"
#include "detect/list_stats_builder.h"

#include <math.h>
#include <string.h>

enum {
    WINDOW = 4096,      /* lists whose linear trend is removed */
    ITEM_WINDOW = 1024, /* the same relative to items, whose levels all follow the calendar */
    SHORTEST = 16,      /* blocks */
    BLOCKS_LEAST = 4,   /* of a window */
    FEATURES_LEAST = 8, /* to have something in common */
    WANDER_LISTS = 1024,
    WANDER_LEAST = 128,
    WANDER_BLOCKS = 8, /* to know how far a level wanders */
    LISTS_LEAST = 512,
    LISTS_KNOWN = 2048, /* whose longer blocks show the dependence between lists */
};
static const double CHANCE = 3, SURPRISING = 3.5; /* standard errors */
static const double LARGE = .125;                 /* part of the lists */
static const double CLIP = 4, SPREAD_CLIP = 1;    /* standard deviations; ln */
static const double DEFF_MOST = 256, MAD_NORMAL = 1.4826;
static const double BAND_ERRORS = 3;  /* standard deviations of a wander in the least dead band */
static const double WIDER_ERRORS = 5; /* in a wider one: it is left less often */
static const double RANGE_LEAST = .03, SEASON_LEAST = .004;
static const double WANDERING = 4; /* square root of a design effect */
/* Dead bands tried, as multiples of the smallest. */
static const double WIDER[] = {1, 1.5, 2.25, 3.4, 5, 7.5, 12, 20};
enum { BANDS = sizeof WIDER / sizeof *WIDER };

static double clip(double x, double most)
{
    return fmin(fmax(x, -most), most);
}

/* A list in one respect; NaN: nothing. */
static double respect_of(const struct ek_baseline_fit *fit, const float *level,
                         const struct ek_baseline *b, int which, size_t q)
{
    const struct ek_list_stats *o = &fit->record[q];
    if (which == EK_RESPECT_LEVEL)
        return o->usable ? clip(ek_baseline_fit_residual(fit, level, q) *
                                    (double)ek_baseline_inv_sd(b, o->usable),
                                CLIP)
                         : NAN;
    if (which == EK_RESPECT_SPREAD) {
        int class = ek_size_class(o->usable);
        return o->usable >= 3 && b->spread_hi[class] < EK_SPREAD_UNKNOWN
                   ? clip((double)(o->spread - b->spread_mean[class]), SPREAD_CLIP)
                   : NAN;
    }
    uint8_t share = o->share[which - EK_RESPECT_SHARES];
    return share == EK_SHARE_UNKNOWN ? NAN : (double)share / EK_SHARE_WHOLE;
}

/* Lists of a group that say something, in their order, into fit->values. */
static size_t series_of(const struct ek_baseline_fit *fit, const float *level,
                        const struct ek_baseline *b, int which, const struct ek_list_groups *view,
                        int group)
{
    size_t n = 0;
    for (size_t i = view->start[group]; i < view->start[group + 1]; i++) {
        double x = respect_of(fit, level, b, which, view->order[i]);
        if (!isnan(x))
            fit->values[n++] = x;
    }
    return n;
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : 0;
}

static double variance_of(const double *x, size_t n)
{
    double mean = mean_of(x, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return n ? sum / (double)n : 0;
}

/* Sum of squares of block means around their linear trend. */
static double around_trend(const double *mean, int blocks)
{
    double sum = 0, product = 0, squares = 0, middle = .5 * (blocks - 1);
    for (int i = 0; i < blocks; i++) {
        sum += mean[i];
        product += (i - middle) * mean[i];
        squares += (i - middle) * (i - middle);
    }
    double slope = product / squares, left = 0;
    for (int i = 0; i < blocks; i++) {
        double away = mean[i] - sum / blocks - slope * (i - middle);
        left += away * away;
    }
    return left;
}

/* allowed: variance of the means in the dead-band. */
static void add_windows(const double *x, size_t n, double variance, double allowed, size_t window,
                        size_t block, struct ek_variance_ratio *sum)
{
    double mean[WINDOW / SHORTEST];
    int blocks = (int)(window / block);
    for (size_t first = 0; first + window <= n; first += window) {
        for (int i = 0; i < blocks; i++)
            mean[i] = mean_of(x + first + (size_t)i * block, block);
        sum->excess += around_trend(mean, blocks) * (double)block / variance;
        sum->allowed += allowed * (blocks - 2) * (double)block / variance;
        sum->freedom += blocks - 2;
    }
}

static size_t window_of(const struct ek_baseline_fit *fit, size_t n)
{
    size_t window = fit->by_item ? ITEM_WINDOW : WINDOW;
    while (window > n / 2)
        window /= 2;
    return window;
}

/* Return the variance of the means of the level, in units of its sd, that the dead-band covers. */
static double allowed_variance(const struct ek_baseline *b, int which)
{
    double sd = (double)EK_DEAD_BAND_LEVEL_LN / BAND_ERRORS / fmax((double)b->sd, 1e-3);
    return which == EK_RESPECT_LEVEL ? sd * sd : 0;
}

/* Sums of the groups with `least` to `most` of the lists. */
static void measure_view(const struct ek_baseline_fit *fit, const float *level,
                         const struct ek_baseline *b, int which, int view, double least,
                         double most, struct ek_variance_ratio sum[EK_BLOCK_LENGTHS])
{
    const struct ek_list_groups *of = &fit->view[view];
    for (int g = 0; g < of->groups; g++) {
        double part = (double)(of->start[g + 1] - of->start[g]) / (double)fit->queries;
        if (part < least || part >= most)
            continue;
        size_t n = series_of(fit, level, b, which, of, g), window = window_of(fit, n);
        double variance = variance_of(fit->values, n);
        if (n < LISTS_LEAST || variance < 1e-9)
            continue;
        for (int i = 0; i < EK_BLOCK_LENGTHS; i++)
            if ((size_t)(SHORTEST << i) * BLOCKS_LEAST <= window)
                add_windows(fit->values, n, variance, allowed_variance(b, which), window,
                            (size_t)(SHORTEST << i), &sum[i]);
    }
}

void ek_dependence_measure(const struct ek_baseline_fit *fit, const float *level,
                           const struct ek_baseline *b, struct ek_dependence *out)
{
    memset(out, 0, sizeof *out);
    for (int which = 0; which < EK_RESPECTS; which++)
        for (int view = 0; view < fit->views; view++) {
            int slice = view ? 2 * view - 1 : 0;
            measure_view(fit, level, b, which, view, LARGE, 2, out->ratio[which][slice]);
            if (view)
                measure_view(fit, level, b, which, view, 0, LARGE, out->ratio[which][slice + 1]);
        }
}

/* allowance: multiple of the variance that the smallest dead band covers. */
static double excess_of(const struct ek_variance_ratio *r, double allowance)
{
    double excess = r->freedom > 0 ? r->excess / r->freedom - 1 : 0;
    return excess > 0 ? fmax(excess - allowance * r->allowed / r->freedom, 0) : excess;
}

static double error_of(const struct ek_variance_ratio *r)
{
    return r->freedom > 0 ? sqrt(2 / r->freedom) : INFINITY;
}

/* What the features have in common: excess over 1, and variance between features. */
struct pooled {
    double excess, variance;
};

static double median_of(double *x, int n)
{
    ek_sort_doubles(x, (size_t)n);
    return n ? (x[(n - 1) / 2] + x[n / 2]) / 2 : 0;
}

/* scratch [features] */
static struct pooled pool_of(const struct ek_dependence *of, int features, int which, int slice,
                             int length, double allowance, double *scratch)
{
    int n = 0;
    double error = 0;
    for (int f = 0; f < features; f++) {
        const struct ek_variance_ratio *r = &of[f].ratio[which][slice][length];
        if (!(r->freedom > 0))
            continue;
        scratch[n++] = excess_of(r, allowance);
        error = fmax(error, error_of(r));
    }
    if (n < FEATURES_LEAST)
        return (struct pooled){0, 0};
    double middle = median_of(scratch, n);
    for (int i = 0; i < n; i++)
        scratch[i] = fabs(scratch[i] - middle);
    double sd = MAD_NORMAL * median_of(scratch, n);
    bool varied = sd * sd > error * error * (1 + CHANCE * sqrt(2. / n));
    return (struct pooled){fmax(middle - error, 0), varied ? sd * sd - error * error : 0};
}

/* Whether independent lists hardly have that ratio (chi-square; Wilson and Hilferty 1931). */
static bool is_surprising(const struct ek_variance_ratio *r, double excess)
{
    double part = 2 / (9 * r->freedom);
    return cbrt(1 + excess) > 1 - part + SURPRISING * sqrt(part);
}

/* Design effect by blocks of one length. */
static double effect_of(const struct ek_variance_ratio *r, const struct pooled *p, double allowance)
{
    double own = excess_of(r, allowance), error = error_of(r), excess = p->excess;
    if (!(r->freedom > 0))
        return 1;
    if (p->variance > 0)
        excess += p->variance / (p->variance + error * error) * (own - excess);
    if (is_surprising(r, own))
        excess = fmax(excess, own);
    return 1 + fmax(excess, 0) / (1 + error); /* the largest of all lengths counts */
}

/* A feature without a level (a category), or with a level in few lists, which do not show how they
 * depend on one another, has at least the upper quartile of the design effects of all. */
static void apply_common_effect(struct ek_baseline *b, int features, int which, double *scratch)
{
    int n = 0;
    for (int f = 0; f < features; f++)
        if (b[f].queries)
            scratch[n++] = (double)b[f].deff[which];
    ek_sort_doubles(scratch, (size_t)n);
    for (int f = 0; n && f < features; f++)
        if (b[f].queries < LISTS_KNOWN)
            b[f].deff[which] = fmaxf(b[f].deff[which], (float)scratch[3 * (n - 1) / 4]);
}

/* Set effect [features] to the design effects in one respect. */
static void pool_effects(const struct ek_dependence *of, int features, int which, double allowance,
                         double *effect, double *scratch)
{
    for (int f = 0; f < features; f++)
        effect[f] = 1;
    for (int slice = 0; slice < EK_FIT_SLICES; slice++)
        for (int i = 0; i < EK_BLOCK_LENGTHS; i++) {
            struct pooled p = pool_of(of, features, which, slice, i, allowance, scratch);
            for (int f = 0; f < features; f++) {
                double own = effect_of(&of[f].ratio[which][slice][i], &p, allowance);
                effect[f] = fmin(fmax(own, effect[f]), DEFF_MOST);
            }
        }
}

/* Return the logarithm of the delay of x1.2 times that of x2. */
static double delays_of(const struct ek_baseline *b)
{
    static const double SOUGHT[] = {1.2, 2};
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        int lists = ek_bet_delay(b, SOUGHT[i]);
        sum += log(lists ? lists : EK_REPORTED_DELAY);
    }
    return sum;
}

/* A level that wanders slowly and little has a large design effect, or a small one behind a wider
 * dead band: choose what finds shifts soonest. Not all dependence is a wander: a design effect that
 * sessions may have is kept, and of others at least the square root is left. scratch [2 features]
 */
static void choose_bands(const struct ek_dependence *of, int features, struct ek_baseline *b,
                         double *effect, double *scratch)
{
    double *least = scratch + features;
    for (int i = 0; i < BANDS; i++) {
        double sds = i ? WIDER[i] * BAND_ERRORS / WIDER_ERRORS : 1;
        pool_effects(of, features, EK_RESPECT_LEVEL, fmax(sds * sds, 1), effect, scratch);
        for (int f = 0; f < features; f++) {
            struct ek_baseline next = b[f];
            least[f] = i ? least[f] : sqrt(effect[f]);
            next.deff[EK_RESPECT_LEVEL] = (float)fmax(effect[f], least[f]);
            next.band = (float)WIDER[i] * EK_DEAD_BAND_LEVEL_LN;
            if (!i || (least[f] > WANDERING && delays_of(&next) < delays_of(&b[f])))
                b[f] = next;
        }
    }
}

int ek_dependence_pool(const struct ek_dependence *of, int features, struct ek_baseline *b)
{
    double *effect = ek_calloc(3 * (size_t)features, sizeof *effect), *scratch = effect + features;
    if (!effect)
        return EK_ENOMEM;
    choose_bands(of, features, b, effect, scratch);
    for (int which = EK_RESPECT_LEVEL + 1; which < EK_RESPECTS; which++) {
        pool_effects(of, features, which, 1, effect, scratch);
        for (int f = 0; f < features; f++)
            b[f].deff[which] = (float)effect[f];
    }
    apply_common_effect(b, features, EK_RESPECT_LEVEL, scratch);
    apply_common_effect(b, features, EK_RESPECT_SPREAD, scratch);
    ek_free(effect);
    return EK_OK;
}

/* The largest mean of neighbors in x [n], as far as it is no chance: the variance of the means is
 * that of independent lists, of the design effect, and of the wander. */
static double wander_of(const double *x, size_t n, double middle, double deff)
{
    size_t block = WANDER_LISTS;
    while (block > WANDER_LEAST && n / block < WANDER_BLOCKS)
        block /= 2;
    size_t blocks = n / block;
    double most = 0, squares = 0, noise = variance_of(x, n) * deff / (double)block;
    for (size_t i = 0; i < blocks; i++) {
        double mean = mean_of(x + i * block, block) - middle;
        most = fmax(most, fabs(mean));
        squares += mean * mean / (double)blocks;
    }
    bool chance = squares <= noise * (1 + CHANCE * sqrt(2 / fmax((double)blocks, 1)));
    return blocks < WANDER_BLOCKS || chance ? 0 : most * sqrt(1 - noise / squares);
}

/* Residuals in ln of the lists of a group, and with `range` >= 0 what is left of them behind the
 * tracked level. */
static size_t residuals_of(const struct ek_baseline_fit *fit, const float *level,
                           const struct ek_baseline *b, int view, int group, double range)
{
    const double rate = log(2) / EK_TRACK_LISTS;
    double mu = 0;
    size_t n = 0;
    const struct ek_list_groups *of = &fit->view[view];
    for (size_t i = of->start[group]; i < of->start[group + 1]; i++) {
        size_t q = of->order[i];
        if (!fit->record[q].usable)
            continue;
        double sd = 1 / (double)ek_baseline_inv_sd(b, fit->record[q].usable);
        double r = clip(ek_baseline_fit_residual(fit, level, q), CLIP * sd);
        fit->values[n++] = range < 0 ? r : r - mu;
        if (range >= 0)
            mu = clip(mu + rate * clip(r - mu, (double)EK_TRACK_CLIP * sd), range);
    }
    return n;
}

static void fit_level_wander(const struct ek_baseline_fit *fit, const float *level,
                             struct ek_baseline *b, float *band)
{
    double deff = (double)b->deff[EK_RESPECT_LEVEL], range, own;
    size_t n = residuals_of(fit, level, b, 0, 0, -1);
    range = fmax(wander_of(fit->values, n, 0, deff), RANGE_LEAST);
    b->range = n >= WANDER_LISTS * WANDER_BLOCKS ? (float)range : EK_TRACK_RANGE_LN;
    n = residuals_of(fit, level, b, 0, 0, fmax(range, (double)EK_TRACK_RANGE_LN));
    own = wander_of(fit->values, n, 0, deff);
    b->band = fmaxf(b->band, (float)own);
    b->range = fmaxf(b->range, b->band);
    for (int s = 0; s < fit->strata; s++) {
        n = s ? residuals_of(fit, level, b, 1, s, (double)EK_TRACK_RANGE_LN) : 0;
        own = wander_of(fit->values, n, 0, deff);
        band[s] = fmaxf((float)own, b->band);
    }
}

static void fit_share_wander(const struct ek_baseline_fit *fit, const float *level,
                             struct ek_baseline *b, int share)
{
    int which = EK_RESPECT_SHARES + share;
    double most = 0;
    for (int view = 0; view < (fit->strata > 1 ? 2 : 1); view++)
        for (int g = 0; g < fit->view[view].groups; g++) {
            size_t n = series_of(fit, level, b, which, &fit->view[view], g);
            double middle = mean_of(fit->values, n);
            most = fmax(most, wander_of(fit->values, n, middle, (double)b->deff[which]));
        }
    b->share_wander[share] = (float)fmin(most, 1);
}

void ek_dependence_fit_wander(const struct ek_baseline_fit *fit, const float *level,
                              struct ek_baseline *b, float *band)
{
    for (int i = 0; i < EK_SHARES; i++)
        fit_share_wander(fit, level, b, i);
    fit_level_wander(fit, level, b, band);
}

enum { TERMS = 1 + EK_SEASON };

/* Solve a x = y, symmetric and positive; y becomes x. 0: singular. */
static int solve(double a[TERMS][TERMS], double y[TERMS])
{
    for (int i = 0; i < TERMS; i++) {
        if (a[i][i] < 1e-6)
            return 0;
        for (int j = i + 1; j < TERMS; j++) {
            double part = a[j][i] / a[i][i];
            for (int k = i; k < TERMS; k++)
                a[j][k] -= part * a[i][k];
            y[j] -= part * y[i];
        }
    }
    for (int i = TERMS - 1; i >= 0; i--) {
        for (int k = i + 1; k < TERMS; k++)
            y[i] -= a[i][k] * y[k];
        y[i] /= a[i][i];
    }
    return 1;
}

static void terms_of(int bin, double term[TERMS])
{
    term[0] = 1;
    for (int i = 0; i < EK_SEASON / 2; i++) {
        double angle = 2 * M_PI * (i + 1) * (bin + .5) / EK_DAY_BINS;
        term[1 + 2 * i] = cos(angle);
        term[2 + 2 * i] = sin(angle);
    }
}

int64_t ek_training_span(const int64_t *time_ms, size_t queries)
{
    int64_t first = INT64_MAX, last = -1;
    for (size_t q = 0; q < queries; q++) {
        if (time_ms[q] < 0)
            return 0;
        first = time_ms[q] < first ? time_ms[q] : first;
        last = time_ms[q] > last ? time_ms[q] : last;
    }
    return last < 0 ? 0 : last - first;
}

/* Least squares on the harmonics of the day. Returns the number of lists, 0 if it failed. */
static double fit_harmonics(const struct ek_baseline_fit *fit, const float *level,
                            const struct ek_baseline *b, double x[TERMS], double *variance)
{
    double a[TERMS][TERMS] = {{0}}, term[TERMS], n = 0, squares = 0;
    double sums[EK_DAY_BINS] = {0}, counts[EK_DAY_BINS] = {0};
    for (size_t q = 0; q < fit->queries; q++) {
        if (!fit->record[q].usable)
            continue;
        double sd = 1 / (double)ek_baseline_inv_sd(b, fit->record[q].usable);
        double r = clip(ek_baseline_fit_residual(fit, level, q), CLIP * sd);
        int bin = ek_day_bin(fit->time_ms[q]);
        sums[bin] += r;
        counts[bin]++;
        squares += r * r;
        n++;
    }
    memset(x, 0, TERMS * sizeof *x);
    for (int bin = 0; bin < EK_DAY_BINS; bin++) {
        terms_of(bin, term);
        for (int i = 0; i < TERMS; i++) {
            x[i] += term[i] * sums[bin];
            for (int j = 0; j < TERMS; j++)
                a[i][j] += term[i] * term[j] * counts[bin];
        }
    }
    *variance = n > 0 ? squares / n : 0;
    return n >= LISTS_LEAST && solve(a, x) ? n : 0;
}

static void set_season(const struct ek_baseline_fit *fit, struct ek_baseline *b,
                       const double x[TERMS], double part)
{
    for (int i = 0; i < EK_SEASON; i++)
        b->season[i] = (float)(x[1 + i] * part);
    for (int bin = 0; bin < EK_DAY_BINS; bin++)
        fit->season[bin] = ek_season_at(b->season, (bin + .5) / EK_DAY_BINS);
}

/* Return the variance that chance gives to the season, from the lists without it. */
static double season_noise(const struct ek_baseline_fit *fit, const float *level,
                           const struct ek_baseline *b, double variance, double lists)
{
    struct ek_variance_ratio ratio[EK_BLOCK_LENGTHS] = {{0, 0, 0}};
    double deff = 1;
    measure_view(fit, level, b, EK_RESPECT_LEVEL, 0, 0, 2, ratio);
    for (int i = 0; i < EK_BLOCK_LENGTHS; i++)
        if (ratio[i].freedom > 0)
            deff = fmax(deff, ratio[i].excess / ratio[i].freedom);
    return EK_SEASON * variance * deff / lists;
}

bool ek_dependence_fit_season(const struct ek_baseline_fit *fit, const float *level,
                              struct ek_baseline *b)
{
    double x[TERMS] = {0}, variance, power = 0;
    set_season(fit, b, x, 0);
    double lists = fit->has_days ? fit_harmonics(fit, level, b, x, &variance) : 0;
    for (int i = 1; lists > 0 && i < TERMS; i++)
        power += .5 * x[i] * x[i];
    if (power < SEASON_LEAST * SEASON_LEAST)
        return false;
    set_season(fit, b, x, 1);
    double noise = season_noise(fit, level, b, variance, lists);
    bool chance = power <= noise * (1 + CHANCE * sqrt(2. / EK_SEASON));
    set_season(fit, b, x, chance ? 0 : 1 - noise / power);
    return !chance;
}
