/* Ranking quality of a model on a dataset, and the spread of a feature relative to training.
 * Missing values are allowed. */
#ifndef EK_OFFLINE_TRAIN_EVALUATE_H
#define EK_OFFLINE_TRAIN_EVALUATE_H

#include "lists/dataset.h"
#include "assets/model.h"
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
 * Return 0, EK_ENOMEM, EK_ESTATE if the model is for other features, or EK_EUSAGE if a label
 * exceeds EK_LABEL_MAX and a metric needs 2^y - 1. */
int ek_evaluate(const struct ek_model *m, const struct ek_dataset *d, struct ek_evaluation *v,
                struct ek_error *e);

/* Return the spread ratio of routable feature k: the within-list deviation of ln|x| in `d` over
 * that in training. Return 1 if the data has no usable value or training had no spread. */
double ek_spread_ratio(const struct ek_model *m, const struct ek_dataset *d, int k);

#endif
