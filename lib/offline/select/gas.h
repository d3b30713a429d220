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
#ifndef EK_CHOOSE_GAS_H
#define EK_CHOOSE_GAS_H

#include "base/error.h"
#include "offline/select/linkage.h"

#include <stdbool.h>

struct ek_gas {
    int features;            /* F */
    const double *relevance; /* [F] */
    const double *likeness;  /* [F, F] */
    const bool *candidate;   /* [F] or NULL */
};

#define EK_XGAS_SHARE 0.05

int ek_gas_candidates(const struct ek_gas *g);
/* chosen [k] in the order in which they are taken: k' < k gives the first k'. EK_EUSAGE unless
 * 1 <= k <= candidates, and 0 < p <= 1; EK_ENOMEM. */
int ek_xgas(const struct ek_gas *g, double p, int k, int *chosen, struct ek_error *e);
/* chosen [k], the most relevant first. merge [candidates - 1] and cluster_of [F] (-1 for those
 * that are no candidates) may be NULL; merges number the candidates from 0 in their order, and of
 * the cut. Errors likewise. */
int ek_hcas(const struct ek_gas *g, int k, int *chosen, struct ek_merge *merge, int *cluster_of,
            struct ek_error *e);

#endif
