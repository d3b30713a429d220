#include "num/sketch_walk.h"

#include "num/sketch_internal.h"

static uint16_t key_at(int place)
{
    return (uint16_t)(place <= EK_SKETCH_INF ? EK_SKETCH_NEG_INF - place
                                             : place - EK_SKETCH_INF - 1);
}

int ek_sketch_place(uint16_t key)
{
    return key >= EK_SKETCH_NEG_ZERO ? EK_SKETCH_NEG_INF - key : key + EK_SKETCH_INF + 1;
}

struct ek_sketch_walk ek_sketch_walk_of(const struct ek_sketch *s)
{
    return (struct ek_sketch_walk){.s = s};
}

int ek_sketch_walk_on(struct ek_sketch_walk *w)
{
    for (; w->next < EK_SKETCH_PLACES; w->next++) {
        uint16_t key = key_at(w->next);
        int block = key / EK_SKETCH_BLOCK;
        if (!ek_sketch_touches(w->s, block)) {
            /* to the last key of the block; the loop steps over it */
            int inside = key % EK_SKETCH_BLOCK;
            int left = key >= EK_SKETCH_NEG_ZERO ? inside : EK_SKETCH_BLOCK - 1 - inside;
            w->next += left;
            continue;
        }
        w->count = w->s->count[key];
        if (w->count) {
            w->key = key;
            w->next++;
            return 1;
        }
    }
    return 0;
}
