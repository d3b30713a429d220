/* Training of the routable SIR model (recipe: docs/training.md).
 *
 * Results depend on the seed but not on the number of threads: a batch always has EK_TRAIN_SHARDS
 * parts and all sums have a fixed order. Vector instructions change no bit either; the C library's
 * exp and log may differ between machines. The library starts no threads, but a runner of the
 * caller may run the parts in parallel. Missing values in the data are allowed.
 */
#ifndef EK_OFFLINE_TRAIN_TRAINING_H
#define EK_OFFLINE_TRAIN_TRAINING_H

#include "assets/model.h"
#include "lists/dataset.h"
#include "offline/train/distillation.h"
#include "offline/train/loss.h"
#include "offline/train/network.h"
#include "offline/train/optimizer.h"
#include "offline/train/train_shard.h"

enum { EK_TRAIN_SHARDS = 8 };

struct ek_train_progress {
    int epoch, epochs;  /* from 1 */
    size_t step, steps; /* over the whole run */
    double loss;        /* running mean of the epoch */
    double vali_ndcg10; /* of the last finished epoch; NaN before the first */
    double best_ndcg10;
    int best_epoch;
};

struct ek_train_options {
    enum ek_loss loss;
    int samples, cutoff; /* ApproxNDCG: samples of the stochastic form, 0: none; cutoff, 0: none */
    enum ek_routing routing;
    const int *static_routed; /* routable indices for EK_ROUTING_STATIC */
    int static_count;
    struct ek_model_shape shape;
    /* Fractions at the first step under random routing: lists without routing, and lists with scale
     * faults (train_shard.h). They change linearly to 1 and 0 at the last step; validation uses the
     * first value of keep_clean. */
    double keep_clean, shift;
    int epochs, batch_lists;
    int patience; /* stop after this many epochs without improvement; 0: never */
    enum ek_optimizer_kind optimizer;
    double learning_rate, weight_decay;
    /* Exponent of polynomial-decay averaging (Shamir and Zhang 2013): the model is the mean of the
     * weights after all steps t, weighted with about t to this power. 0: the last weights. */
    double average;
    struct ek_network_options network; /* batch normalization and dropout; default: none */
    uint64_t seed;
    /* Paths: `checkpoint` is written after every epoch and at a stop, `resume` is loaded first;
     * NULL: none. A resumed run ends with the same bits as an uninterrupted one. */
    const char *checkpoint, *resume;
    /* Called periodically; nonzero stops training and keeps the best epoch so far. May be NULL. */
    int (*progress)(void *context, const struct ek_train_progress *p);
    /* Run task(arg, i) for i = 0 .. count-1, possibly in parallel, and return when all are done.
     * NULL: sequentially. Results do not depend on it. */
    void (*run)(void *context, void (*task)(void *arg, int i), void *arg, int count);
    /* Called before training with each warning about the data. May be NULL. */
    void (*warn)(void *context, const char *text);
    void *context;
};

/* Set all members of *o to the recipe of docs/training.md, without callbacks. */
void ek_train_defaults(struct ek_train_options *o);
/* Set the options that the `training:` section of a manifest has. */
void ek_train_set_hints(struct ek_train_options *o, const struct ek_training_hints *h);
/* Move a fifth of the lists, chosen by their ids, from `train` to `vali`, which is empty. With
 * `upstream`, which may be NULL, its scores of `train` become those of `vali`. Return 0 or
 * EK_ENOMEM; both datasets must be released on error, too. */
int ek_train_split(struct ek_dataset *train, struct ek_dataset *vali,
                   struct ek_upstream_scores *upstream, struct ek_error *e);
/* Train on `train` and set *out, which the caller frees, to the model of the epoch with the best
 * NDCG@10 on `vali`, the earlier of equals. `last`, unless NULL, receives the final progress.
 * Return 0, EK_ENOMEM, EK_EUSAGE for unusable options or data or a checkpoint of another run,
 * EK_ESTATE if the loss is not finite, or EK_EIO or EK_EFORMAT for checkpoints. */
int ek_train(struct ek_model **out, const struct ek_manifest *m, const struct ek_dataset *train,
             const struct ek_dataset *vali, const struct ek_train_options *o,
             struct ek_train_progress *last, struct ek_error *e);

/* Layer-by-layer pass of a batch through all shards, for normalization over the whole batch;
 * internal to training. */
struct ek_train_batch {
    struct ek_train_shared *shared;
    struct ek_train_shard *shard; /* [EK_TRAIN_SHARDS], with their parts set */
    float *parameter;             /* its running statistics are updated */
    size_t step;                  /* number of earlier batches */
    const struct ek_train_options *options;
    int layer; /* current layer */
};

#endif
