#include "data/codec_inner.h"

/* Tags are checked apart from the values, so that both loops run without branches. */
enum { BLOCK = 16, FLOAT32_BYTES = 5, FLOAT64_BYTES = 9 };

size_t ek_swap_float32(const uint8_t *p, float *out, size_t count)
{
    size_t i = 0;
    for (; count - i >= BLOCK; i += BLOCK, p += BLOCK * FLOAT32_BYTES) {
        unsigned other = 0;
        for (int j = 0; j < BLOCK; j++)
            other |= p[FLOAT32_BYTES * j] ^ EK_TAG_FLOAT32;
        if (other)
            break;
        for (int j = 0; j < BLOCK; j++)
            out[i + (size_t)j] = ek_float_of_bits(ek_load_be32(p + FLOAT32_BYTES * j + 1));
    }
    for (; i < count && *p == EK_TAG_FLOAT32; i++, p += FLOAT32_BYTES)
        out[i] = ek_float_of_bits(ek_load_be32(p + 1));
    return i;
}

size_t ek_swap_float64(const uint8_t *p, float *out, size_t count)
{
    size_t i = 0;
    for (; i < count && *p == EK_TAG_FLOAT64; i++, p += FLOAT64_BYTES)
        out[i] = (float)ek_double_of_bits(ek_load_be64(p + 1));
    return i;
}
