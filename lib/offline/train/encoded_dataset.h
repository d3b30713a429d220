/* Encoded dataset, with every list in the input format of the network, encoded once before
 * training; and the inputs that vary in it.
 *
 * The dataset must outlive it. Read-only after filling, so threads may share it.
 */
#ifndef EK_OFFLINE_TRAIN_ENCODED_DATASET_H
#define EK_OFFLINE_TRAIN_ENCODED_DATASET_H

#include "assets/model.h"
#include "lists/dataset.h"
#include "offline/train/network.h"
#include "score/encode.h"

struct ek_encoded {
    const struct ek_dataset *data;
    size_t features, queries, stride; /* F, M, F + 2 K */
    size_t longest;                   /* items in the longest list */
    float *item;                      /* [N, stride], layout of encode.h */
    float *query;                     /* [Q, M] */
    float *part;                      /* [N, F, EK_TRANSFORM_PARTS] for a mixture, else NULL */
};

/* Set *c to the encoded lists of `d` with the transforms of `m`; release it with
 * ek_encoded_release. Return 0, or EK_ENOMEM with nothing to release. */
int ek_encoded_init(struct ek_encoded *c, const struct ek_model *m, const struct ek_dataset *d,
                    struct ek_error *e);
void ek_encoded_release(struct ek_encoded *c);
/* Compute part [items, F, EK_TRANSFORM_PARTS] of x [items, F] for the mixture model of the encoder.
 * The call uses its scratch memory. */
void ek_encoded_parts(struct ek_encoder *encoder, const float *x, size_t items, float *part);
/* Return a view of list q with a mask [K]; mask and *c must outlive it. */
struct ek_network_list ek_encoded_list(const struct ek_encoded *c, size_t q, const float *mask);

/* Inputs of a network that vary in training; internal to training. The weights of a constant input
 * learn only a bias, and those of an indicator that is never set keep their random start. If it
 * changed later, the output would be arbitrary. So the network reads 0 for such inputs in training,
 * and the model gets weights of 0. The usage of z and values is taken from the statistics
 * (evaluate.h). Read-only after filling. */
/* 1 for varying inputs, 0 for constant ones: item features (without missing values), query
 * features, centered logarithms, and zero indicators. Shapes as in model.h. */
struct ek_input_usage {
    float *item, *query, *log, *zero; /* [F], [M], [K], [K] */
};

/* Set *v to the inputs that vary in `d`, for a model with the statistics of `d`; release it with
 * ek_input_usage_release. Return 0, or EK_ENOMEM with nothing to release. */
int ek_input_usage_find(struct ek_input_usage *v, const struct ek_model *m,
                        const struct ek_dataset *d, struct ek_error *e);
void ek_input_usage_release(struct ek_input_usage *v);
/* Set the weights of unused inputs in a model to 0. */
void ek_input_usage_prune(const struct ek_input_usage *v, struct ek_model *m);

#endif
