/* Training of the feature-selection re-ranker with ApproxNDCG (Qin, Liu and Li 2010).
 *
 * The optimizer is AdamW with warm-up and cosine decay. Validation uses the running average of the
 * weights (training.h). The epoch with the best NDCG@10 on the validation lists is kept, the
 * earlier of equals. Lists without a positive label have no gradient and are skipped. A batch
 * always has EK_NFS_SHARDS shards and sums have a fixed order. Results therefore depend on the seed
 * but not on the number of threads.
 */
#ifndef EK_OFFLINE_SELECT_NFS_TRAIN_H
#define EK_OFFLINE_SELECT_NFS_TRAIN_H

#include "assets/model.h"
#include "lists/dataset.h"
#include "offline/select/nfs.h"
#include "offline/select/nfs_network.h"

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

enum { EK_NFS_SHARDS = 8, EK_NFS_PASS_ROWS = 256 };

struct ek_nfs_ranker {
    struct ek_nfs_network network;
    float *parameter, *turned;
    double vali_ndcg10;
    size_t rows_max; /* rows of a pass for the longest list of the data */
};

/* Train a re-ranker and set *out, which ek_nfs_ranker_release frees. Return 0, EK_ENOMEM, or
 * EK_ESTATE if the loss is not finite. */
int ek_nfs_train(struct ek_nfs_ranker *out, const struct ek_nfs_data *train,
                 const struct ek_nfs_data *vali, const struct ek_nfs_options *o,
                 struct ek_error *e);
void ek_nfs_ranker_release(struct ek_nfs_ranker *r);
/* Run the tasks 0 .. EK_NFS_SHARDS - 1 with the `run` callback, or sequentially. */
void ek_nfs_run_tasks(const struct ek_nfs_options *o, void (*task)(void *arg, int i), void *arg);

#endif
