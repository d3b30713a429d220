/* Ranking quality of a model on a dataset, and the spread of a feature relative to training.
 * Missing values are allowed. */
#ifndef EK_OFFLINE_TRAIN_EVALUATE_H
#define EK_OFFLINE_TRAIN_EVALUATE_H

#include "assets/model.h"
#include "lists/dataset.h"
#include "schema/enum_names.h"
#include "score/metrics.h"

enum { EK_EVALUATE_METRICS_MAX = 32 };

struct ek_evaluation {
    struct ek_metric metric[EK_EVALUATE_METRICS_MAX];
    int metric_count;
    enum ek_gain gain;
    enum ek_empty empty;
    const struct ek_treatment *treatment; /* [K], for every list; NULL: no routing */
    double *of_list; /* [lists] of the first metric, NaN if undefined; may be NULL */
    struct ek_metric_mean mean[EK_EVALUATE_METRICS_MAX]; /* result */
    double max_label;                                    /* highest label of the data, for ERR */
};

/* Score every list, and set v->mean and v->max_label; the metrics in *v are set by the caller.
 * Return 0, EK_ENOMEM, EK_ESTATE if the model is for other features, or EK_EUSAGE if a label is
 * negative, or exceeds EK_LABEL_MAX and a metric needs 2^y - 1. */
int ek_evaluate(const struct ek_model *m, const struct ek_dataset *d, struct ek_evaluation *v,
                struct ek_error *e);

/* Return the spread ratio of routable feature k: the within-list deviation of ln|x| in `d` over
 * that in training. Return 1 if the data has no usable value or training had no spread. */
double ek_spread_ratio(const struct ek_model *m, const struct ek_dataset *d, int k);

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

#define EK_SD_UNREAD 1e30f

/* Set the training statistics of a model for the features of `d`. Return 0 or EK_ENOMEM. */
int ek_statistics_fit(struct ek_model *m, const struct ek_dataset *d, struct ek_error *e);

#endif
