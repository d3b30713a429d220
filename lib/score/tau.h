/* Kendall's tau-b of two score vectors (Kendall 1945), and rankings of a list for comparisons. Tau
 * is computed in n log n steps by merge sort (Knight 1966): concordant minus discordant pairs, over
 * sqrt(pairs untied in one x untied in the other). NaN counts as the lowest score. Thread-safe. */
#ifndef EK_SCORE_TAU_H
#define EK_SCORE_TAU_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Return whether scores define an order: two or more, all finite, and not all equal. */
bool ek_scores_have_order(const double *score, int n);
/* Return the end (exclusive) of the tie that begins at rank `from` of order [n], which sorts by
 * `score`. */
int ek_tie_end(const double *score, const int *order, int from, int n);
/* Return tau-b, -1 .. 1, or 0 if either score has no order. order: ek_rank of `b`. row, merged [n]:
 * scratch. */
double ek_tau_b(const double *a, const double *b, const int *order, int n, double *row,
                double *merged);

/* Two rankings of a list, best first, and scratch memory to compare them, which only grows. */
struct ek_ranker {
    size_t capacity;
    int *order[2];
    int *place;           /* rank of each item */
    double *worth[2];     /* gain and discount of each item */
    double *row, *merged; /* scratch of ek_tau_b */
};

/* Create a ranker without memory for items. Return 0 or EK_ENOMEM. */
int ek_ranker_new(struct ek_ranker **out, struct ek_error *e);
void ek_ranker_free(struct ek_ranker *r);
/* Set r->order[0] and r->order[1] to the rankings of n items by two scores, valid until the next
 * call. Return 0 or EK_ENOMEM. */
int ek_ranker_rank(struct ek_ranker *r, const double *first, const double *second, int n,
                   struct ek_error *e);

#endif
