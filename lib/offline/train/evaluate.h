/* Ranking quality of a model on a data set.
 *
 * Owner: the caller. Missing values are allowed. Threads: no state.
 */
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
    const struct ek_treatment *treatment; /* [K], for every list; NULL routes nothing */
    double *of_list; /* [lists] of the first metric, NaN where a list has none; may be NULL */
    struct ek_metric_mean mean[EK_EVALUATE_METRICS_MAX]; /* the result */
    double max_label;                                    /* of the data, which ERR is relative to */
};

/* Scores every list and fills `mean` and `max_label`. EK_ESTATE when the model is for other
 * features, EK_EUSAGE when a label is above EK_LABEL_MAX and a metric needs 2^y - 1, EK_ENOMEM. */
int ek_evaluate(const struct ek_model *m, const struct ek_dataset *d, struct ek_evaluation *v,
                struct ek_error *e);

/* Spread ratio of routable feature k: the within-list deviation of ln|x| in `d` over that in
 * training. 1 when the data has no usable value, or training saw no spread. */
double ek_spread_ratio(const struct ek_model *m, const struct ek_dataset *d, int k);

#endif
