/* Fit of the baseline of one feature: levels, variances, ranks, density, shares and calibration.
 *
 * The calibration is the expectation of each bet in each stratum of training, at least 1. Strata
 * differ in more than their level, and a change of the traffic mix must not raise an alarm.
 */
#ifndef EK_OFFLINE_FIT_STRATUM_FIT_H
#define EK_OFFLINE_FIT_STRATUM_FIT_H

#include "assets/profile.h"
#include "detect/evalue_tests.h"
#include "detect/list_stats_builder.h"
#include "num/list_stats.h"

/* Up to this number of training lists, shifts of the level are not tested. */
enum { EK_LISTS_FOR_LEVEL = 200 };

/* Training lists by the values of a field, in the order of training within each. */
struct ek_list_groups {
    const uint32_t *order; /* list numbers, group after group */
    const size_t *start;   /* [groups + 1] in order */
    int groups;
};
enum { EK_FIT_VIEWS = 6 };

/* Inputs and scratch of the fit of one feature. */
struct ek_baseline_fit {
    size_t queries;
    const struct ek_list_stats *record; /* [queries] of the feature */
    const int *stratum;                 /* [queries], 0 .. strata-1 */
    int strata;
    struct ek_bet_tables *tables;
    double *values;                    /* [queries] scratch */
    double *sum, *count;               /* [strata] scratch */
    double *moments;                   /* [strata, 2, EK_BETS] scratch */
    const struct ek_list_groups *view; /* [views] all lists; by stratum, group by its number; by
                                        * each segment dimension */
    int views;
    const int64_t *time_ms; /* [queries] -1: unknown */
    bool has_days;          /* training tells the season */
    float *season;          /* [EK_DAY_BINS] of the feature, 0 without one */
    bool by_item;           /* r is relative to the levels of the list's items */
};

/* Return the season at the time of list q, 0 without a time. */
static inline float ek_baseline_fit_season(const struct ek_baseline_fit *fit, size_t q)
{
    int bin = ek_day_bin(fit->time_ms[q]);
    return bin < 0 ? 0 : fit->season[bin];
}

/* Return the residual of list q, which must have a usable value. level [strata]. */
static inline double ek_baseline_fit_residual(const struct ek_baseline_fit *fit, const float *level,
                                              size_t q)
{
    return fit->record[q].r - level[fit->stratum[q]] - ek_baseline_fit_season(fit, q);
}

/* Set level [strata], and the variances, season, spreads and shares of *b. */
void ek_baseline_fit_moments(const struct ek_baseline_fit *fit, struct ek_baseline *b,
                             float *level);
/* Training lists by segment: number of the value of each list, -1: none. */
struct ek_segment_lists {
    const int16_t *of; /* [queries] */
    int values;
};
enum { EK_SEGMENT_SUMS = 2 * EK_BETS + 1 };
/* Set divisor [values, EK_CALIBRATED] to the expectations of the bets in the segments of a
 * dimension, at least 1, after those of the strata, calibration [strata, EK_CALIBRATED]. Arguments
 * as for ek_baseline_fit_feature, which set them. sums [values, EK_SEGMENT_SUMS]: scratch. */
void ek_segment_calibration_fit(const struct ek_baseline_fit *fit, const struct ek_baseline *b,
                                const float *level, const float *calibration,
                                const struct ek_segment_lists *lists, double *sums, float *divisor);

/* Set level, band [strata], density [EK_DENSITY_BINS], calibration [strata, EK_CALIBRATED] and *b
 * except its log_mean, log_sd and design effects, which must be set. */
void ek_baseline_fit_feature(const struct ek_baseline_fit *fit, struct ek_baseline *b, float *level,
                             float *band, float *density, float *calibration);

#endif
