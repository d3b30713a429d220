/* A data set as the network reads it: every list encoded once, before training.
 *
 * Owner: the caller, ek_encoded_release; the data set must outlive it. Read-only after filling, may
 * be shared by threads.
 */
#ifndef EK_OFFLINE_ENCODED_H
#define EK_OFFLINE_ENCODED_H

#include "lists/dataset.h"
#include "assets/model.h"
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

#endif
