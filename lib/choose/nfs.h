/* Neural feature selection (NFS; Purpura, Buchner, Silvello and Susto, ECIR 2021): what a trained
 * re-ranker with attention over the list looks at, grouped.
 *
 *   saliency    of an item: |d score / d input| per feature, then min-max over its features
 *   group       of an item: the features whose saliency is above `threshold`
 *   kept        groups seen more often than by chance: not more than `chance` by a binomial tail
 *   similarity  s(i, j) = weight of the kept groups with i and j / weight of those with i
 *   choice      single linkage over 1 - similarity (made symmetric), cut at k clusters; of each the
 *               feature that is in most groups
 *
 * Shapes: F item features. Missing values are as 0 after the transform. Deterministic by seed,
 * whatever the number of threads. Owner: the caller, ek_nfs_release.
 */
#ifndef EK_CHOOSE_NFS_H
#define EK_CHOOSE_NFS_H

#include "data/dataset.h"
#include "data/manifest.h"

struct ek_nfs_options {
    double threshold, chance;
    int epochs, batch_lists, patience;
    double learning_rate;
    uint64_t seed;
    /* As in offline/train.h: non-zero stops; epoch from 1. May be NULL. */
    int (*progress)(void *context, int epoch, int epochs, double vali_ndcg10);
    void (*run)(void *context, void (*task)(void *arg, int i), void *arg, int count);
    void *context;
};

struct ek_nfs {
    int features;        /* F */
    double vali_ndcg10;  /* of the re-ranker */
    double *saliency;    /* [F] mean over all items, after min-max */
    double *frequency;   /* [F] weight of the kept groups that it is in */
    double *similarity;  /* [F, F] */
    size_t groups, kept; /* different ones */
};

void ek_nfs_defaults(struct ek_nfs_options *o);
/* Trains on `train`, keeps the best epoch by `vali`, looks at the items of `train`. EK_EUSAGE when
 * no list can be learned from, EK_ENOMEM, EK_ESTATE when the loss stops being a number. */
int ek_nfs_run(struct ek_nfs *out, const struct ek_manifest *m, const struct ek_dataset *train,
               const struct ek_dataset *vali, const struct ek_nfs_options *o, struct ek_error *e);
/* k features of F, 1 <= k <= F, the most frequent first. EK_ENOMEM. */
int ek_nfs_choose(const struct ek_nfs *n, int k, int *chosen, struct ek_error *e);
void ek_nfs_release(struct ek_nfs *n);

#endif
