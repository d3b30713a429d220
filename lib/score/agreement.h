/* How alike two scorers rank one list: a model ("student") and the upstream scorer ("teacher").
 *
 *   tau      Kendall's tau-b (score/tau.h)
 *   ndcg@10  sum of gain x discount over the student's first ten, over the same for the teacher's
 *            own order; the gain of an item is 1 / its place with the teacher, the discount of a
 *            place 1 / log2(place + 1)
 *   top1     whether the student's first item is the teacher's
 *
 * Only orders count: no scale or offset of either score changes a figure. Equal scores share: each
 * item of a tie has the mean gain (or discount) of the places the tie takes, and top1 is the chance
 * of a random pick among the student's best. So a student that scores all alike gets no credit for
 * the order in which the items came; its tau is 0. NaN of the student counts as the lowest score.
 * Owner: the caller. Threads: one ranker each. Takes n log n steps.
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

/* student, teacher [n]. *says is false, and *out untouched, for a list that says nothing: fewer
 * than two items, a score of the teacher that is absent or not finite, all of them equal.
 * EK_ENOMEM. */
int ek_compare(struct ek_ranker *c, const double *student, const double *teacher, int n,
               struct ek_agreement *out, bool *says, struct ek_error *e);

/* Mean and deviation over lists; starts as {0}. */
struct ek_agreement_sums {
    uint64_t lists;
    double mean[EK_AGREEMENT_STATISTICS],
        square[EK_AGREEMENT_STATISTICS]; /* of deviations from the mean (Welford 1962) */
};
void ek_agreement_add(struct ek_agreement_sums *s, const struct ek_agreement *a);
struct ek_model_agreement ek_agreement_result(const struct ek_agreement_sums *s);

#endif
