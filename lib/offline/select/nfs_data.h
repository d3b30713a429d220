/* Lists as input of the feature-selection re-ranker.
 *
 *   part   z-score, CDF and signed ln(1 + |x|) of a value x (transform.h), each standardized
 *          over the training items that have the value and clamped to +-10. A missing value
 *          is 0. A raw part is omitted: it would be the z-score in another unit, and gradients
 *          would depend on that unit
 *   query  signed ln(1 + |x|), standardized
 *
 * One unit of any feature is therefore about one deviation, and gradients are comparable. A list of
 * more than EK_NFS_LIST_ITEMS_MAX items is split round-robin into lists of nearly equal length,
 * because attention needs quadratic memory. F features, M query features. Read-only after filling,
 * so threads may share it.
 */
#ifndef EK_OFFLINE_SELECT_NFS_DATA_H
#define EK_OFFLINE_SELECT_NFS_DATA_H

#include "offline/select/nfs_network.h"
#include "lists/dataset.h"
#include "assets/model.h"

enum { EK_NFS_LIST_ITEMS_MAX = 1024 };

struct ek_nfs_data {
    size_t lists, items, features, queries, longest;
    size_t *offset; /* [lists + 1] */
    float *part;    /* [items, F, EK_NFS_PARTS] */
    float *query;   /* [lists, M] */
    float *label;   /* [items] */
    bool *there;    /* [items, F], usable value */
};

/* Set *d to copies of the lists of `from`, with the transform statistics of a fitted
 * EK_TRANSFORM_MIXTURE model; release it with ek_nfs_data_release. Return 0, or EK_ENOMEM with
 * nothing to release. */
int ek_nfs_data_init(struct ek_nfs_data *d, const struct ek_model *m, const struct ek_dataset *from,
                     struct ek_error *e);
void ek_nfs_data_release(struct ek_nfs_data *d);
/* Set mean and scale [F, EK_NFS_PARTS] to the mean of each part and to 1 / sd, or 0 for constant
 * parts. */
void ek_nfs_data_measure(const struct ek_nfs_data *d, double *mean, double *scale);
/* Replace each part by (part - mean) * scale, clamped. */
void ek_nfs_data_standardize(struct ek_nfs_data *d, const double *mean, const double *scale);
/* Return a view of a list, valid as long as the data. */
struct ek_nfs_list ek_nfs_data_list(const struct ek_nfs_data *d, size_t list);

#endif
