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

#include "offline/select/nfs.h"
#include "offline/select/nfs_data.h"

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
