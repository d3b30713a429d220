#include "num/sketch_internal.h"

uint16_t ek_sketch_hot_index(float x)
{
    return (uint16_t)((ek_sketch_key(x) + EK_HOT_TURN) % EK_SKETCH_KEYS);
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

ek_sketch_keys_fn *ek_sketch_keys_of(enum ek_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case EK_ISA_AVX512:
        return ek_sketch_keys_avx512;
    case EK_ISA_AVX2:
        return ek_sketch_keys_avx2;
#elif defined(__aarch64__)
    case EK_ISA_NEON:
        return ek_sketch_keys_neon;
#endif
    default:
        return ek_sketch_keys_portable;
    }
}
