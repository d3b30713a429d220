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
#ifndef EK_CHOOSE_NFS_GROUPS_H
#define EK_CHOOSE_NFS_GROUPS_H

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

size_t ek_nfs_words(size_t features);
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

#endif
