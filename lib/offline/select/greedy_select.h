/* Single linkage: things are merged, the two nearest clusters first, where the distance of two
 * clusters is that of their two nearest members (Gower and Ross 1969: the minimum spanning tree,
 * its edges in rising order).
 *
 * Shapes: n things, n - 1 merges. Things are 0 .. n-1, the cluster that merge i makes is n + i, as
 * in SciPy's linkage. Of equal distances that of the lower pair of things comes first, so the same
 * distances give the same tree. A distance of NaN counts as infinite.
 * Owner: all arrays are the caller's. Threads: no state.
 */
#ifndef EK_OFFLINE_SELECT_GREEDY_SELECT_H
#define EK_OFFLINE_SELECT_GREEDY_SELECT_H

#include "base/error.h"

#include <stdbool.h>

struct ek_merge {
    int a, b; /* clusters, a < b */
    double distance;
    int size; /* things in the new cluster */
};

/* distance [n, n], symmetric; merge [n - 1] is written. EK_ENOMEM. */
int ek_single_linkage(const double *distance, int n, struct ek_merge *merge, struct ek_error *e);
/* The first n - clusters merges done, 1 <= clusters <= n: cluster_of [n] gets numbers 0 ..
 * clusters-1, in the order of the clusters' lowest things. EK_ENOMEM. */
int ek_linkage_cut(const struct ek_merge *merge, int n, int clusters, int *cluster_of,
                   struct ek_error *e);

/* Greedy choices of features (Gigli, Lucchese, Nardini and Perego, ICTIR 2016).
 *
 *   XGAS   the most relevant first; then again and again, of the share `p` of those left that are
 *          least like the last one, the most relevant
 *   HCAS   single linkage on 1 - likeness, cut at k clusters; of each the most relevant
 *
 * What the paper leaves open: p is of the features that are left, rounded up, and of equals the
 * lower number counts. XGAS looks at the last one only, so it may take a copy of an earlier one.
 * Shapes: F features; relevance [F], NaN counts as the lowest; likeness [F, F], symmetric, 0 .. 1.
 * candidate [F]: those that are not are never chosen; NULL: all are. Owner: all arrays are the
 * caller's. Threads: no state.
 */
struct ek_greedy_select {
    int features;            /* F */
    const double *relevance; /* [F] */
    const double *likeness;  /* [F, F] */
    const bool *candidate;   /* [F] or NULL */
};

#define EK_XGAS_SHARE 0.05

int ek_greedy_candidates(const struct ek_greedy_select *g);
/* chosen [k] in the order in which they are taken: k' < k gives the first k'. EK_EUSAGE unless
 * 1 <= k <= candidates, and 0 < p <= 1; EK_ENOMEM. */
int ek_xgas(const struct ek_greedy_select *g, double p, int k, int *chosen, struct ek_error *e);
/* chosen [k], the most relevant first. merge [candidates - 1] and cluster_of [F] (-1 for those
 * that are no candidates) may be NULL; merges number the candidates from 0 in their order, and of
 * the cut. Errors likewise. */
int ek_hcas(const struct ek_greedy_select *g, int k, int *chosen, struct ek_merge *merge,
            int *cluster_of, struct ek_error *e);

#endif
