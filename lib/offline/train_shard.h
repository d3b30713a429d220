/* One part of a batch, or of the validation lists; internal to training.
 *
 * Everything random comes from a stream of (seed, list's place in the run), so that no result
 * depends on which part a list is in or which thread runs it.
 */
#ifndef EK_OFFLINE_TRAIN_SHARD_H
#define EK_OFFLINE_TRAIN_SHARD_H

#include "offline/encoded.h"
#include "offline/train.h"
#include "score/metrics.h"

/* What all shards of a run share. */
struct ek_train_shared {
    const struct ek_train_options *options;
    struct ek_network network;
    const float *parameter, *turned;
};

/* The lists a shard works on: places [from, to) of `lists` (NULL: the lists themselves). */
struct ek_train_part {
    const struct ek_encoded *set;
    const size_t *lists;
    size_t from, to;
    uint64_t seed, stream; /* of place 0 */
    double divisor;        /* of the batch's loss */
};

struct ek_train_shard {
    const struct ek_train_shared *shared;
    struct ek_train_part part;
    struct ek_pass pass;
    float *gradient;               /* [parameters] */
    float *mask;                   /* [lists of a run, K] */
    double *score, *noise, *slope; /* [longest] */
    double *scratch;               /* [longest] */
    int *order, *pick;             /* [longest], [K] */
    double loss;                   /* sum over the part, divided */
    struct ek_metric_mean ndcg;    /* of a validation */
};

/* `longest`: items of the longest list there will be. EK_ENOMEM. */
int ek_train_shard_init(struct ek_train_shard *s, const struct ek_train_shared *shared,
                        size_t longest);
void ek_train_shard_release(struct ek_train_shard *s);
/* Loss and gradient of the part. */
void ek_train_shard_learn(struct ek_train_shard *s);
/* NDCG@10 of the part. */
void ek_train_shard_validate(struct ek_train_shard *s);

#endif
