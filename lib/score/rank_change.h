/* Displacement of the items of a list between two rankings.
 *
 *   tau      Kendall's tau-b (score/tau.h), -1 .. 1
 *   top10    fraction of the first min(10, n) items common to both, 0 .. 1
 *   places   mean |rank before - rank after|
 *   change   sum of |rank before - rank after| over its maximum floor(n n / 2) (Spearman's
 *            footrule; Diaconis and Graham 1977): 0 for equal orders, 1 for maximum displacement
 *
 * Equal scores keep the input order, as in ek_rank; NaN sorts last. Takes n log n steps. Not
 * thread-safe.
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

/* Compare the scores before and after [n]. Set *valid to false and leave *out unchanged for a list
 * without information: fewer than two items, or scores before that are absent, not finite or all
 * equal. Return 0 or EK_ENOMEM. */
int ek_rank_change_compute(struct ek_ranker *r, const double *before, const double *after, int n,
                           struct ek_rank_change *out, bool *valid, struct ek_error *e);

/* Sums over lists in units of 2^-20, independent of the order; initialize to {0}. `bin` is a
 * histogram of `change`: bin 0 holds exactly 0, bin i holds ((i - 1) / 63, i / 63]. */
struct ek_rank_sums {
    uint64_t lists;
    int64_t tau, top10, places, change;
    uint64_t bin[EK_CHANGE_BINS];
};

/* Add the displacement of one list to the sums, which start as {0}. */
void ek_rank_sums_add(struct ek_rank_sums *s, const struct ek_rank_change *c);
/* Add the sums `from`, which stay unchanged, to `into`. */
void ek_rank_sums_merge(struct ek_rank_sums *into, const struct ek_rank_sums *from);
/* Return the means over lists, NAN without lists. */
struct ek_rank_change ek_rank_sums_mean(const struct ek_rank_sums *s);
/* Return the quantile of `change` at `share`, in (0, 1], or NAN without lists. It is the upper edge
 * of a bin: never too low, and too high by less than 1 / 63. */
double ek_rank_sums_quantile(const struct ek_rank_sums *s, double share);

#endif
