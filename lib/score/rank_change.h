/* How far the items of a list move from one order to another.
 *
 *   tau      Kendall's tau-b (score/tau.h), -1 .. 1
 *   top10    share of the first min(10, n) items that both orders have there, 0 .. 1
 *   places   mean |rank here - rank there|
 *   change   the sum of |rank here - rank there| over floor(n n / 2), the most it can be
 *            (Spearman's footrule; Diaconis and Graham 1977): 0 the same order, 1 as far as can be,
 *            for lists of any length
 *
 * Equal scores keep the order of the list, as in ek_rank; NaN sorts last. n log n steps.
 * Owner: the caller. Threads: one ranker each.
 */
#ifndef EK_SCORE_RANK_CHANGE_H
#define EK_SCORE_RANK_CHANGE_H

#include "base/error.h"
#include "score/tau.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_CHANGE_BINS = 64 };

struct ek_rank_change {
    double tau, top10, places, change;
};

/* before, after: scores [n]. *says is false, and *out untouched, for a list that says nothing:
 * fewer than two items, a score before that is absent or not finite, all of them equal. EK_ENOMEM.
 */
int ek_rank_change_compute(struct ek_ranker *r, const double *before, const double *after, int n,
                           struct ek_rank_change *out, bool *says, struct ek_error *e);

/* Figures of lists, summed; starts as {0}. In units of 2^-20, so they add up to the same in any
 * order. `bin` counts `change`: 0 alone is in bin 0, bin i has what is above (i - 1) / 63 and not
 * above i / 63. */
struct ek_rank_sums {
    uint64_t lists;
    int64_t tau, top10, places, change;
    uint64_t bin[EK_CHANGE_BINS];
};

void ek_rank_sums_add(struct ek_rank_sums *s, const struct ek_rank_change *c);
void ek_rank_sums_merge(struct ek_rank_sums *into, const struct ek_rank_sums *from);
/* Means of the lists; NaN without any. */
struct ek_rank_change ek_rank_sums_mean(const struct ek_rank_sums *s);
/* What `share` of the lists did not change by more than: the upper edge of a bin, so never too low,
 * and too high by less than 1 / 63. share: above 0, at most 1. NaN without lists. */
double ek_rank_sums_quantile(const struct ek_rank_sums *s, double share);

#endif
