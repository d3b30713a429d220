#include "offline/fit/stratum_fit.h"

#include "assets/residual_grid.h"
#include "base/sort.h"
#include "offline/fit/dependence_fit.h"

#include <math.h>
#include <string.h>

enum {
    STRATUM_PRIOR = 20, /* weight of the overall level in the level of a stratum, in lists */
    LISTS_FOR_SPREAD = 500,
    SMOOTH_HALF = 15, /* bins */
};
static const double SMOOTH_SD = 5; /* bins */
static const double CLIPPED_SQUARE = 25, BETWEEN_MIN = 1e-3, WITHIN_MIN = 1e-6;
static const double SPREAD_SD_MIN = 0.02, SPREAD_QUANTILE = 0.995;
static const double SPREAD_FLOOR = 1e-3, BULK = 0.01;
static const double DOUBT = 2, LISTS_WITHOUT_DOUBT = 4000;

static double clip(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Return the first index with a value >= x in a sorted array, or n. */
static size_t lower_bound(const double *sorted, size_t n, double x)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double median_of(double *values, size_t n)
{
    ek_sort_doubles(values, n);
    return n ? n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2 : 0;
}

/* Return the level of list q less the season. */
static double level_of(const struct ek_baseline_fit *fit, size_t q)
{
    return (double)fit->record[q].r - (double)ek_baseline_fit_season(fit, q);
}

static double median_level(const struct ek_baseline_fit *fit)
{
    size_t n = 0;
    for (size_t q = 0; q < fit->queries; q++)
        if (fit->record[q].usable)
            fit->values[n++] = level_of(fit, q);
    return median_of(fit->values, n);
}

/* Set the overall level, and level [strata]. */
static void fit_levels(const struct ek_baseline_fit *fit, struct ek_baseline *b, float *level)
{
    double overall = median_level(fit);
    b->level = (float)overall;
    memset(fit->sum, 0, (size_t)fit->strata * sizeof *fit->sum);
    memset(fit->count, 0, (size_t)fit->strata * sizeof *fit->count);
    for (size_t q = 0; q < fit->queries; q++)
        if (fit->record[q].usable) {
            fit->sum[fit->stratum[q]] += level_of(fit, q);
            fit->count[fit->stratum[q]]++;
        }
    for (int s = 0; s < fit->strata; s++)
        level[s] =
            (float)((fit->sum[s] + STRATUM_PRIOR * overall) / (fit->count[s] + STRATUM_PRIOR));
    if (fit->strata > 1)
        level[0] = (float)overall;
}

/* Sums over lists of a squared residual y and x = 1 / k, k: number of values. */
struct squares {
    double lists, x, y, xx, xy;
};

/* Return the slope of y on x: the variance within a list. */
static double slope_of(const struct squares *s)
{
    double variance = s->xx - s->x * s->x / s->lists;
    return variance > 1e-9 * s->lists ? (s->xy - s->x * s->y / s->lists) / variance : 0;
}

/* Fit sd^2 of the level of a list with k values = variance between lists + variance within a list /
 * k. Relative to the levels of items, the spread within a list does not show the latter. */
static void fit_variance(const struct ek_baseline_fit *fit, const float *level,
                         struct ek_baseline *b)
{
    struct squares s = {0};
    double within = 0, spreads = 0;
    for (size_t q = 0; q < fit->queries; q++) {
        const struct ek_list_stats *o = &fit->record[q];
        if (!o->usable)
            continue;
        double r = ek_baseline_fit_residual(fit, level, q);
        double x = 1.0 / o->usable, y = fmin(r * r, CLIPPED_SQUARE);
        s.lists++;
        s.x += x;
        s.y += y;
        s.xx += x * x;
        s.xy += x * y;
        if (o->usable >= 3) {
            within += fmin(exp(2.0 * o->spread), CLIPPED_SQUARE);
            spreads++;
        }
    }
    double total = s.lists ? s.y / s.lists : 0;
    within = fit->by_item ? fmin(slope_of(&s), s.y / s.x) : spreads ? within / spreads : 0;
    within = fmax(within, WITHIN_MIN);
    double between = fmax(s.lists ? total - within * s.x / s.lists : 0, BETWEEN_MIN);
    for (int k = 0; k < EK_SD_SIZES; k++)
        b->inv_sd[k] = (float)(1 / sqrt(between + within / (k > 1 ? k : 1)));
    b->sd = (float)sqrt(fmax(total, BETWEEN_MIN));
    b->queries = (uint64_t)s.lists;
}

/* Return P(X >= x) if `count` of n training lists, worth n / deff independent ones, have X >= x:
 * the add-one estimate, and for few lists an upper confidence bound, because an underestimated tail
 * causes false alarms permanently. */
static double tail_probability(size_t count, size_t n, double deff)
{
    double seen = (double)count + 1;
    double doubt = fmax(DOUBT * (1 - (double)n / deff / LISTS_WITHOUT_DOUBT), 0);
    return fmin((seen + doubt * sqrt(seen * deff)) / ((double)n + 1), 1);
}

/* Set rank to the table row of every bin, from p[i] = P(X >= lower edge of bin i): by the middle of
 * the bin's mass in the bulk, by the lower edge in the tail. */
static void fill_ranks(const double *p, int bins, double floor_p, uint8_t *rank)
{
    for (int i = 0; i < bins; i++) {
        double after = i + 1 < bins ? p[i + 1] : 0;
        rank[i] = ek_table_row(fmax(p[i] < BULK ? p[i] : (p[i] + after) / 2, floor_p));
    }
}

/* Compute the expectations of the bets of `table` if row rank[i] has the mass of bin i, and raise
 * most [lanes] to them. */
static void raise_expectations(const uint8_t *rank, const double *p, int bins,
                               float (*table)[EK_BET_ROW], int from, int to, double *most)
{
    for (int lane = from; lane < to; lane++) {
        double sum = 0, mass = 0;
        for (int i = 0; i < bins; i++) {
            double here = fmax(p[i] - (i + 1 < bins ? p[i + 1] : 0), 0);
            mass += here;
            sum += here * table[rank[i]][lane];
        }
        most[lane] = fmax(most[lane], mass > 0 ? sum / mass : 0);
    }
}

static void fit_level_ranks(const struct ek_baseline_fit *fit, const float *level,
                            struct ek_baseline *b, double *most)
{
    double deff = fmax((double)b->deff[EK_RESPECT_LEVEL], 1);
    int class = ek_far_class((uint64_t)((double)b->queries / deff));
    for (int direction = 0; direction < 2; direction++) {
        size_t n = 0;
        double p[EK_Z_BINS];
        for (size_t q = 0; q < fit->queries; q++) {
            int k = fit->record[q].usable;
            double z = k ? ek_baseline_fit_residual(fit, level, q) * ek_baseline_inv_sd(b, k) : 0;
            if (k)
                fit->values[n++] = direction ? -z : z;
        }
        if (n <= EK_LISTS_FOR_LEVEL)
            return;
        ek_sort_doubles(fit->values, n);
        for (int i = 0; i < EK_Z_BINS; i++) {
            size_t above = n - lower_bound(fit->values, n, ek_z_edge(i));
            p[i] = tail_probability(above, n, deff);
        }
        fill_ranks(p, EK_Z_BINS, ek_far_p(class), b->z_rank[direction]);
        raise_expectations(b->z_rank[direction], p, EK_Z_BINS, fit->tables->level[class], 0,
                           EK_LEVEL_BETS, most + direction * EK_BET_DOWN);
    }
}

/* Fit the ranks of the spread of one size class, up and down. s [n] is sorted. */
static void spread_ranks(const struct ek_baseline_fit *fit, const double *s, size_t n,
                         uint8_t rank[2][EK_SPREAD_BINS], double *most)
{
    enum { LANE = EK_BET_SPREAD_UP };
    double up[EK_SPREAD_BINS], down[EK_SPREAD_BINS];
    uint8_t reversed[EK_SPREAD_BINS];
    for (int i = 0; i < EK_SPREAD_BINS; i++) {
        size_t above = n - lower_bound(s, n, ek_spread_edge(i));
        double next = i + 1 < EK_SPREAD_BINS ? ek_spread_edge(i + 1) : 1e9;
        size_t below = lower_bound(s, n, nextafter(next, INFINITY));
        up[i] = tail_probability(above, n, 1);
        down[EK_SPREAD_BINS - 1 - i] = tail_probability(below, n, 1);
    }
    fill_ranks(up, EK_SPREAD_BINS, SPREAD_FLOOR, rank[0]);
    fill_ranks(down, EK_SPREAD_BINS, SPREAD_FLOOR, reversed);
    raise_expectations(rank[0], up, EK_SPREAD_BINS, fit->tables->spread, LANE, EK_BET_ROW, most);
    raise_expectations(reversed, down, EK_SPREAD_BINS, fit->tables->spread, LANE, EK_BET_ROW,
                       most + EK_BET_DOWN);
    for (int i = 0; i < EK_SPREAD_BINS; i++)
        rank[1][i] = reversed[EK_SPREAD_BINS - 1 - i];
}

static void spread_moments(const double *sorted, size_t n, struct ek_baseline *b, int c)
{
    double middle = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    double sum = 0, squares = 0, position = SPREAD_QUANTILE * (double)(n - 1);
    for (size_t i = 0; i < n; i++) {
        double around = clip(sorted[i] - middle, -1, 1);
        sum += around;
        squares += around * around;
    }
    sum /= (double)n;
    size_t at = (size_t)position;
    double part = position - (double)at, next = sorted[at + 1 < n ? at + 1 : at];
    b->spread_mean[c] = (float)(middle + sum);
    b->spread_sd[c] = (float)fmax(sqrt(fmax(squares / (double)n - sum * sum, 0)), SPREAD_SD_MIN);
    b->spread_hi[c] = (float)(sorted[at] + part * (next - sorted[at]));
}

static void fit_spreads(const struct ek_baseline_fit *fit, struct ek_baseline *b, double *most)
{
    for (int c = 0; c < EK_SIZE_CLASSES; c++) {
        size_t n = 0;
        for (size_t q = 0; q < fit->queries; q++)
            if (fit->record[q].usable >= 3 && ek_size_class(fit->record[q].usable) == c)
                fit->values[n++] = fit->record[q].spread;
        b->spread_hi[c] = EK_SPREAD_UNKNOWN;
        b->spread_mean[c] = 0;
        b->spread_sd[c] = 1;
        if (n < LISTS_FOR_SPREAD)
            continue;
        ek_sort_doubles(fit->values, n);
        spread_moments(fit->values, n, b, c);
        spread_ranks(fit, fit->values, n, b->spread_rank[c], most);
    }
}

static void fit_shares(const struct ek_baseline_fit *fit, struct ek_baseline *b)
{
    for (int i = 0; i < EK_SHARES; i++) {
        double sum = 0, known = 0;
        for (size_t q = 0; q < fit->queries; q++)
            if (fit->record[q].share[i] != EK_SHARE_UNKNOWN) {
                sum += fit->record[q].share[i];
                known++;
            }
        b->share[i] = known ? (float)(sum / known / EK_SHARE_WHOLE) : 0;
    }
}

/* Fit the density: a histogram smoothed by a normal kernel, mixed with a uniform distribution so
 * that it is positive everywhere. */
static void fit_density(const struct ek_baseline_fit *fit, const float *level, float *density)
{
    double counts[EK_DENSITY_BINS] = {0}, kernel[2 * SMOOTH_HALF + 1], weight = 0, total = 0;
    for (size_t q = 0; q < fit->queries; q++)
        if (fit->record[q].usable)
            counts[ek_residual_bin((float)ek_baseline_fit_residual(fit, level, q))]++;
    for (int i = -SMOOTH_HALF; i <= SMOOTH_HALF; i++)
        weight += kernel[i + SMOOTH_HALF] = exp(-0.5 * i * i / (SMOOTH_SD * SMOOTH_SD));
    for (int i = 0; i < EK_DENSITY_BINS; i++)
        total += counts[i];
    for (int i = 0; i < EK_DENSITY_BINS; i++) {
        double sum = 0;
        for (int j = -SMOOTH_HALF; j <= SMOOTH_HALF; j++)
            if (i + j >= 0 && i + j < EK_DENSITY_BINS)
                sum += counts[i + j] * kernel[j + SMOOTH_HALF];
        density[i] =
            (float)((1 - EK_DENSITY_FLOOR) * sum / weight / fmax(total, 1) / EK_RESIDUAL_BIN +
                    EK_DENSITY_FLOOR / EK_RESIDUAL_RANGE);
    }
}

enum { LISTS_FOR_CALIBRATION = 30 };
static const double CALIBRATION_MOST = 1e4;
static const double SURE_ERRORS = 2, BOUND_ERRORS = 1; /* standard errors */

/* Sum the bets to the power of their design effect, and the squares, by stratum: the product of so
 * many equal lists. */
static void sum_bets(const struct ek_baseline_fit *fit, const struct ek_baseline *b,
                     const float *level)
{
    struct ek_feature_bets bets;
    double deff[EK_BETS];
    ek_feature_bets_fill(&bets, fit->tables, b);
    for (int i = 0; i < EK_BETS; i++)
        deff[i] = ek_bet_deff(b, i);
    memset(fit->count, 0, (size_t)fit->strata * sizeof *fit->count);
    memset(fit->moments, 0, (size_t)fit->strata * 2 * EK_BETS * sizeof *fit->moments);
    for (size_t q = 0; q < fit->queries; q++) {
        double *sum = fit->moments + (size_t)fit->stratum[q] * 2 * EK_BETS;
        float e[EK_BETS];
        ek_bets_compute(&bets, b, ek_baseline_band(b), &fit->record[q],
                        (float)ek_baseline_fit_residual(fit, level, q), e);
        for (int i = 0; i < EK_BETS; i++) {
            double plain = deff[i] > 1 ? pow((double)e[i], deff[i]) : (double)e[i];
            sum[i] += plain;
            sum[EK_BETS + i] += plain * plain;
        }
        fit->count[fit->stratum[q]]++;
    }
}

static double shrink_mean(double sum, double squares, double count, double deff)
{
    if (count < LISTS_FOR_CALIBRATION)
        return 1;
    double mean = sum / count, excess = mean - 1;
    double variance = deff * fmax(squares / count - mean * mean, 0) / (count - 1);
    return excess > 0 ? 1 + fmax(excess - variance / excess, 0) : 1;
}

/* Fit calibration [strata, EK_CALIBRATED]: the mean of each bet, at least 1 and at least its
 * expectation `least` [EK_BETS] on the ranks of all training. An excess over 1 is reduced by its
 * sampling variance (positive-part shrinkage; James and Stein 1961), because noise delays
 * detection. */
static void calibration_fit(const struct ek_baseline_fit *fit, const struct ek_baseline *b,
                            const float *level, const double *least, float *calibration)
{
    sum_bets(fit, b, level);
    for (int s = 0; s < fit->strata; s++) {
        const double *sum = fit->moments + (size_t)s * 2 * EK_BETS;
        for (int i = 0; i < EK_BETS; i++) {
            double deff = ek_bet_deff(b, i);
            double mean =
                fmax(shrink_mean(sum[i], sum[EK_BETS + i], fit->count[s], deff), least[i]);
            calibration[s * EK_CALIBRATED + i] = (float)fmin(pow(mean, 1 / deff), CALIBRATION_MOST);
        }
    }
}

/* Sum the bets of each segment to the power of their design effect, their squares and the lists. */
static void sum_segment_bets(const struct ek_baseline_fit *fit, const struct ek_baseline *b,
                             const float *level, const float *calibration,
                             const struct ek_segment_lists *lists, double *sums)
{
    struct ek_feature_bets bets;
    double deff[EK_BETS];
    ek_feature_bets_fill(&bets, fit->tables, b);
    for (int i = 0; i < EK_BETS; i++)
        deff[i] = ek_bet_deff(b, i);
    memset(sums, 0, (size_t)lists->values * EK_SEGMENT_SUMS * sizeof *sums);
    for (size_t q = 0; q < fit->queries; q++) {
        const float *divisor = calibration + fit->stratum[q] * EK_CALIBRATED;
        float e[EK_BETS];
        if (lists->of[q] < 0)
            continue;
        double *sum = sums + lists->of[q] * EK_SEGMENT_SUMS;
        ek_bets_compute(&bets, b, ek_baseline_band(b), &fit->record[q],
                        (float)ek_baseline_fit_residual(fit, level, q), e);
        for (int i = 0; i < EK_BETS; i++) {
            double bet = (double)(e[i] / divisor[i]), plain = deff[i] > 1 ? pow(bet, deff[i]) : bet;
            sum[i] += plain;
            sum[EK_BETS + i] += plain * plain;
        }
        sum[2 * EK_BETS]++;
    }
}

/* Mean of a bet in a segment, and its standard error. */
struct bet_mean {
    double mean, error;
};

static struct bet_mean mean_of_bet(const double *sum, int bet, double deff)
{
    double lists = sum[2 * EK_BETS], mean = sum[bet] / lists;
    double variance = fmax(sum[EK_BETS + bet] / lists - mean * mean, 0);
    return (struct bet_mean){mean, sqrt(deff * variance / (lists - 1))};
}

/* Return whether the expectation of a bet surely exceeds 1 in a segment. */
static bool do_segments_differ(const double *sums, int values, int bet, double deff)
{
    for (int v = 0; v < values; v++) {
        const double *sum = sums + v * EK_SEGMENT_SUMS;
        if (sum[2 * EK_BETS] < LISTS_FOR_CALIBRATION)
            continue;
        struct bet_mean m = mean_of_bet(sum, bet, deff);
        if (m.mean - SURE_ERRORS * m.error > 1)
            return true;
    }
    return false;
}

/* Return the expectation of a bet in a segment, at least 1. If the segments differ, that is an
 * upper bound, and `most` with few lists. */
static double segment_mean(const double *sum, int bet, double deff, bool differ, double most)
{
    if (!differ)
        return 1;
    if (sum[2 * EK_BETS] < LISTS_FOR_CALIBRATION)
        return most;
    struct bet_mean m = mean_of_bet(sum, bet, deff);
    return fmax(m.mean + BOUND_ERRORS * m.error, 1);
}

void ek_segment_calibration_fit(const struct ek_baseline_fit *fit, const struct ek_baseline *b,
                                const float *level, const float *calibration,
                                const struct ek_segment_lists *lists, double *sums, float *divisor)
{
    sum_segment_bets(fit, b, level, calibration, lists, sums);
    for (int i = 0; i < EK_BETS; i++) {
        double deff = ek_bet_deff(b, i);
        bool differ = do_segments_differ(sums, lists->values, i, deff);
        double most = 1;
        for (int v = 0; v < lists->values; v++)
            most = fmax(most, segment_mean(sums + v * EK_SEGMENT_SUMS, i, deff, differ, 1));
        for (int v = 0; v < lists->values; v++) {
            double mean = segment_mean(sums + v * EK_SEGMENT_SUMS, i, deff, differ, most);
            divisor[v * EK_CALIBRATED + i] = (float)fmin(pow(mean, 1 / deff), CALIBRATION_MOST);
        }
    }
}

static void fit_moments(const struct ek_baseline_fit *fit, struct ek_baseline *b, float *level,
                        double *most)
{
    memset(fit->season, 0, EK_DAY_BINS * sizeof *fit->season);
    fit_levels(fit, b, level);
    fit_variance(fit, level, b);
    if (ek_dependence_fit_season(fit, level, b)) { /* its mean over the lists is not 0 */
        fit_levels(fit, b, level);
        fit_variance(fit, level, b);
    }
    fit_spreads(fit, b, most);
    fit_shares(fit, b);
}

void ek_baseline_fit_moments(const struct ek_baseline_fit *fit, struct ek_baseline *b, float *level)
{
    double most[EK_BETS] = {0};
    fit_moments(fit, b, level, most);
}

void ek_baseline_fit_feature(const struct ek_baseline_fit *fit, struct ek_baseline *b, float *level,
                             float *band, float *density, float *calibration)
{
    double most[EK_BETS] = {0};
    fit_moments(fit, b, level, most);
    ek_dependence_fit_wander(fit, level, b, band);
    fit_level_ranks(fit, level, b, most);
    fit_density(fit, level, density);
    calibration_fit(fit, b, level, most, calibration);
}
