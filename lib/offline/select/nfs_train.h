/* Training of the re-ranker of feature selection, by ApproxNDCG (Qin, Liu and Li 2010).
 *
 * AdamW with warm-up and a cosine; what is validated and kept is the mean of the weights so far
 * (train/training.h), of the epoch with the best NDCG@10 on the validation lists, of equals the
 * earlier. Lists without a positive label teach nothing and are left out. Deterministic by seed:
 * every batch is cut into EK_NFS_SHARDS parts, whatever the number of threads, and sums have a
 * fixed order. Owner: the caller, ek_nfs_ranker_release.
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
    size_t rows_max; /* of a pass that takes any list of the data */
};

/* EK_ESTATE when the loss is no number any more, EK_ENOMEM. */
int ek_nfs_train(struct ek_nfs_ranker *out, const struct ek_nfs_data *train,
                 const struct ek_nfs_data *vali, const struct ek_nfs_options *o,
                 struct ek_error *e);
void ek_nfs_ranker_release(struct ek_nfs_ranker *r);
/* Runs the tasks 0 .. EK_NFS_SHARDS - 1 as the options say. */
void ek_nfs_run_tasks(const struct ek_nfs_options *o, void (*task)(void *arg, int i), void *arg);

#endif
