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
#ifndef EK_CHOOSE_RANK_SVM_H
#define EK_CHOOSE_RANK_SVM_H

#include "lists/dataset.h"

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
