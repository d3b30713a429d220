/* Fit of the baseline of one feature: levels, variances, ranks, density, shares and calibration.
 *
 * The calibration is the expectation of each bet in each stratum of training, at least 1. Strata
 * differ in more than their level, and a change of the traffic mix must not raise an alarm.
 */
#ifndef EK_OFFLINE_FIT_STRATUM_FIT_H
#define EK_OFFLINE_FIT_STRATUM_FIT_H

#include "assets/profile.h"
#include "detect/evalue_tests.h"
#include "num/list_stats.h"

/* Up to this number of training lists, shifts of the level are not tested. */
enum { EK_LISTS_FOR_LEVEL = 200 };

/* Inputs and scratch of the fit of one feature. */
struct ek_baseline_fit {
    size_t queries;
    const struct ek_list_stats *record; /* [queries] of the feature */
    const int *stratum;                 /* [queries], 0 .. strata-1 */
    int strata;
    const struct ek_bet_tables *tables;
    double *values;      /* [queries] scratch */
    double *sum, *count; /* [strata] scratch */
    double *moments;     /* [strata, 2, EK_BETS] scratch */
    const int *before;   /* [queries] an earlier list with the same query features, or -1 */
};

/* Return the residual of list q, which must have a usable value. level [strata]. */
static inline double ek_baseline_fit_residual(const struct ek_baseline_fit *fit, const float *level,
                                              size_t q)
{
    return fit->record[q].r - level[fit->stratum[q]];
}

/* Set level [strata], density [EK_DENSITY_BINS], calibration [strata, EK_CALIBRATED] and *b except
 * its log_mean and log_sd. */
void ek_baseline_fit_feature(const struct ek_baseline_fit *fit, struct ek_baseline *b, float *level,
                             float *density, float *calibration);

#endif
