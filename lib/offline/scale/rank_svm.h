/* Pairs of items of one list with different labels, and which of them scores order wrongly or by
 * less than a margin of 1, counted without walking the pairs: O(n log n) for a list of n, however
 * many levels its labels have (Joachims 2006 has one pass per level; here a tree of counts over the
 * levels takes one pass in all).
 *
 * Shapes: N items, those of the data set in their order. Labels are finite; scores may be anything,
 * a pair with NaN is not counted. Owner: the caller; the data set must live as long. Threads: one
 * at a time, as it holds the scratch of its count.
 */
#ifndef EK_OFFLINE_SCALE_RANK_SVM_H
#define EK_OFFLINE_SCALE_RANK_SVM_H

#include "lists/dataset.h"

struct ek_rank_pairs;

/* EK_ENOMEM. */
int ek_rank_pairs_new(struct ek_rank_pairs **out, const struct ek_dataset *lists,
                      struct ek_error *e);
void ek_rank_pairs_free(struct ek_rank_pairs *p);
/* All pairs (i, j) with y_i > y_j. */
uint64_t ek_rank_pairs_count(const struct ek_rank_pairs *p);
/* The violated ones, s_i - 1 < s_j. net [N] gets, for each item, how often it is the better one of
 * such a pair less how often the worse. */
uint64_t ek_rank_pairs_violated(struct ek_rank_pairs *p, const double *scores, double *net);

/* A linear ranker by the pairwise hinge loss, RankSVM (Joachims 2002), trained by the one-slack
 * cutting-plane method (Joachims 2006), whose most violated constraint is found by sorting.
 *
 *   minimise  |w|^2 / 2 + C / P sum over the P pairs (i, j) of one list with y_i > y_j of
 *             max(0, 1 - w . (x_i - x_j))
 *
 * Shapes: rows of x are the items of `lists`, in their order, `columns` wide; w [columns]. x is
 * finite. Deterministic: the same data give the same bits. Owner: all arrays are the caller's.
 * Threads: no state.
 */
struct ek_rank_svm_options {
    double c;       /* > 0 */
    double epsilon; /* how far, relative to C, the objective may be above the best there is */
    int rounds_max; /* EK_ESTATE when it is not there after so many */
};

struct ek_rank_svm_result {
    double objective, bound; /* the best there is lies between */
    int rounds;
    uint64_t pairs;
};

/* C 1, epsilon 1e-3, 1000 rounds. */
void ek_rank_svm_defaults(struct ek_rank_svm_options *o);
/* EK_EUSAGE when there is no pair or an option is out of range, EK_ESTATE, EK_ENOMEM; w is then
 * untouched. `result` may be NULL. */
int ek_rank_svm(const struct ek_dataset *lists, const float *x, size_t columns,
                const struct ek_rank_svm_options *o, double *w, struct ek_rank_svm_result *result,
                struct ek_error *e);

#endif
