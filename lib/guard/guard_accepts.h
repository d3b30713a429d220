/* What is accepted as normal, for who shows it. */
#ifndef EK_GUARD_GUARD_ACCEPTS_H
#define EK_GUARD_GUARD_ACCEPTS_H

#include "base/json.h"

#include <stdint.h>

struct ek_guard;

/* One accept in force; views. */
struct ek_accepted {
    uint64_t version;
    const char *feature, *dimension, *value; /* dimension NULL: all traffic */
    double factor;
    int64_t time_ms;             /* of the stream, when it was said; -1: not known any more */
    const char *author, *reason; /* NULL: not said, or not known any more */
};
/* Add one as an object. */
void ek_json_add_accepted(struct ek_json_writer *w, const struct ek_accepted *a);
/* Appends those in force as a JSON array (docs/operations.md), by versions; who said it and why as
 * far as the history goes back. EK_ENOMEM. */
int ek_guard_accepts_json(const struct ek_guard *g, struct ek_buf *out);

#endif
