/* Training statistics that transforms other than log1p need (score/transform.h).
 *
 * Over all training items, missing values and infinities left out: raw_mean and raw_sd of x
 * (divisor n; 1 where x does not vary), cdf: the values of rank i (n - 1) / 255, rounded, for i = 0
 * .. 255. A feature without values has mean and knots 0.
 */
#ifndef EK_OFFLINE_TRANSFORM_FIT_H
#define EK_OFFLINE_TRANSFORM_FIT_H

#include "lists/dataset.h"
#include "assets/model.h"

/* Fills what the model has of them. EK_ENOMEM. */
int ek_transform_fit(struct ek_model *m, const struct ek_dataset *d, struct ek_error *e);

#endif
