#include "num/list_moments.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"
#include "num/list_moments_isa.h"

#include <limits.h>
#include <string.h>

enum { ARRAYS = 8, PADDING = 16 };

int ek_list_moments_new(struct ek_list_moments **out, int features)
{
    if (features < 1 || features > INT_MAX - PADDING)
        return EK_ELIMIT;
    int padded = (features + PADDING - 1) / PADDING * PADDING;
    struct ek_list_moments *s = ek_calloc(1, sizeof *s);
    if (!s)
        return EK_ENOMEM;
    float *m = ek_calloc_aligned((size_t)padded * ARRAYS, sizeof *m);
    if (!m) {
        ek_free(s);
        return EK_ENOMEM;
    }
    float **arrays[ARRAYS] = {&s->ln,      &s->ln2,      &s->usable,   &s->zero,
                              &s->missing, &s->negative, &s->infinite, &s->tied};
    for (int i = 0; i < ARRAYS; i++)
        *arrays[i] = m + (size_t)i * (size_t)padded;
    s->features = features;
    s->padded = padded;
    s->memory = m;
    *out = s;
    return EK_OK;
}

/* Return a number that depends on the values of the first feature, but not on their order. */
static uint64_t content_of(const struct ek_list_moments *s, const float *x, int rows)
{
    uint64_t sum = (uint64_t)rows;
    for (int r = 0; r < rows; r++) {
        uint32_t bits;
        memcpy(&bits, x + (size_t)r * (size_t)s->features, sizeof bits);
        sum += bits;
    }
    return sum;
}

/* Select EK_PICKS_MAX different rows at random (Floyd's algorithm). */
static void pick_random(struct ek_list_moments *s, const float *x, int rows)
{
    struct ek_rng rng;
    ek_rng_seed(&rng, content_of(s, x, rows));
    for (int i = 0; i < EK_PICKS_MAX; i++) {
        int highest = rows - EK_PICKS_MAX + i;
        int chosen = (int)ek_rng_uniform_int(&rng, (uint64_t)highest + 1);
        for (int k = 0; k < i; k++)
            if (s->pick[k] == chosen)
                chosen = highest;
        s->pick[i] = chosen;
    }
}

void ek_list_moments_pick(struct ek_list_moments *s, const float *x, int rows)
{
    s->picks = rows < EK_PICKS_MAX ? rows : EK_PICKS_MAX;
    for (int i = 0; i < s->picks; i++)
        s->pick[i] = i;
    if (rows > EK_PICKS_MAX)
        pick_random(s, x, rows);
}

void ek_list_moments_free(struct ek_list_moments *s)
{
    if (s)
        ek_free(s->memory);
    ek_free(s);
}

ek_list_moments_fn *ek_list_moments_fn_get(enum ek_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case EK_ISA_AVX512:
        return ek_list_moments_avx512;
    case EK_ISA_AVX2:
        return ek_list_moments_avx2;
#elif defined(__aarch64__)
    case EK_ISA_NEON:
        return ek_list_moments_neon;
#endif
    default:
        return ek_list_moments_portable;
    }
}

void ek_list_moments_compute(struct ek_list_moments *s, const float *x, int rows,
                             const float *pivot)
{
    ek_list_moments_fn_get(ek_isa_best())(s, x, rows, pivot);
}
