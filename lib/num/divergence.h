/* Divergence of a sketch from a reference sketch: PSI, Jensen-Shannon, Hellinger, KS and
 * Wasserstein.
 *
 * Bins come from the reference: one for missing values, one for zeros, and about EK_BINS of equal
 * mass for the rest, in order of value. A key that has the mass of a whole bin gets its own bin. No
 * bin contains both signs; the outermost bins extend to infinity. Bins of equal mass resolve a
 * heavy tail, so a factor of 100 moves all values to other bins. Bins of equal width would keep
 * nearly all values in the first bin.
 *
 * The functions neither fail nor allocate. A statistic is NaN if one side has no values for it.
 */
#ifndef EK_NUM_DIVERGENCE_H
#define EK_NUM_DIVERGENCE_H

#include "num/sketch.h"

enum {
    EK_BINS = 20,
    EK_BINS_MAX =
        4 + 2 * EK_BINS, /* missing, zero, both signs; a remainder before each heavy key */
};

/* Smallest fraction that psi uses for a bin. */
#define EK_PSI_FLOOR 1e-4

struct ek_bins {
    int count;                 /* [0] missing, [1] zero, then values in ascending order */
    int last[EK_BINS_MAX];     /* last place of a value bin (num/sketch_stats.h) */
    double share[EK_BINS_MAX]; /* fraction of the reference; the sum is 1 */
    uint64_t total;            /* items of the reference, missing ones included */
};

/* Set the bins from a reference sketch, which is not kept. An empty reference gives `total` 0. */
void ek_bins_fill(struct ek_bins *b, const struct ek_sketch *reference);

struct ek_divergence {
    /* Population stability index in nats, sum (q - p) ln(q / p) over the bins (Siddiqi 2006, Credit
     * Risk Scorecards). An empty bin counts as half an item and any fraction as at least
     * EK_PSI_FLOOR. An empty bin with an expected fraction below these adds 0. */
    double psi;
    /* Expected psi without a change, for independent items: (B - 1) (1/N + 1/M) for B nonempty bins
     * of the reference (Yurdakul 2018, Statistical Properties of the Population Stability Index).
     * Items of one list are correlated, so psi is larger in practice. */
    double psi_expected;
    /* Jensen-Shannon distance over the bins: the root of the divergence in bits, as
     * scipy.spatial.distance.jensenshannon with base 2. Hellinger distance: sqrt(1 - sum sqrt(p
     * q)). Both are in [0, 1]. */
    double jensenshannon, hellinger;
    /* Kolmogorov-Smirnov statistic over the present values, at the resolution of a key; in [0, 1].
     */
    double ks;
    /* Wasserstein-1 (earth mover's) distance, as scipy.stats.wasserstein_distance: over finite
     * values in their unit, and over ln|x| of finite nonzero values. In logarithms, a factor c
     * gives |ln c| in any unit. */
    double wasserstein, wasserstein_ln;
};

/* Set *out to all statistics of `s` against `reference`, from which `b` was filled. */
void ek_divergence_compute(const struct ek_bins *b, const struct ek_sketch *reference,
                           const struct ek_sketch *s, struct ek_divergence *out);

#endif
