/* RankSVM: a linear ranker trained on item pairs, and the counts of violated pairs that it needs.
 */
#ifndef EK_OFFLINE_SCALE_RANK_SVM_H
#define EK_OFFLINE_SCALE_RANK_SVM_H

#include "lists/dataset.h"

/* Counts of item pairs that scores order wrongly, or with a margin below 1.
 *
 * A pair has two items of one list with different labels. Counting takes O(n log n) for a list of n
 * items, with any number of label levels. Joachims 2006 has one pass per level; a Fenwick tree over
 * the levels needs one pass in total. Labels are finite. Pairs with a NaN score are not counted.
 * The dataset must outlive the object. One thread at a time, because the object has scratch memory.
 */
struct ek_rank_pairs;

/* Create the item pairs of a dataset, which is not copied and must outlive them. Return 0 or
 * EK_ENOMEM. */
int ek_rank_pairs_new(struct ek_rank_pairs **out, const struct ek_dataset *lists,
                      struct ek_error *e);
void ek_rank_pairs_free(struct ek_rank_pairs *p);
/* Return the number of pairs (i, j) with y_i > y_j. */
uint64_t ek_rank_pairs_count(const struct ek_rank_pairs *p);
/* Return the number of violated pairs, s_i - 1 < s_j, for scores [N]. net [N] receives, per item,
 * its violated pairs as the better item minus those as the worse item. */
uint64_t ek_rank_pairs_violated(struct ek_rank_pairs *p, const double *scores, double *net);

/* RankSVM: a linear ranker with pairwise hinge loss (Joachims 2002), trained by the one-slack
 * cutting-plane method (Joachims 2006).
 *
 *   minimize  |w|^2 / 2 + C / P sum over the P pairs (i, j) of one list with y_i > y_j of
 *             max(0, 1 - w . (x_i - x_j))
 *
 * x [items of lists, columns] must be finite; w [columns]. Equal data gives equal bits.
 */
struct ek_rank_svm_options {
    double c;       /* > 0 */
    double epsilon; /* largest gap of the objective to the optimum, relative to C */
    int rounds_max; /* more rounds fail with EK_ESTATE */
};

struct ek_rank_svm_result {
    double objective, bound; /* the optimum is between them */
    int rounds;
    uint64_t pairs;
};

/* Set all members of *o: C 1, epsilon 1e-3, 1000 rounds, and 0 for the others. */
void ek_rank_svm_defaults(struct ek_rank_svm_options *o);
/* Train w [columns] on x [items, columns], the scaled items of `lists`. Set *result unless NULL.
 * Return 0, EK_EUSAGE if the lists have no pair or an option is out of range, EK_ESTATE without
 * convergence, or EK_ENOMEM. On error w is unchanged. */
int ek_rank_svm(const struct ek_dataset *lists, const float *x, size_t columns,
                const struct ek_rank_svm_options *o, double *w, struct ek_rank_svm_result *result,
                struct ek_error *e);

#endif
