/* Greedy feature selection XGAS and HCAS, and the single-linkage clustering of HCAS. */
#ifndef EK_OFFLINE_SELECT_GREEDY_SELECT_H
#define EK_OFFLINE_SELECT_GREEDY_SELECT_H

#include "base/error.h"

#include <stdbool.h>

/* Single-linkage clustering by the minimum spanning tree (Gower and Ross 1969).
 *
 * The distance of two clusters is that of their two nearest members; the nearest clusters merge
 * first. n elements give n - 1 merges. Elements are 0 .. n-1, and merge i creates cluster n + i, as
 * in SciPy's linkage. Equal distances are ordered by the lower pair of elements, so equal input
 * gives equal trees. A NaN distance counts as infinite.
 */
struct ek_merge {
    int a, b; /* clusters, a < b */
    double distance;
    int size; /* elements in the new cluster */
};

/* Write the merges of a single-linkage clustering to merge [n - 1], nearest first; distance [n, n]
 * must be symmetric. Return 0 or EK_ENOMEM. */
int ek_single_linkage(const double *distance, int n, struct ek_merge *merge, struct ek_error *e);
/* Apply the first n - clusters merges, 1 <= clusters <= n: set cluster_of [n] to numbers 0 ..
 * clusters-1, in the order of the lowest element of each cluster. Return 0 or EK_ENOMEM. */
int ek_linkage_cut(const struct ek_merge *merge, int n, int clusters, int *cluster_of,
                   struct ek_error *e);

/* Greedy feature selection (Gigli, Lucchese, Nardini and Perego, ICTIR 2016).
 *
 *   XGAS   starts with the most relevant feature; then selects the most relevant among the
 *          fraction `p` of remaining features that are least similar to the last one
 *   HCAS   single linkage on 1 - similarity, cut at k clusters; selects the most relevant
 *          feature of each
 *
 * The paper leaves two points open: here p applies to the remaining features, rounded up, and ties
 * take the lower number. XGAS compares with the last feature only, so it may select a duplicate of
 * an earlier one.
 */
struct ek_greedy_select {
    int features;            /* F */
    const double *relevance; /* [F], NaN ranks lowest */
    const double *likeness;  /* [F, F], similarity, symmetric, 0 .. 1 */
    const bool *candidate;   /* [F], only candidates are selected; NULL: all */
};

#define EK_XGAS_SHARE 0.05

/* Return the number of features that may be selected. */
int ek_greedy_candidates(const struct ek_greedy_select *g);
/* Select k features with XGAS: write chosen [k] in order of selection; a smaller k gives a prefix.
 * Return 0, EK_ENOMEM, or EK_EUSAGE unless 1 <= k <= candidates and 0 < p <= 1. */
int ek_xgas(const struct ek_greedy_select *g, double p, int k, int *chosen, struct ek_error *e);
/* Select k features with HCAS: write chosen [k], the most relevant first. merge [candidates - 1]
 * and cluster_of [F] (-1 for other features) may be NULL. Merges number the candidates from 0 in
 * ascending order. Return 0, EK_ENOMEM, or EK_EUSAGE unless 1 <= k <= candidates. */
int ek_hcas(const struct ek_greedy_select *g, int k, int *chosen, struct ek_merge *merge,
            int *cluster_of, struct ek_error *e);

#endif
