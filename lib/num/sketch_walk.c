#include "num/sketch_walk.h"

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
    return (struct ek_sketch_walk){.counts = s->count, .s = s};
}

int ek_sketch_walk_block(struct ek_sketch_walk *w)
{
    while (w->next < EK_SKETCH_PLACES) {
        uint16_t key = key_at(w->next);
        int negative = key >= EK_SKETCH_NEG_ZERO, inside = key % EK_SKETCH_BLOCK;
        int left = negative ? inside + 1 : EK_SKETCH_BLOCK - inside;
        if (ek_sketch_touches(w->s, key / EK_SKETCH_BLOCK)) {
            int places = EK_SKETCH_PLACES - w->next;
            w->left = left < places ? left : places;
            w->step = negative ? -1 : 1;
            w->key = (uint16_t)(key - w->step);
            return 1;
        }
        w->next += left;
    }
    return 0;
}
