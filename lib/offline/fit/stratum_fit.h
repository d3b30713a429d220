/* The baseline of one feature from its records: levels, variances, ranks, density, shares. */
#ifndef EK_OFFLINE_FIT_STRATUM_FIT_H
#define EK_OFFLINE_FIT_STRATUM_FIT_H

#include "assets/profile.h"
#include "detect/evalue_tests.h"
#include "num/list_stats.h"

/* With so many training lists or fewer too little is known: shifts of the level are not watched. */
enum { EK_LISTS_FOR_LEVEL = 200 };

/* What the fit of all features shares; scratch for one feature at a time. */
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

/* Of list q, which has a usable value. level [strata]. */
static inline double ek_baseline_fit_residual(const struct ek_baseline_fit *fit, const float *level,
                                              size_t q)
{
    return fit->record[q].r - level[fit->stratum[q]];
}

/* Fills everything of `b` but the log_ fields, `level` [strata], `density` [EK_DENSITY_BINS]
 * and `calibration` [strata, EK_CALIBRATED]. */
void ek_baseline_fit_feature(const struct ek_baseline_fit *fit, struct ek_baseline *b, float *level,
                             float *density, float *calibration);

/* What each bet expects in each stratum of training, where that is more than 1: strata differ in
 * more than their level, and a change of the mix of traffic is no fault.
 */

#endif
