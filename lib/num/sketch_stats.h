/* The counted keys of a sketch in the order of their values; internal.
 *
 * -inf, negative, -0, +0, positive, +inf; NaN has no place. A key's place is its rank in that order
 * among all keys. The sketch must not change while it is walked. No failure, no allocation.
 */
#ifndef EK_NUM_SKETCH_STATS_H
#define EK_NUM_SKETCH_STATS_H

#include "num/sketch_internal.h"

enum { EK_SKETCH_PLACES = 2 * (EK_SKETCH_INF + 1) };

struct ek_sketch_walk {
    const uint64_t *counts;
    const struct ek_sketch *s;
    int next; /* the first place not looked at yet */
    int left; /* places of its block of keys from there on, when that is open */
    int step; /* of the keys: -1 while they are negative */
    uint16_t key;
    uint64_t count;
};

struct ek_sketch_walk ek_sketch_walk_init(const struct ek_sketch *s);
int ek_sketch_place(uint16_t key);
/* Block by block, for loops of their own over w->left keys, the first w->key + w->step: opens the
 * next block that was written (0 when there is none), and goes behind it. */
int ek_sketch_walk_block(struct ek_sketch_walk *w);
static inline void ek_sketch_walk_over(struct ek_sketch_walk *w)
{
    w->next += w->left;
    w->left = 0;
}

/* The next key with a count; 0 at the end. */
static inline int ek_sketch_walk_next(struct ek_sketch_walk *w)
{
    do {
        while (w->left > 0) {
            w->left--;
            w->next++;
            w->key = (uint16_t)(w->key + w->step);
            w->count = w->counts[w->key];
            if (w->count)
                return 1;
        }
    } while (ek_sketch_walk_block(w));
    return 0;
}

#endif
