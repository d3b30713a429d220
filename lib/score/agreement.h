/* Agreement of two rankings of one list: by a model ("student") and by the upstream scorer
 * ("teacher").
 *
 *   tau      Kendall's tau-b (score/tau.h)
 *   ndcg@10  DCG of the student's first ten items over that of the teacher's own order. The gain of
 *            an item is 1 / its teacher rank, the discount of a rank 1 / log2(rank + 1).
 *   top1     1 if both rank the same item first, else 0
 *
 * Only orders count, so scale and offset of the scores do not matter. Tied items get the mean gain
 * or discount of their ranks. top1 is the probability that a random pick among the student's best
 * is a teacher's best. A student with equal scores therefore gets no credit for the input order,
 * and its tau is 0. NaN of the student is the lowest score. Not thread-safe. Takes n log n steps.
 */
#ifndef EK_SCORE_AGREEMENT_H
#define EK_SCORE_AGREEMENT_H

#include "base/error.h"
#include "assets/model.h"
#include "score/tau.h"

#include <stdbool.h>

struct ek_agreement {
    double figure[EK_AGREEMENT_STATISTICS];
};

/* Compare student and teacher [n]. Set *valid to false and leave *out unchanged for a list without
 * information: fewer than two items, or teacher scores that are absent, not finite or all equal.
 * Return 0 or EK_ENOMEM. */
int ek_compare(struct ek_ranker *c, const double *student, const double *teacher, int n,
               struct ek_agreement *out, bool *valid, struct ek_error *e);

/* Running mean and deviation over lists; initialize to {0}. */
struct ek_agreement_sums {
    uint64_t lists;
    double mean[EK_AGREEMENT_STATISTICS],
        square[EK_AGREEMENT_STATISTICS]; /* squared deviations, summed (Welford 1962) */
};
/* Add the statistics of one list to the sums, which start as {0}. */
void ek_agreement_add(struct ek_agreement_sums *s, const struct ek_agreement *a);
/* Return mean and standard deviation over the lists; zeros without lists. */
struct ek_model_agreement ek_agreement_result(const struct ek_agreement_sums *s);

#endif
