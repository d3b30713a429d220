#include "num/sketch_internal.h"

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
