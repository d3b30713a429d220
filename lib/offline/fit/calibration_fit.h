/* What each bet expects in each stratum of training, where that is more than 1: strata differ in
 * more than their level, and a change of the mix of traffic is no fault.
 */
#ifndef EK_OFFLINE_CALIBRATION_FIT_H
#define EK_OFFLINE_CALIBRATION_FIT_H

#include "offline/fit/baseline_fit.h"

/* calibration [strata, EK_CALIBRATED], at least 1 and at least `least` [EK_BETS], what a bet
 * expects on the ranks of all training. What is left of an excess after its sampling variance is
 * taken off (positive-part shrinkage; James and Stein 1961): noise costs delay. */
void ek_calibration_fit(const struct ek_baseline_fit *fit, const struct ek_baseline *b,
                        const float *level, const double *least, float *calibration);

#endif
