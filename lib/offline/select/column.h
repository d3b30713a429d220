/* A copy of a data set in which one item feature may be changed, and put back. Internal to
 * lib/choose: each thread has one of its own.
 *
 * Owner: the caller, ek_column_release. The set that was copied must outlive it: all but x is its.
 */
#ifndef EK_CHOOSE_COLUMN_H
#define EK_CHOOSE_COLUMN_H

#include "lists/dataset.h"

struct ek_column {
    struct ek_dataset data; /* x is ours */
    float *was;             /* [N] */
    size_t feature;
};

/* EK_ENOMEM; there is nothing to release then. */
int ek_column_copy(struct ek_column *c, const struct ek_dataset *d, size_t feature,
                   struct ek_error *e);
void ek_column_release(struct ek_column *c);
void ek_column_restore(struct ek_column *c);
void ek_column_set(struct ek_column *c, size_t item, float x);

#endif
