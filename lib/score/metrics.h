/* Ranking metrics of one list: NDCG (Jaervelin and Kekaelaeinen 2002), MAP, precision, ERR
 * (Chapelle et al. 2009) and MRR.
 *
 * Items are sorted by descending score; equal scores keep the input order, NaN sorts last. Relevant
 * is label >= 1. A list without relevant items (NDCG: without a positive gain) is empty: its value
 * is NaN, and the mean decides how it counts. Labels are finite and not negative. Thread-safe.
 */
#ifndef EK_SCORE_METRICS_H
#define EK_SCORE_METRICS_H

#include "base/error.h"

#include <stddef.h>

/* Up to this label, gains 2^y - 1 and their sums over a list are finite doubles. */
#define EK_LABEL_MAX 1000.0f

enum ek_gain { EK_GAIN_EXP, EK_GAIN_LINEAR };            /* 2^y - 1, or y */
enum ek_empty { EK_EMPTY_SKIP, EK_EMPTY_0, EK_EMPTY_1 }; /* value of an empty list */
enum ek_metric_kind { EK_NDCG, EK_MAP, EK_PRECISION, EK_ERR, EK_MRR };

struct ek_metric {
    enum ek_metric_kind kind;
    int cutoff; /* 0: none */
};

/* Parse "ndcg@10", "ndcg", "map", "p@5", "err@10", "err" or "mrr" into *out. Return 0, or EK_EUSAGE
 * with *out unchanged.
 */
int ek_metric_parse(const char *text, struct ek_metric *out, struct ek_error *e);

/* Return the score as it is compared: NaN becomes -infinity. */
double ek_score_key(double score);
/* Set order [n] to the item numbers from best to worst. */
void ek_rank(const double *scores, int n, int *order);

/* Return the metric of one list, NaN for an empty one. order [n] from ek_rank, label [n], max_label
 * of the data set (ERR only), scratch [n]. */
double ek_metric_compute(struct ek_metric metric, enum ek_gain gain, const int *order,
                         const float *label, int n, double max_label, double *scratch);

/* Running mean with a rule for empty lists. */
struct ek_metric_mean {
    double sum;
    size_t count, lists;
};
/* Add the metric of one list; NaN is an empty list, which counts by `empty`. */
void ek_metric_add(struct ek_metric_mean *m, double value, enum ek_empty empty);
/* Return the mean, or NAN if no list counted. */
double ek_metric_result(const struct ek_metric_mean *m);

#endif
