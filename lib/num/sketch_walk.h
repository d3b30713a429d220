/* The counted keys of a sketch in the order of their values; internal.
 *
 * -inf, negative, -0, +0, positive, +inf; NaN has no place. A key's place is its rank in that order
 * among all keys. The sketch must not change while it is walked. No failure, no allocation.
 */
#ifndef EK_NUM_SKETCH_WALK_H
#define EK_NUM_SKETCH_WALK_H

#include "num/sketch.h"

enum { EK_SKETCH_PLACES = 2 * (EK_SKETCH_INF + 1) };

struct ek_sketch_walk {
    const struct ek_sketch *s;
    int next; /* the first place not looked at yet */
    uint16_t key;
    uint64_t count;
};

struct ek_sketch_walk ek_sketch_walk_of(const struct ek_sketch *s);
/* The next key with a count; 0 at the end. */
int ek_sketch_walk_on(struct ek_sketch_walk *w);
int ek_sketch_place(uint16_t key);

#endif
