/* Pairs of items of one list with different labels, and which of them scores order wrongly or by
 * less than a margin of 1, counted without walking the pairs: O(n log n) for a list of n, however
 * many levels its labels have (Joachims 2006 has one pass per level; here a tree of counts over the
 * levels takes one pass in all).
 *
 * Shapes: N items, those of the data set in their order. Labels are finite; scores may be anything,
 * a pair with NaN is not counted. Owner: the caller; the data set must live as long. Threads: one
 * at a time, as it holds the scratch of its count.
 */
#ifndef EK_CHOOSE_RANK_PAIRS_H
#define EK_CHOOSE_RANK_PAIRS_H

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

#endif
