/* Training statistics for the transforms of a model.
 *
 * Over all training items (query features: lists), without missing values and infinities:
 *   item_mean, item_sd, query_mean, query_sd  of sgn(x) ln(1+|x|)
 *   item_median  of x
 *   log_mean     of ln|x| for nonzero x
 *   log_sd       of ln|x| minus its mean over the list, for nonzero x
 *   raw_mean, raw_sd  of x; sd is 1 if x is constant
 *   cdf          values of rank i (n - 1) / 255, rounded, for i = 0 .. 255
 *
 * Standard deviations have the divisor n; 1e-6 is added to item_sd and query_sd; log_sd is at least
 * 1e-3. An input that is constant in training (logs: within lists) or has no value gets the
 * deviation EK_SD_UNREAD instead. No weight has learned from it, so the network must read 0 if it
 * changes later (encoded_dataset.h). A feature without values has raw_mean and knots 0.
 */
#ifndef EK_OFFLINE_TRAIN_STATISTICS_H
#define EK_OFFLINE_TRAIN_STATISTICS_H

#include "assets/model.h"
#include "lists/dataset.h"

#define EK_SD_UNREAD 1e30f

/* Set *mean and *sd to log_mean and log_sd of one item feature. Return the number of values; 0
 * gives mean 0 and deviation 1. A constant feature has the smallest deviation. */
size_t ek_log_statistics(const struct ek_dataset *d, size_t feature, double *mean, double *sd);

/* Set the training statistics of a model for the features of `d`. Return 0 or EK_ENOMEM. */
int ek_statistics_fit(struct ek_model *m, const struct ek_dataset *d, struct ek_error *e);

#endif
