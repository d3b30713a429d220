/* Ranking metrics of one list. Sorted by score, descending; equal scores keep the input order.
 * Relevant is label >= 1. A list without a relevant item (NDCG: without a positive gain) is empty:
 * NaN, and the mean decides what it counts. Formulas: Jaervelin and Kekaelaeinen 2002 (NDCG),
 * Chapelle et al. 2009 (ERR). Scores with NaN sort last. Labels are finite and not negative.
 * Threads: no state. Owner: all arrays are the caller's.
 */
#ifndef EK_SCORE_METRICS_H
#define EK_SCORE_METRICS_H

#include "base/error.h"

#include <stddef.h>

/* Of labels up to this one the gains 2^y - 1, and sums of them over a list, are doubles. */
#define EK_LABEL_MAX 1000.0f

enum ek_gain { EK_GAIN_EXP, EK_GAIN_LINEAR };            /* 2^y - 1, or y */
enum ek_empty { EK_EMPTY_SKIP, EK_EMPTY_0, EK_EMPTY_1 }; /* what an empty list counts */
enum ek_metric_kind { EK_NDCG, EK_MAP, EK_PRECISION, EK_ERR, EK_MRR };

struct ek_metric {
    enum ek_metric_kind kind;
    int cutoff; /* 0: none */
};

/* "ndcg@10", "ndcg", "map", "p@5", "err@10", "err", "mrr" -> *out; EK_EUSAGE otherwise. */
int ek_metric_parse(const char *text, struct ek_metric *out, struct ek_error *e);

/* What scores are compared by: NaN is as low as the lowest there is. */
double ek_score_key(double score);
/* order [n]: item numbers from best to worst. */
void ek_rank(const double *scores, int n, int *order);

/* Value of one list; `order` as from ek_rank, label [n], max_label of the data set (ERR only).
 * scratch [n] doubles. */
double ek_metric_compute(struct ek_metric metric, enum ek_gain gain, const int *order,
                         const float *label, int n, double max_label, double *scratch);

/* Running mean with the rule for empty lists. */
struct ek_metric_mean {
    double sum;
    size_t count, lists;
};
void ek_metric_add(struct ek_metric_mean *m, double value, enum ek_empty empty);
/* NaN when nothing counted. */
double ek_metric_result(const struct ek_metric_mean *m);

#endif
