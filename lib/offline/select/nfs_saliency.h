/* Groups of features and how often each was seen: the attention of a re-ranker, counted.
 *
 * A map is |d score / d input| of one item per feature. Features that the item does not have, and
 * those that never vary (`live` is false), have none. Min-max over the live features; the group is
 * the set of those above the threshold. A map in which all are equal has no group; in the mean each
 * of its features counts 1, or 0 where the map is all 0 or no number.
 *
 * Shapes: F features; a group is a row of ek_nfs_words(F) words of 64 bits, feature f in bit f % 64
 * of word f / 64. Counts are exact, so the order of adding does not matter. Owner: the caller,
 * ek_nfs_groups_release. Threads: one each.
 */
#ifndef EK_OFFLINE_SELECT_NFS_SALIENCY_H
#define EK_OFFLINE_SELECT_NFS_SALIENCY_H

#include "offline/select/nfs_train.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_nfs_groups {
    size_t features, words, count, capacity;
    uint64_t *bits; /* [count, words] */
    uint64_t *seen; /* [count] */
    size_t *slot;   /* [2 capacity]: number of a group + 1, by its hash */
    uint64_t maps;  /* all that was seen */
};

/* gradient [F], there [F], live [F]. map [F] is written, bits [words] too. Whether there is a
 * group. */
bool ek_nfs_map(const float *gradient, const bool *there, const bool *live, size_t features,
                double threshold, double *map, uint64_t *bits);

/* EK_ENOMEM from all; the groups are as before then. */
int ek_nfs_groups_init(struct ek_nfs_groups *g, size_t features);
void ek_nfs_groups_release(struct ek_nfs_groups *g);
int ek_nfs_groups_add(struct ek_nfs_groups *g, const uint64_t *bits, uint64_t times);
int ek_nfs_groups_merge(struct ek_nfs_groups *g, const struct ek_nfs_groups *other);
bool ek_nfs_group_has(const struct ek_nfs_groups *g, size_t group, size_t feature);
size_t ek_nfs_group_size(const struct ek_nfs_groups *g, size_t group);

/* Where a trained re-ranker looks: saliency maps of many items, their mean and their groups.
 *
 * Lists of one item have no order and are left out. Of more than EK_NFS_MAPS_MAX items every so
 * many-th list is looked at. Owner: the caller, ek_nfs_saliency_release. Results do not depend on
 * the number of threads.
 */
enum { EK_NFS_MAPS_MAX = 200000 };

struct ek_nfs_saliency {
    struct ek_nfs_groups groups;
    double *saliency; /* [F] mean over the items */
    uint64_t items;
};

/* live [F]: the features that vary. EK_ENOMEM. */
int ek_nfs_saliency(struct ek_nfs_saliency *out, const struct ek_nfs_ranker *r,
                    const struct ek_nfs_data *d, const bool *live, const struct ek_nfs_options *o,
                    struct ek_error *e);
void ek_nfs_saliency_release(struct ek_nfs_saliency *l);

#endif
