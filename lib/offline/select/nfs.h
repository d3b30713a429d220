/* Neural feature selection (NFS; Purpura, Buchner, Silvello and Susto, ECIR 2021): what a trained
 * re-ranker with attention over the list looks at, grouped.
 *
 *   re-ranker   nfs_network.h: a mixture of transforms per feature, self-attention over the items,
 *               ApproxNDCG. Query features are read and take no part in the selection
 *   saliency    of an item: |d its score / d what the network reads of its feature|, then min-max
 *               over the features. Not by the raw value, whose unit would decide (nfs_data.h)
 *   group       of an item: the features whose saliency is above `threshold`
 *   kept        groups that random maps would show as often with a probability of at most `chance`
 *               (nfs_chance.h)
 *   similarity  s(i, j) = weight of the kept groups with i and j / weight of those with i; the
 *               weight of a group is the number of its items
 *   choice      single linkage over 1 - the mean of s(i, j) and s(j, i), cut at k clusters; of each
 *               the feature that is in most groups
 *
 * A feature that orders all items as another one does (nfs_copies.h) is set aside before training
 * and has the results of that one; it is chosen after all that are no copies. So is, last of all, a
 * feature that never varies. Features in no kept group come after those that are in one, by their
 * mean saliency.
 * Shapes: F item features. Missing values are as 0 after the transform and never salient. Lists of
 * one item, and for training those without a positive label, are passed over. Deterministic by
 * seed, whatever the number of threads. Owner: the caller, ek_nfs_release.
 */
#ifndef EK_CHOOSE_NFS_H
#define EK_CHOOSE_NFS_H

#include "lists/dataset.h"
#include "schema/manifest.h"

#include <stdbool.h>

struct ek_nfs_options {
    double threshold, chance; /* above 0; below 1, at most 1 */
    int epochs, batch_lists;
    int patience; /* stops after that many epochs without a better one; 0: never */
    double learning_rate;
    uint64_t seed;
    /* After every epoch, from 1; non-zero stops training with what was best so far, which is then
     * looked at. May be NULL. */
    int (*progress)(void *context, int epoch, int epochs, double vali_ndcg10);
    /* As in offline/train.h; NULL: one after the other. */
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

#endif
