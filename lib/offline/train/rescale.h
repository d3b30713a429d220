/* Repairs of shifted values as an alternative to routing: division by the estimated factor, or a
 * constant. For comparison (`evenkeel eval --repair`, `--impute`).
 *
 * The factor is exp(current median of ln|x| - reference median of ln|x|) over finite nonzero
 * values. Missing values stay missing under a division.
 */
#ifndef EK_OFFLINE_TRAIN_RESCALE_H
#define EK_OFFLINE_TRAIN_RESCALE_H

#include "lists/dataset.h"

/* Set *out to the median of ln|x| of an item feature, NaN without usable values. Return 0, or
 * EK_ENOMEM. */
int ek_ln_median(const struct ek_dataset *d, int item, double *out, struct ek_error *e);

/* Divide an item feature of `d` by one factor per arm, in place. arm [Q] < arms; NULL with arms 1
 * means one factor for all lists. factor [arms] receives the divisors, 1 if an arm or the reference
 * has no usable value. Return 0, or EK_ENOMEM. */
int ek_rescale_fit(struct ek_dataset *d, int item, double reference_ln_median, const int *arm,
                   int arms, double *factor, struct ek_error *e);

/* Set an item feature to `value` in all items, missing values included. */
void ek_impute(struct ek_dataset *d, int item, float value);

#endif
