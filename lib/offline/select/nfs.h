/* Neural feature selection (NFS; Purpura, Buchner, Silvello and Susto, ECIR 2021): what a trained
 * re-ranker with attention over the list looks at, grouped.
 *
 *   re-ranker   nfs_network.h: a mixture of transforms per feature, self-attention over the items,
 *               ApproxNDCG. Query features are read and take no part in the selection
 *   saliency    of an item: |d its score / d what the network reads of its feature|, then min-max
 *               over the features. Not by the raw value, whose unit would decide (nfs_data.h)
 *   group       of an item: the features whose saliency is above `threshold`
 *   kept        groups that random maps would show as often with a probability of at most `chance`
 *               (below)
 *   similarity  s(i, j) = weight of the kept groups with i and j / weight of those with i; the
 *               weight of a group is the number of its items
 *   choice      single linkage over 1 - the mean of s(i, j) and s(j, i), cut at k clusters; of each
 *               the feature that is in most groups
 *
 * A feature that orders all items as another one does (below) is set aside before training
 * and has the results of that one; it is chosen after all that are no copies. So is, last of all, a
 * feature that never varies. Features in no kept group come after those that are in one, by their
 * mean saliency.
 * Shapes: F item features. Missing values are as 0 after the transform and never salient. Lists of
 * one item, and for training those without a positive label, are passed over. Deterministic by
 * seed, whatever the number of threads. Owner: the caller, ek_nfs_release.
 */
#ifndef EK_OFFLINE_SELECT_NFS_H
#define EK_OFFLINE_SELECT_NFS_H

#include "lists/dataset.h"
#include "schema/manifest.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_nfs_options {
    double threshold, chance; /* above 0; below 1, at most 1 */
    int epochs, batch_lists;
    int patience; /* stops after that many epochs without a better one; 0: never */
    double learning_rate;
    uint64_t seed;
    /* After every epoch, from 1; non-zero stops training with what was best so far, which is then
     * looked at. May be NULL. */
    int (*progress)(void *context, int epoch, int epochs, double vali_ndcg10);
    /* As in train/training.h; NULL: one after the other. */
    void (*run)(void *context, void (*task)(void *arg, int i), void *arg, int count);
    void *context;
};

struct ek_nfs {
    int features;        /* F */
    double vali_ndcg10;  /* of the re-ranker */
    double *saliency;    /* [F] mean over all items, after min-max */
    double *frequency;   /* [F] weight of the kept groups that it is in */
    double *similarity;  /* [F, F]; rows of features in no kept group are 0 */
    int *copy_of;        /* [F] the feature that it is a copy of, -1: none */
    bool *constant;      /* [F] never varies, or is never there */
    size_t groups, kept; /* different ones */
};

/* Threshold .95, chance .02, 20 epochs of batches of 64 lists, learning rate 1e-3, no patience. */
void ek_nfs_defaults(struct ek_nfs_options *o);
/* Trains on `train`, keeps the best epoch by `vali`, looks at the items of `train`. EK_EUSAGE for
 * options out of range and when no list can be learned from or judged by, EK_ESTATE for data of
 * other features and when the loss stops being a number, EK_ENOMEM. */
int ek_nfs_run(struct ek_nfs *out, const struct ek_manifest *m, const struct ek_dataset *train,
               const struct ek_dataset *vali, const struct ek_nfs_options *o, struct ek_error *e);
/* k features of F, 1 <= k <= F, the most frequent first. Clusters of features that share no group
 * are never merged: of more than k such clusters the most frequent features stay. EK_ENOMEM. */
int ek_nfs_choose(const struct ek_nfs *n, int k, int *chosen, struct ek_error *e);
void ek_nfs_release(struct ek_nfs *n);

/* Features that put all items of a data set in the same order: copies, in whatever unit.
 *
 * Two features are copies when every item has both or neither, and the items that have them stand
 * in the same order by both, or in the opposite one, ties included: x, 100 x, ln x and -x. A
 * network shares what it learns among copies, and each seems to matter less than it does; so only
 * the first of them is looked at. Copies but for noise are not found here. NaN and infinities are
 * missing. A feature with fewer than two different values is no copy. Compared by hashes of 64
 * bits. Threads: no state.
 */
/* copy_of [F]: the first feature that f is a copy of, -1 for none. EK_ENOMEM. */
int ek_nfs_duplicates(const struct ek_dataset *d, int *copy_of, struct ek_error *e);

/* What chance alone makes of groups of features; the null model of nfs.h.
 *
 * A random map: the saliencies of F features are independent and of one continuous law, say
 * uniform, and min-max normalised. The highest is 1 and the lowest 0, the other F - 2 are then
 * independent and uniform on [0, 1]. So the number of features above a threshold t is 1 + a
 * binomial of F - 2 and 1 - t, every set of that size is as likely as any other, and a set of g is
 * the group with probability
 *
 *   p(g) = C(F - 2, g - 1) (1 - t)^(g - 1) t^(F - 1 - g) / C(F, g),   1 <= g < F
 *
 * Among n random maps that set is the group a binomial number of times, of n and p(g). A set that
 * was seen c times is one of C(F, g) that might have been; large F has so many that some large set
 * is always seen once. Hence the expected number of sets of that size that are seen as often:
 *
 *   C(F, g) P(Binomial(n, p(g)) >= c)
 *
 * which is at least the probability that chance shows any of them so often. Threads: no state.
 */
/* p(g) as a logarithm; -INFINITY for g < 1 and g >= F. 0 < threshold < 1. */
double ek_nfs_ln_probability(uint64_t features, uint64_t size, double threshold);
/* ln P(Binomial(n, p) >= c), to about 1e-10 relative. */
double ek_ln_binomial_tail(uint64_t n, double ln_p, uint64_t c);
/* The expected number above, at most 1e300. */
double ek_nfs_null_model(uint64_t features, uint64_t size, double threshold, uint64_t maps,
                         uint64_t seen);

#endif
