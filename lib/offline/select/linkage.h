/* Single linkage: things are merged, the two nearest clusters first, where the distance of two
 * clusters is that of their two nearest members (Gower and Ross 1969: the minimum spanning tree,
 * its edges in rising order).
 *
 * Shapes: n things, n - 1 merges. Things are 0 .. n-1, the cluster that merge i makes is n + i, as
 * in SciPy's linkage. Of equal distances that of the lower pair of things comes first, so the same
 * distances give the same tree. A distance of NaN counts as infinite.
 * Owner: all arrays are the caller's. Threads: no state.
 */
#ifndef EK_CHOOSE_LINKAGE_H
#define EK_CHOOSE_LINKAGE_H

#include "base/error.h"

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

#endif
