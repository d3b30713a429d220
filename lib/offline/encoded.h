/* A data set as the network reads it: every list encoded once, before training.
 *
 * Owner: the caller, ek_encoded_release; the data set must outlive it. Read-only after filling, may
 * be shared by threads.
 */
#ifndef EK_OFFLINE_ENCODED_H
#define EK_OFFLINE_ENCODED_H

#include "data/dataset.h"
#include "data/model.h"
#include "offline/network.h"

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
/* List q under a mask [K], which must live as long as the result. */
struct ek_network_list ek_encoded_list(const struct ek_encoded *c, size_t q, const float *mask);

#endif
