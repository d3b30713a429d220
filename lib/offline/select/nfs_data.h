/* Lists as the re-ranker of feature selection reads them.
 *
 *   part   of a value x: z-score, CDF, signed ln(1 + |x|) (score/transform.h), each then brought to
 *          mean 0 and deviation 1 over the training items that have the value, cut at +-10; a
 *          missing value gives 0. There is no raw part: it is the z-score in another unit, and a
 *          gradient would carry that unit.
 *   query  signed ln(1 + |x|), standardised
 *
 * So a unit of any feature, whatever its mixture, is about a deviation of it, and gradients can be
 * compared. A list of more than EK_NFS_LIST_ITEMS_MAX items is dealt out to several of nearly equal
 * length, in turns, as attention needs memory by the square. Shapes: F features, M query features.
 * Owner: the caller, ek_nfs_data_release. Read-only after filling, may be shared by threads.
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
    bool *there;    /* [items, F]: a usable value */
};

/* The model gives the statistics of the transforms: of the kind EK_TRANSFORM_MIXTURE, fitted.
 * EK_ENOMEM. */
int ek_nfs_data_init(struct ek_nfs_data *d, const struct ek_model *m, const struct ek_dataset *from,
                     struct ek_error *e);
void ek_nfs_data_release(struct ek_nfs_data *d);
/* mean, scale [F, EK_NFS_PARTS] of the parts as they are; scale is 1 / sd, 0 where nothing varies.
 */
void ek_nfs_data_measure(const struct ek_nfs_data *d, double *mean, double *scale);
/* (part - mean) scale, cut. */
void ek_nfs_data_standardize(struct ek_nfs_data *d, const double *mean, const double *scale);
struct ek_nfs_list ek_nfs_data_list(const struct ek_nfs_data *d, size_t list);

#endif
