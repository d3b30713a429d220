/* A batch through all shards at once, layer by layer, so that the inputs of each layer can be
 * normalised over the whole batch; internal to training. */
#ifndef EK_OFFLINE_TRAIN_BATCH_H
#define EK_OFFLINE_TRAIN_BATCH_H

#include "offline/train/train_shard.h"

struct ek_train_batch {
    struct ek_train_shared *shared;
    struct ek_train_shard *shard; /* [EK_TRAIN_SHARDS], their parts dealt */
    float *parameter;             /* its running statistics are brought up to date */
    size_t step;                  /* batches before this one */
    const struct ek_train_options *options;
    int layer; /* in hand */
};

/* Losses and gradients of the shards' parts. EK_ENOMEM. */
int ek_train_batch_learn(struct ek_train_batch *b);

#endif
