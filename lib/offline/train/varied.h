/* Which inputs of a network differed anywhere in training; internal to training.
 *
 * The weights of an input that never differs can only learn what a bias can do, and those of an
 * indicator that is never set stay as they were drawn. Should it move later, it would say something
 * that nothing was learnt for. So the network reads 0 in its place while it learns, and the model
 * has weights of 0 there. Statistics, not the data, say what z and the values did (statistics.h).
 * Owner: the caller. Threads: read-only after filling.
 */
#ifndef EK_OFFLINE_VARIED_H
#define EK_OFFLINE_VARIED_H

#include "lists/dataset.h"
#include "assets/model.h"

/* 1 for what differed, 0 for what did not: values of the item features, missing ones left out; of
 * the query features; centred logarithms; whether a value is 0. Shapes as in data/model.h. */
struct ek_varied {
    float *item, *query, *log, *zero; /* [F], [M], [K], [K] */
};

/* For a model with the statistics of the data. EK_ENOMEM. */
int ek_varied_find(struct ek_varied *v, const struct ek_model *m, const struct ek_dataset *d,
                   struct ek_error *e);
void ek_varied_release(struct ek_varied *v);
/* Takes out of a model what reads anything else. */
void ek_varied_prune(const struct ek_varied *v, struct ek_model *m);

#endif
