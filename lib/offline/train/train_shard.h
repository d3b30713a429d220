/* Scale faults thrown into training lists, so that one nobody has noticed yet does little harm;
 * internal to training.
 *
 * In a share of the lists a random subset of the routable features (its size uniform in 1 .. K) has
 * another scale: each of them times its own factor for the whole list, log-uniform from 1/1000 to
 * 1000, the range of the units people mix up. Centred logs do not move under a factor, so what the
 * network learns is to believe them where the level of a value is out of the ordinary.
 * Owner: the caller. Threads: one each.
 */
#ifndef EK_OFFLINE_TRAIN_TRAIN_SHARD_H
#define EK_OFFLINE_TRAIN_TRAIN_SHARD_H

#include "base/rng.h"
#include "offline/train/encoded_dataset.h"
#include "offline/train/network_norm.h"
#include "offline/train/training.h"
#include "score/encode.h"
#include "score/metrics.h"

struct ek_train_shift {
    struct ek_encoder encoder;
    float *x;    /* [longest, F] */
    float *part; /* [longest, F, EK_TRANSFORM_PARTS] of a mixture, else NULL */
    int *pick;   /* [K] */
};

/* One part of a batch, or of the validation lists; internal to training.
 *
 * Everything random comes from a stream of (seed, epoch, list's place in the epoch), so that no
 * result depends on which part a list is in or which thread runs it, and no two lists draw alike.
 */
/* What all shards of a run share. */
struct ek_train_shared {
    const struct ek_train_options *options;
    const struct ek_model *model;
    struct ek_network network;
    struct ek_norm norm; /* of the batch in hand */
    const float *parameter, *turned;
};

/* The lists a shard works on: places [from, to) of `lists` (NULL: the lists themselves). */
struct ek_train_part {
    const struct ek_encoded *set;
    const uint64_t *lists;
    size_t from, to;
    uint64_t seed;
    int epoch;            /* from 1; 0: none, as of validation */
    double divisor;       /* of the batch's loss */
    double routed, shift; /* shares of the lists: something routed at random; scale faults */
};

/* Lists that pass the network together: places [from, to), `rows` items. */
struct ek_train_run {
    size_t from, to, rows;
};

struct ek_train_shard {
    const struct ek_train_shared *shared;
    struct ek_train_part part;
    struct ek_train_run run;
    struct ek_pass pass;
    struct ek_train_shift shift;
    size_t run_lists;              /* lists that a run may have */
    float *gradient;               /* [parameters] */
    float *mask;                   /* [lists of a run, K] */
    double *score, *noise, *slope; /* [longest] */
    double *scratch, *sum;         /* [longest] */
    int *order, *pick;             /* [longest], [K] */
    double loss;                   /* sum over the part, divided */
    struct ek_metric_mean ndcg;    /* of a validation */
};

/* `longest`: items of the longest list there will be. EK_ENOMEM. */
int ek_train_shard_init(struct ek_train_shard *s, const struct ek_train_shared *shared,
                        size_t longest);
void ek_train_shard_release(struct ek_train_shard *s);
/* Room for a run of that many items and lists. EK_ENOMEM. */
int ek_train_shard_reserve(struct ek_train_shard *s, size_t rows, size_t lists);
/* Loss and gradient of the part, without batch normalisation. */
void ek_train_shard_train(struct ek_train_shard *s);
/* The same in steps, for statistics of the whole batch: `open` loads the part, which must fit into
 * one run, and measures what the first layer reads; `forward` measures what the next layer reads,
 * the last one finds the loss; `backward` and `close` are for each layer from the last to the
 * first. In between the shards' sums are to be merged (network_norm.h). */
void ek_train_shard_open(struct ek_train_shard *s);
void ek_train_shard_forward(struct ek_train_shard *s, int layer);
void ek_train_shard_backward(struct ek_train_shard *s, int layer);
void ek_train_shard_close(struct ek_train_shard *s, int layer);
/* NDCG@10 of the part. */
void ek_train_shard_validate(struct ek_train_shard *s);

#endif
