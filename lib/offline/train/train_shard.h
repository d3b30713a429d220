/* Shard of a training batch: its lists, scale augmentation, forward and backward passes. Internal
 * to training. */
#ifndef EK_OFFLINE_TRAIN_TRAIN_SHARD_H
#define EK_OFFLINE_TRAIN_TRAIN_SHARD_H

#include "base/rng.h"
#include "offline/train/encoded_dataset.h"
#include "offline/train/network_norm.h"
#include "offline/train/training.h"
#include "score/encode.h"
#include "score/metrics.h"

/* Scale augmentation of training lists, against the harm of undetected scale faults; internal to
 * training.
 *
 * In a fraction of the lists, a random subset of the routable features (size uniform in 1 .. K) is
 * rescaled. Each gets one factor for the whole list, log-uniform from 1/1000 to 1000, the range of
 * common unit errors. Centered logs do not change under a factor, so the network learns to trust
 * them when the level of a value is unusual. One per thread.
 */
struct ek_train_shift {
    struct ek_encoder encoder;
    float *x;    /* [longest, F] */
    float *part; /* [longest, F, EK_TRANSFORM_PARTS] for a mixture, else NULL */
    int *pick;   /* [K] */
};

/* Shard of a batch or of the validation lists; internal to training. Each list has random streams
 * of (seed, epoch, position in the epoch). Results therefore do not depend on its shard or thread,
 * and no two lists share random numbers. */
/* State shared by all shards of a run. */
struct ek_train_shared {
    const struct ek_train_options *options;
    const struct ek_model *model;
    struct ek_network network;
    struct ek_norm norm; /* of the current batch */
    const float *parameter, *turned;
};

/* Lists of a shard: positions [from, to) of `lists`; NULL: of the dataset. */
struct ek_train_part {
    const struct ek_encoded *set;
    const uint64_t *lists;
    size_t from, to;
    uint64_t seed;
    int epoch;            /* from 1; 0 for validation */
    double divisor;       /* of the batch loss */
    double routed, shift; /* fractions of lists with random routing and with scale faults */
};

/* Lists in one pass through the network: positions [from, to), `rows` items. */
struct ek_train_run {
    size_t from, to, rows;
};

struct ek_train_shard {
    const struct ek_train_shared *shared;
    struct ek_train_part part;
    struct ek_train_run run;
    struct ek_pass pass;
    struct ek_train_shift shift;
    size_t run_lists;              /* capacity of a run in lists */
    float *gradient;               /* [parameters] */
    float *mask;                   /* [lists of a run, K] */
    double *score, *noise, *slope; /* [longest] */
    double *scratch, *sum;         /* [longest] */
    int *order, *pick;             /* [longest], [K] */
    double loss;                   /* sum over the part, divided */
    struct ek_metric_mean ndcg;    /* of the validation */
};

/* Set *s to an empty shard for lists of at most `longest` items; release it with
 * ek_train_shard_release. The shared state must outlive it. Return 0 or EK_ENOMEM. */
int ek_train_shard_init(struct ek_train_shard *s, const struct ek_train_shared *shared,
                        size_t longest);
void ek_train_shard_release(struct ek_train_shard *s);
/* Reserve memory for a run of `rows` items and `lists` lists. Return 0 or EK_ENOMEM. */
int ek_train_shard_reserve(struct ek_train_shard *s, size_t rows, size_t lists);
/* Set s->loss and s->gradient to those of the lists in s->part, without batch normalization. */
void ek_train_shard_train(struct ek_train_shard *s);
/* Begin the steps of ek_train_shard_train with statistics of the whole batch: load the part, which
 * must fit into one run, and measure the inputs of the first layer. Then call forward for each
 * layer, backward and close from the last layer to the first, and merge the sums of the shards
 * between the steps (network_norm.h). */
void ek_train_shard_open(struct ek_train_shard *s);
/* Run a layer and measure the inputs of the next one; after the last layer compute loss and d loss
 * / d score. */
void ek_train_shard_forward(struct ek_train_shard *s, int layer);
/* Add the gradient of a layer to s->gradient, and sum the columns for the normalization. */
void ek_train_shard_backward(struct ek_train_shard *s, int layer);
/* Finish a layer after the sums were merged: compute d loss / d output of the layer below. */
void ek_train_shard_close(struct ek_train_shard *s, int layer);
/* Set the sums of NDCG@10 in *s to those of the part. */
void ek_train_shard_validate(struct ek_train_shard *s);

#endif
