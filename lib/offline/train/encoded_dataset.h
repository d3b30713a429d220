/* A data set as the network reads it: every list encoded once, before training.
 *
 * Owner: the caller, ek_encoded_release; the data set must outlive it. Read-only after filling, may
 * be shared by threads.
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
    size_t longest;                   /* items of the longest list */
    float *item;                      /* [N, stride], as score/encode.h has it */
    float *query;                     /* [Q, M] */
    float *part;                      /* [N, F, EK_TRANSFORM_PARTS] of a mixture, else NULL */
};

int ek_encoded_init(struct ek_encoded *c, const struct ek_model *m, const struct ek_dataset *d,
                    struct ek_error *e);
void ek_encoded_release(struct ek_encoded *c);
/* part [items, F, EK_TRANSFORM_PARTS] of x [items, F], for the model of the encoder, a mixture; its
 * scratch is used. */
void ek_encoded_parts(struct ek_encoder *encoder, const float *x, size_t items, float *part);
/* List q under a mask [K], which must live as long as the result. */
struct ek_network_list ek_encoded_list(const struct ek_encoded *c, size_t q, const float *mask);

/* Which inputs of a network differed anywhere in training; internal to training.
 *
 * The weights of an input that never differs can only learn what a bias can do, and those of an
 * indicator that is never set stay as they were drawn. Should it move later, it would say something
 * that nothing was learnt for. So the network reads 0 in its place while it learns, and the model
 * has weights of 0 there. Statistics, not the data, say what z and the values did (statistics.h).
 * Owner: the caller. Threads: read-only after filling.
 */
/* 1 for what differed, 0 for what did not: values of the item features, missing ones left out; of
 * the query features; centred logarithms; whether a value is 0. Shapes as in assets/model.h. */
struct ek_input_usage {
    float *item, *query, *log, *zero; /* [F], [M], [K], [K] */
};

/* For a model with the statistics of the data. EK_ENOMEM. */
int ek_input_usage_find(struct ek_input_usage *v, const struct ek_model *m,
                        const struct ek_dataset *d, struct ek_error *e);
void ek_input_usage_release(struct ek_input_usage *v);
/* Takes out of a model what reads anything else. */
void ek_input_usage_prune(const struct ek_input_usage *v, struct ek_model *m);

#endif
