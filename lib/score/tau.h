/* Kendall's tau-b of two scorings of one list (Kendall 1945), counted by merging (Knight 1966):
 * pairs in the same order less pairs in the opposite one, over sqrt(pairs untied in one x untied in
 * the other). NaN counts as the lowest score. Owner: the caller. Threads: no state.
 */
#ifndef EK_SCORE_TAU_H
#define EK_SCORE_TAU_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether a list has an order to be held against: two items or more, all scores finite, and not all
 * of them equal. */
bool ek_scores_have_order(const double *score, int n);
/* Behind the last place of the tie that begins at place `from` of the order. */
int ek_tie_end(const double *score, const int *order, int from, int n);
/* -1 .. 1; 0 where one of them has no order. order: as ek_rank has it of `b`. row, merged [n]:
 * scratch. n log n steps. */
double ek_tau_b(const double *a, const double *b, const int *order, int n, double *row,
                double *merged);

/* Two orders of a list, best first, and memory to compare them; grows only. The rest is for who
 * compares. Owner: the caller. */
struct ek_ranker {
    size_t capacity;
    int *order[2];
    int *place;           /* of each item */
    double *worth[2];     /* of each item */
    double *row, *merged; /* of ek_tau_b */
};

int ek_ranker_new(struct ek_ranker **out, struct ek_error *e);
void ek_ranker_free(struct ek_ranker *r);
/* Rank n items by each of two scores into `order`. EK_ENOMEM. */
int ek_ranker_rank(struct ek_ranker *r, const double *first, const double *second, int n,
                   struct ek_error *e);

#endif
