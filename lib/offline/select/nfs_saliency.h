/* Saliency of features in a trained re-ranker, and counts of salient feature groups. */
#ifndef EK_OFFLINE_SELECT_NFS_SALIENCY_H
#define EK_OFFLINE_SELECT_NFS_SALIENCY_H

#include "offline/select/nfs_train.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts of salient feature groups.
 *
 * A map is |d score / d input| of one item per feature, min-max normalized over the live features.
 * Missing features of the item and features that are not live have no saliency. The group of a map
 * is the set of features above the threshold. A map of equal values has no group; its features
 * count 1 in the mean, or 0 if the map is all 0 or not finite.
 *
 * F features; a group is a row of ek_nfs_words(F) 64-bit words, feature f in bit f % 64 of word f /
 * 64. Counts are exact, so the order of additions has no effect. One thread at a time.
 */
struct ek_nfs_groups {
    size_t features, words, count, capacity;
    uint64_t *bits; /* [count, words] */
    uint64_t *seen; /* [count] */
    size_t *slot;   /* [2 capacity], group number + 1, by hash */
    uint64_t maps;  /* sum of the counts */
};

/* Compute the saliency map [F] of an item and the group of its features above `threshold`, bits
 * [words], from gradient, there and live [F]. Return true if the group is not empty. */
bool ek_nfs_map(const float *gradient, const bool *there, const bool *live, size_t features,
                double threshold, double *map, uint64_t *bits);

/* Set *g to an empty set of groups, without allocating. Return 0. */
int ek_nfs_groups_init(struct ek_nfs_groups *g, size_t features);
void ek_nfs_groups_release(struct ek_nfs_groups *g);
/* Add `times` to the count of a group. Return 0, or EK_ENOMEM without a change. */
int ek_nfs_groups_add(struct ek_nfs_groups *g, const uint64_t *bits, uint64_t times);
/* Add the counts of other groups. Return 0, or EK_ENOMEM; a part is then added. */
int ek_nfs_groups_merge(struct ek_nfs_groups *g, const struct ek_nfs_groups *other);
/* Return whether group number `group` has a feature. */
bool ek_nfs_group_has(const struct ek_nfs_groups *g, size_t group, size_t feature);
/* Return the number of features of a group. */
size_t ek_nfs_group_size(const struct ek_nfs_groups *g, size_t group);

/* Saliency of a trained re-ranker over many items: the mean map and the groups.
 *
 * Lists of one item have no order and are skipped. Beyond EK_NFS_MAPS_MAX items, lists are sampled
 * at a fixed stride. Results do not depend on the number of threads.
 */
enum { EK_NFS_MAPS_MAX = 200000 };

struct ek_nfs_saliency {
    struct ek_nfs_groups groups;
    double *saliency; /* [F], mean over the items */
    uint64_t items;
};

/* Set *out to the saliency of the features in live [F]; release it with ek_nfs_saliency_release.
 * Return 0, or EK_ENOMEM. */
int ek_nfs_saliency(struct ek_nfs_saliency *out, const struct ek_nfs_ranker *r,
                    const struct ek_nfs_data *d, const bool *live, const struct ek_nfs_options *o,
                    struct ek_error *e);
void ek_nfs_saliency_release(struct ek_nfs_saliency *l);

#endif
