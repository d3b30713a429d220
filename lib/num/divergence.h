/* How far a sketch is from a reference sketch, in the figures people know.
 *
 * The bins are those of the reference: one for missing values, one for zeros, and for the rest
 * about EK_BINS of equal mass in the order of the values. A key that alone has the mass of a bin is
 * a bin of its own; no bin has values of both signs; the outermost ones reach to infinity. So a
 * heavy tail is resolved where its values are, and x100 moves them all, where bins of equal width
 * have nearly all values in the first, before and after.
 * Units: psi in nats; the others as said. Owner: the caller. Read-only inputs. No failure, no
 * allocation: a figure is NaN where one side has no values for it.
 */
#ifndef EK_NUM_DIVERGENCE_H
#define EK_NUM_DIVERGENCE_H

#include "num/sketch.h"

enum {
    EK_BINS = 20,
    EK_BINS_MAX = 4 + 2 * EK_BINS, /* missing, zero, both signs; a rest before each heavy key */
};

/* The least share that psi takes a bin to have. */
#define EK_PSI_FLOOR 1e-4

struct ek_bins {
    int count;                 /* [0] missing, [1] zero, from [2] rising values */
    int last[EK_BINS_MAX];     /* of a bin of values: the last place (num/sketch_walk.h) */
    double share[EK_BINS_MAX]; /* of the reference; they sum to 1 */
    uint64_t total;            /* of the reference, missing values included */
};

void ek_bins_fill(struct ek_bins *b, const struct ek_sketch *reference);

struct ek_divergence {
    /* Population stability index, sum (q - p) ln(q / p) over the bins (Siddiqi 2006, Credit Risk
     * Scorecards). An empty bin counts as half an item, no share as less than EK_PSI_FLOOR, and an
     * empty bin of which less than that was expected adds nothing. */
    double psi;
    /* What psi is on average when nothing changed and items are independent:
     * (B - 1) (1/N + 1/M) for the B bins that the reference has (Yurdakul 2018, Statistical
     * Properties of the Population Stability Index). Items of one list resemble each other, so that
     * in practice it is more. */
    double psi_expected;
    /* Over the bins: Jensen-Shannon distance, the root of the divergence in bits (as
     * scipy.spatial.distance.jensenshannon with base 2), and Hellinger distance,
     * sqrt(1 - sum sqrt(p q)). Both 0 .. 1. */
    double jensenshannon, hellinger;
    /* Kolmogorov-Smirnov: the largest distance of the two distribution functions of the values
     * that are there, to the key; 0 .. 1. */
    double ks;
    /* Wasserstein-1 (earth mover's) distance: the area between the distribution functions, as
     * scipy.stats.wasserstein_distance. Of the finite values in their own unit, and of ln|x| over
     * finite non-zero values: there a factor c gives |ln c| whatever the unit. */
    double wasserstein, wasserstein_ln;
};

void ek_divergence_compute(const struct ek_bins *b, const struct ek_sketch *reference,
                           const struct ek_sketch *s, struct ek_divergence *out);

#endif
