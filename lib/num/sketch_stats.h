/* Walk over the counted keys of a sketch in ascending order of value; internal.
 *
 * The order is -inf, negative, -0, +0, positive, +inf, without NaN. The place of a key is its rank
 * in this order among all keys. The sketch must not change during a walk.
 */
#ifndef EK_NUM_SKETCH_STATS_H
#define EK_NUM_SKETCH_STATS_H

#include "num/sketch_internal.h"

enum { EK_SKETCH_PLACES = 2 * (EK_SKETCH_INF + 1) };

struct ek_sketch_walk {
    const uint64_t *counts;
    const struct ek_sketch *s;
    int next; /* first place not visited */
    int left; /* remaining places of the open block */
    int step; /* -1 for negative keys, else 1 */
    uint16_t key;
    uint64_t count;
};

/* Return a walk in front of the first key. */
struct ek_sketch_walk ek_sketch_walk_init(const struct ek_sketch *s);
/* Return the place of a key. */
int ek_sketch_place(uint16_t key);
/* Open the next written block, for callers that loop over its w->left keys, from w->key + w->step
 * on. Return 1, or 0 at the end. */
int ek_sketch_walk_block(struct ek_sketch_walk *w);
/* Skip the rest of the block that ek_sketch_walk_block opened. */
static inline void ek_sketch_walk_over(struct ek_sketch_walk *w)
{
    w->next += w->left;
    w->left = 0;
}

/* Advance to the next key with a count; w->key and w->count are then set. Return 1, or 0 at the
 * end. */
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
