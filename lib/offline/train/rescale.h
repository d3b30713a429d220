/* What one would do to shifted values without routing: divide by the factor they seem to have, or
 * fill in a constant. To compare with (`evenkeel eval --repair`, `--fill`).
 *
 * The factor is exp(median of ln|x| now - median of ln|x| in the reference), over finite values
 * that are not 0. Missing values stay missing under a division.
 * Owner: the caller. Threads: no state.
 */
#ifndef EK_OFFLINE_TRAIN_RESCALE_H
#define EK_OFFLINE_TRAIN_RESCALE_H

#include "lists/dataset.h"

/* Median of ln|x| of an item feature; NaN when it has no usable value. EK_ENOMEM. */
int ek_ln_median(const struct ek_dataset *d, int item, double *out, struct ek_error *e);

/* Divides an item feature by its factor, one for each arm: arm [Q] < arms, NULL with arms 1: one
 * for all lists. factor [arms] is what was divided by; 1 where an arm or the reference has no
 * usable value. EK_ENOMEM. */
int ek_rescale_fit(struct ek_dataset *d, int item, double reference_ln_median, const int *arm,
                   int arms, double *factor, struct ek_error *e);

/* Sets an item feature to `value` everywhere, missing values included. */
void ek_impute(struct ek_dataset *d, int item, float value);

#endif
