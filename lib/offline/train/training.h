/* Training of the routable SIR model (the recipe: docs/training.md).
 *
 * Deterministic by seed, whatever the number of threads: a batch is cut into EK_TRAIN_SHARDS parts
 * in any case and all sums have a fixed order. Vector instructions change no bit either; between
 * machines the C library's exp and log may. The library starts no threads; a caller-supplied runner
 * may run the parts at the same time. Missing values in the data are allowed. Owner: options and
 * data are the caller's; the model comes out as ek_model.
 */
#ifndef EK_OFFLINE_TRAIN_TRAINING_H
#define EK_OFFLINE_TRAIN_TRAINING_H

#include "assets/model.h"
#include "lists/dataset.h"
#include "offline/train/loss.h"
#include "offline/train/network.h"
#include "offline/train/optimizer.h"
#include "offline/train/train_shard.h"

enum { EK_TRAIN_SHARDS = 8 };

struct ek_train_progress {
    int epoch, epochs;  /* from 1 */
    size_t step, steps; /* of the whole run */
    double loss;        /* running mean of the epoch */
    double vali_ndcg10; /* of the last finished epoch; NaN before */
    double best_ndcg10;
    int best_epoch;
};

struct ek_train_options {
    enum ek_loss loss;
    int samples, cutoff; /* ApproxNDCG: of the stochastic form, 0 for the other; 0 for none */
    enum ek_routing routing;
    const int *static_routed; /* routable numbers for EK_ROUTING_STATIC */
    int static_count;
    struct ek_model_shape shape;
    /* Under random routing, at the first step: share of lists with nothing routed, and share of
     * lists that get scale faults (train_shard.h). They move linearly to 1 and 0 at the last step;
     * validation keeps the first share. */
    double keep_clean, shift;
    int epochs, batch_lists;
    int patience; /* stops after that many epochs without a better one; 0: never */
    enum ek_optimizer_kind optimiser;
    double learning_rate, weight_decay;
    /* The model is the mean of the weights after all steps t so far, weighted with about t to this
     * power (Shamir and Zhang 2013, polynomial-decay averaging); 0: the last weights alone. */
    double average;
    struct ek_network_options network; /* batch normalisation and dropout: none */
    uint64_t seed;
    /* Files: where to write the state after every epoch and when stopped, and which one to go on
     * from; NULL: none. A run that was stopped and goes on ends with the same bits. */
    const char *checkpoint, *resume;
    /* Called now and then; non-zero stops training with what was best so far. May be NULL. */
    int (*progress)(void *context, const struct ek_train_progress *p);
    /* Runs task(arg, i) for i = 0 .. count-1, maybe at the same time, returns when all are done.
     * NULL: one after the other. Results do not depend on it. */
    void (*run)(void *context, void (*task)(void *arg, int i), void *arg, int count);
    /* Told, before training, what is odd about the data. May be NULL. */
    void (*warn)(void *context, const char *text);
    void *context;
};

/* The recipe of docs/training.md. */
void ek_train_defaults(struct ek_train_options *o);
/* Trains on `train`, keeps the epoch with the best NDCG@10 on `vali` (of equals the earlier).
 * `last` (may be NULL) gets the state at the end. EK_EUSAGE for options or data that cannot be
 * trained on or a checkpoint of another run, EK_ESTATE when the loss stops being a number, EK_EIO
 * and EK_EFORMAT for checkpoints. */
int ek_train(struct ek_model **out, const struct ek_manifest *m, const struct ek_dataset *train,
             const struct ek_dataset *vali, const struct ek_train_options *o,
             struct ek_train_progress *last, struct ek_error *e);

/* A batch through all shards at once, layer by layer, so that the inputs of each layer can be
 * normalised over the whole batch; internal to training. */
struct ek_train_batch {
    struct ek_train_shared *shared;
    struct ek_train_shard *shard; /* [EK_TRAIN_SHARDS], their parts dealt */
    float *parameter;             /* its running statistics are brought up to date */
    size_t step;                  /* batches before this one */
    const struct ek_train_options *options;
    int layer; /* in hand */
};

#endif
