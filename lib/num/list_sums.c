#include "num/list_sums.h"

#include "base/alloc.h"
#include "base/error.h"
#include "num/list_sums_isa.h"

#include <limits.h>

enum { ARRAYS = 9, PADDING = 16 };

int ek_list_sums_new(struct ek_list_sums **out, int features)
{
    if (features < 1 || features > INT_MAX - PADDING)
        return EK_ELIMIT;
    int padded = (features + PADDING - 1) / PADDING * PADDING;
    struct ek_list_sums *s = ek_calloc(1, sizeof *s);
    if (!s)
        return EK_ENOMEM;
    float *m = ek_calloc_aligned((size_t)padded * ARRAYS, sizeof *m);
    if (!m) {
        ek_free(s);
        return EK_ENOMEM;
    }
    float **arrays[ARRAYS] = {&s->ln,       &s->ln2,      &s->usable, &s->zero, &s->missing,
                              &s->negative, &s->infinite, &s->tied,   &s->last};
    for (int i = 0; i < ARRAYS; i++)
        *arrays[i] = m + (size_t)i * (size_t)padded;
    s->features = features;
    s->padded = padded;
    s->memory = m;
    *out = s;
    return EK_OK;
}

void ek_list_sums_free(struct ek_list_sums *s)
{
    if (s)
        ek_free(s->memory);
    ek_free(s);
}

ek_list_sums_fn *ek_list_sums_fn_get(enum ek_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case EK_ISA_AVX512:
        return ek_list_sums_avx512;
    case EK_ISA_AVX2:
        return ek_list_sums_avx2;
#elif defined(__aarch64__)
    case EK_ISA_NEON:
        return ek_list_sums_neon;
#endif
    default:
        return ek_list_sums_portable;
    }
}

void ek_list_sums_compute(struct ek_list_sums *s, const float *x, int rows, const float *pivot)
{
    ek_list_sums_fn_get(ek_isa_best())(s, x, rows, pivot);
}
