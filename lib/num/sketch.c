#include "num/sketch.h"

#include "base/alloc.h"
#include "num/sketch_internal.h"

#include <math.h>
#include <string.h>

uint16_t ek_sketch_hot_index(float x)
{
    return (uint16_t)((ek_sketch_key(x) + EK_HOT_ROUND) % EK_SKETCH_KEYS);
}

void ek_sketch_keys_scalar(const float *x, size_t stride, int rows, uint16_t *keys,
                           uint32_t *chunks)
{
    for (int r = 0; r < rows; r++, x += stride, keys += EK_KEY_LANES)
        for (int i = 0; i < EK_KEY_LANES; i++) {
            keys[i] = ek_sketch_hot_index(x[i]);
            chunks[i] |= 1u << (keys[i] >> EK_HOT_CHUNK_SHIFT);
        }
}

#define KERNELS(isa)                                                                               \
    (struct ek_sketch_kernels)                                                                     \
    {                                                                                              \
        ek_sketch_keys_##isa, ek_sketch_add_wide_##isa, ek_sketch_add_hot_##isa                    \
    }

struct ek_sketch_kernels ek_sketch_kernels_get(enum ek_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case EK_ISA_AVX512:
        return KERNELS(avx512);
    case EK_ISA_AVX2:
        return KERNELS(avx2);
#elif defined(__aarch64__)
    case EK_ISA_NEON:
        return KERNELS(neon);
#endif
    default:
        return KERNELS(portable);
    }
}

enum { COUNT_BYTES = EK_SKETCH_KEYS * sizeof(uint64_t) };

double ek_sketch_max_rel_error(void)
{
    return 1.0 / 128;
}

uint16_t ek_sketch_key(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return EK_SKETCH_NAN;
    return (uint16_t)(bits >> EK_SKETCH_SHIFT);
}

int ek_sketch_is_key(uint64_t key)
{
    return key <= EK_SKETCH_NEG_INF &&
           (key <= EK_SKETCH_INF || key >= EK_SKETCH_NEG_ZERO || key == EK_SKETCH_NAN);
}

/* Return the lower end of a key's magnitudes with `half` added to its bits. Floats are equally
 * spaced within a key, so half a key gives its middle. */
static double edge_of(uint16_t key, uint32_t half)
{
    uint32_t bits = (uint32_t)(key & (EK_SKETCH_NEG_ZERO - 1)) << EK_SKETCH_SHIFT | half;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static double middle_of(uint16_t key)
{
    return edge_of(key, 1u << (EK_SKETCH_SHIFT - 1));
}

double ek_sketch_value(uint16_t key)
{
    uint16_t magnitude = key & (EK_SKETCH_NEG_ZERO - 1);
    if (magnitude > EK_SKETCH_INF)
        return (double)NAN;
    double v = magnitude == 0               ? 0
               : magnitude == EK_SKETCH_INF ? (double)INFINITY
                                            : middle_of(magnitude);
    return key & EK_SKETCH_NEG_ZERO && magnitude ? -v : v;
}

double ek_sketch_ln(uint16_t key)
{
    uint16_t magnitude = key & (EK_SKETCH_NEG_ZERO - 1);
    if (magnitude > EK_SKETCH_INF)
        return (double)NAN;
    if (magnitude == 0)
        return (double)-INFINITY;
    if (magnitude == EK_SKETCH_INF)
        return (double)INFINITY;
    double low = edge_of(magnitude, 0), high = 2 * middle_of(magnitude) - low;
    return 0.5 * (log(low) + log(high));
}

int ek_sketch_new(struct ek_sketch **out)
{
    struct ek_sketch *s = ek_calloc(1, sizeof *s);
    if (!s)
        return EK_ENOMEM;
    s->count = ek_reserve_memory_new(COUNT_BYTES);
    if (!s->count) {
        ek_free(s);
        return EK_ENOMEM;
    }
    *out = s;
    return EK_OK;
}

void ek_sketch_free(struct ek_sketch *s)
{
    if (s)
        ek_reserve_memory_free(s->count, COUNT_BYTES);
    ek_free(s);
}

void ek_sketch_clear(struct ek_sketch *s)
{
    for (int b = 0; b < EK_SKETCH_BLOCKS; b++)
        if (ek_sketch_touches(s, b))
            memset(s->count + b * EK_SKETCH_BLOCK, 0, EK_SKETCH_BLOCK * sizeof *s->count);
    memset(s->touched, 0, sizeof s->touched);
    s->total = 0;
}

void ek_sketch_add(struct ek_sketch *s, float x, uint64_t count)
{
    uint16_t key = ek_sketch_key(x);
    if (!count)
        return;
    ek_sketch_touch(s, key / EK_SKETCH_BLOCK);
    s->count[key] += count;
    s->total += count;
}

void ek_sketch_remove(struct ek_sketch *s, uint16_t key)
{
    s->total -= s->count[key];
    s->count[key] = 0;
}

void ek_sketch_scale(struct ek_sketch *s, uint64_t weight)
{
    for (int b = 0; b < EK_SKETCH_BLOCKS; b++)
        for (int i = 0; i < EK_SKETCH_BLOCK && ek_sketch_touches(s, b); i++)
            s->count[b * EK_SKETCH_BLOCK + i] *= weight;
    s->total *= weight;
}

void ek_sketch_merge(struct ek_sketch *into, const struct ek_sketch *from)
{
    ek_sketch_add_wide_fn *add = ek_sketch_kernels_get(ek_isa_best()).add_wide;
    for (int word = 0; word < EK_SKETCH_BLOCKS / 64; word++) {
        for (uint64_t left = from->touched[word]; left; left &= left - 1) {
            size_t first = (size_t)(64 * word + __builtin_ctzll(left)) * EK_SKETCH_BLOCK;
            add(into->count + first, from->count + first);
        }
        into->touched[word] |= from->touched[word];
    }
    into->total += from->total;
}

uint64_t ek_sketch_count(const struct ek_sketch *s, uint16_t key)
{
    int block = key / EK_SKETCH_BLOCK;
    return block < EK_SKETCH_BLOCKS && ek_sketch_touches(s, block) ? s->count[key] : 0;
}

uint64_t ek_sketch_total(const struct ek_sketch *s)
{
    return s->total;
}
