/* A sketch of values that were all multiplied by one number. */
#include "num/sketch_walk.h"

#include <float.h>
#include <math.h>

/* The key of a value times `factor`. Of zeros and infinities it is their own. */
static uint16_t key_times(uint16_t key, double factor)
{
    uint16_t sign = key & EK_SKETCH_NEG_ZERO, magnitude = key & (EK_SKETCH_NEG_ZERO - 1);
    if (magnitude == 0 || magnitude == EK_SKETCH_INF)
        return key;
    double x = ek_sketch_value(magnitude) * factor;
    return sign | (x > (double)FLT_MAX ? EK_SKETCH_INF : ek_sketch_key((float)x));
}

static void add_at(struct ek_sketch *s, uint16_t key, uint64_t count)
{
    ek_sketch_touch(s, key / EK_SKETCH_BLOCK);
    s->count[key] += count;
    s->total += count;
}

void ek_sketch_translate(const struct ek_sketch *from, double shift_ln, struct ek_sketch *out)
{
    double factor = exp(shift_ln);
    uint64_t missing = ek_sketch_count(from, EK_SKETCH_NAN);
    struct ek_sketch_walk w = ek_sketch_walk_of(from);
    while (ek_sketch_walk_on(&w))
        add_at(out, key_times(w.key, factor), w.count);
    if (missing)
        add_at(out, EK_SKETCH_NAN, missing);
}
