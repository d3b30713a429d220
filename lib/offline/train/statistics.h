/* Training statistics of a model: what its transforms are relative to.
 *
 * Over all training items (query features: lists), missing values and infinities left out:
 *   item_mean, item_sd, query_mean, query_sd  of sgn(x) ln(1+|x|)
 *   item_median  of x
 *   log_mean     of ln|x| where x is not 0
 *   log_sd       of ln|x| minus its mean over the list, where x is not 0
 * Standard deviations have the divisor n; 1e-6 is added to item_sd and query_sd; log_sd is at least
 * 1e-3. What never changes in training (logs: within a list), or has no value, has the deviation
 * EK_SD_UNREAD instead: no weight has learned anything about it, and should it move later, the
 * network is to see 0 and not a number beyond all that it has met (varied.h).
 */
#ifndef EK_OFFLINE_TRAIN_STATISTICS_H
#define EK_OFFLINE_TRAIN_STATISTICS_H

#include "assets/model.h"
#include "lists/dataset.h"

#define EK_SD_UNREAD 1e30f

/* log_mean and log_sd of one item feature. Returns how many values they are over; with 0 the mean
 * is 0, the deviation 1. A feature that never changes has the lowest deviation here. */
size_t ek_log_statistics(const struct ek_dataset *d, size_t feature, double *mean, double *sd);

/* Fills the statistics of a model for the same features. EK_ENOMEM. */
int ek_statistics_fit(struct ek_model *m, const struct ek_dataset *d, struct ek_error *e);

/* Training statistics that transforms other than log1p need (score/transform.h).
 *
 * Over all training items, missing values and infinities left out: raw_mean and raw_sd of x
 * (divisor n; 1 where x does not vary), cdf: the values of rank i (n - 1) / 255, rounded, for i = 0
 * .. 255. A feature without values has mean and knots 0.
 */

#endif
