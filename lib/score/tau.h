/* Kendall's tau-b of two scorings of one list (Kendall 1945), counted by merging (Knight 1966):
 * pairs in the same order less pairs in the opposite one, over sqrt(pairs untied in one x untied in
 * the other). NaN counts as the lowest score. Owner: the caller. Threads: no state.
 */
#ifndef EK_SCORE_TAU_H
#define EK_SCORE_TAU_H

#include <stdbool.h>

/* Whether a list has an order to be held against: two items or more, all scores finite, and not all
 * of them equal. */
bool ek_scores_tell(const double *score, int n);
/* Behind the last place of the tie that begins at place `from` of the order. */
int ek_tie_end(const double *score, const int *order, int from, int n);
/* -1 .. 1; 0 where one of them has no order. order: as ek_rank has it of `b`. row, merged [n]:
 * scratch. n log n steps. */
double ek_tau_b(const double *a, const double *b, const int *order, int n, double *row,
                double *merged);

#endif
