/* Neural feature selection (NFS; Purpura, Buchner, Silvello and Susto, ECIR 2021) by groups of
 * features that a trained attention re-ranker uses together; duplicate features, and the null model
 * of groups.
 *
 *   re-ranker   nfs_network.h: a mixture of transforms per feature, self-attention over the
 *               items, ApproxNDCG. Query features are inputs but are not selected
 *   saliency    |d score of an item / d network input of its feature|, then min-max over the
 *               features. Raw values would make it depend on the unit (nfs_train.h)
 *   group       features of an item with a saliency above `threshold`
 *   kept        groups that random maps would give as often with a probability of at most
 *               `chance` (below)
 *   similarity  s(i, j) = weight of the kept groups with i and j / weight of those with i; the
 *               weight of a group is its number of items
 *   selection   single linkage over 1 - the mean of s(i, j) and s(j, i), cut at k clusters; the
 *               most frequent feature of each
 *
 * A copy, a feature with the item order of another one (below), is excluded from training. It
 * receives the results of its original and is selected after all features that are no copies.
 * Constant features are selected last. Features without a kept group follow those with one, by mean
 * saliency.
 *
 * F is the number of item features. Missing values are 0 after the transform and never salient.
 * Lists of one item are skipped, and training skips lists without a positive label. Results depend
 * on the seed but not on the number of threads.
 */
#ifndef EK_OFFLINE_SELECT_NFS_H
#define EK_OFFLINE_SELECT_NFS_H

#include "lists/dataset.h"
#include "schema/manifest.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_nfs_options {
    double threshold, chance; /* in (0, 1); in (0, 1] */
    int epochs, batch_lists;
    int patience; /* stop after this many epochs without improvement; 0: never */
    double learning_rate;
    uint64_t seed;
    /* Called after every epoch, from 1. Nonzero stops training and continues with the best epoch so
     * far. May be NULL. */
    int (*progress)(void *context, int epoch, int epochs, double vali_ndcg10);
    /* as in training.h; NULL: sequentially */
    void (*run)(void *context, void (*task)(void *arg, int i), void *arg, int count);
    void *context;
};

struct ek_nfs {
    int features;        /* F */
    double vali_ndcg10;  /* of the re-ranker */
    double *saliency;    /* [F], mean over all items, after min-max */
    double *frequency;   /* [F], weight of the kept groups with the feature */
    double *similarity;  /* [F, F], rows of features without a kept group are 0 */
    int *copy_of;        /* [F], original of a copy, else -1 */
    bool *constant;      /* [F], constant or always missing */
    size_t groups, kept; /* number of distinct groups */
};

/* Set all members of *o: threshold .95, chance .02, 15 epochs of batches of 64 lists, learning rate
 * 1e-3, and 0 for the others: no patience, seed 0, no progress and no threads. */
void ek_nfs_defaults(struct ek_nfs_options *o);
/* Train on `train`, keep the best epoch by `vali`, measure saliency on `train`, and set *out, which
 * ek_nfs_release frees. Return 0, EK_ENOMEM, EK_EUSAGE for options out of range or without a usable
 * list, or EK_ESTATE for data with other features or a loss that is not finite. */
int ek_nfs_run(struct ek_nfs *out, const struct ek_manifest *m, const struct ek_dataset *train,
               const struct ek_dataset *vali, const struct ek_nfs_options *o, struct ek_error *e);
/* Write chosen [k], 1 <= k <= F, the most frequent first. Features without a common group are never
 * merged; if this leaves more than k clusters, the most frequent features are selected. Return 0,
 * or EK_ENOMEM. */
int ek_nfs_choose(const struct ek_nfs *n, int k, int *chosen, struct ek_error *e);
void ek_nfs_release(struct ek_nfs *n);

/* Duplicate features: features that order all items of a dataset in the same way, in any unit.
 *
 * Two features are copies if every item has both or neither and the items have the same or the
 * reverse order by both, ties included: x, 100 x, ln x and -x. A network distributes weight over
 * copies, so each appears less important; only the first is kept. Copies with noise are not
 * detected. NaN and infinities are missing. A feature with fewer than two distinct values is no
 * copy. Orders are compared by 64-bit hashes.
 */
/* Write copy_of [F]: the first feature of which f is a copy, or -1. Return 0, or EK_ENOMEM. */
int ek_nfs_duplicates(const struct ek_dataset *d, int *copy_of, struct ek_error *e);

/* Null model of feature groups.
 *
 * In a random map, the saliencies of F features are independent with one continuous distribution,
 * for example uniform, then min-max normalized. The highest is 1 and the lowest 0; the other F - 2
 * are then independent and uniform on [0, 1]. So the number of features above a threshold t is 1
 * plus a binomial of F - 2 and 1 - t. All sets of a size are equally likely, and a set of size g is
 * the group with probability
 *
 *   p(g) = C(F - 2, g - 1) (1 - t)^(g - 1) t^(F - 1 - g) / C(F, g),   1 <= g < F
 *
 * Among n random maps, the count of one set is binomial with n and p(g). C(F, g) sets of size g are
 * possible; for a large F some large set always occurs once. The expected number of sets of this
 * size with a count of at least c is therefore
 *
 *   C(F, g) P(Binomial(n, p(g)) >= c)
 *
 * It is an upper bound of the probability that any such set occurs by chance.
 */
/* Return ln p(g), the probability that a random map gives a group of `size` features, or -INFINITY
 * for size < 1 and size >= features. 0 < threshold < 1. */
double ek_nfs_ln_probability(uint64_t features, uint64_t size, double threshold);
/* Return ln P(Binomial(n, p) >= c), with a relative error of about 1e-10. */
double ek_ln_binomial_tail(uint64_t n, double ln_p, uint64_t c);
/* Return the expected number of groups of `size` features that random maps give at least `seen`
 * times, at most 1e300. */
double ek_nfs_null_model(uint64_t features, uint64_t size, double threshold, uint64_t maps,
                         uint64_t seen);

#endif
