#include "data/codec_inner.h"

#include "num/isa.h"

#include <math.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Tags are checked apart from the values, so that both loops run without branches. */
enum { BLOCK = 16, FLOAT32_BYTES = 5, FLOAT64_BYTES = 9 };

size_t ek_swap_portable(const uint8_t *p, float *out, size_t count)
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

#if defined(__x86_64__)
/* Six elements a step: three in each half of a register, turned round by one shuffle, the empty
 * fourth places closed by a second. The tag of the element behind each three is loaded along. */
__attribute__((target("avx2"))) size_t ek_swap_avx2(const uint8_t *p, float *out, size_t count)
{
    enum { STEP = 6, HALF_BYTES = 15, TAGS = 0x0421, ROOM = 8 };
    const __m256i tag = _mm256_set1_epi8((char)EK_TAG_FLOAT32);
    const __m256i turn = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(4, 3, 2, 1, 9, 8, 7, 6, 14, 13, 12, 11, -1, -1, -1, -1));
    const __m256i close = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    size_t i = 0;
    while (count - i >= ROOM) { /* 8 values are stored and 31 bytes read */
        __m256i v = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)p)),
            _mm_loadu_si128((const __m128i *)(const void *)(p + HALF_BYTES)), 1);
        unsigned same = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, tag));
        __m256i turned = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(v, turn), close);
        _mm256_storeu_si256((__m256i *)(void *)(out + i), turned);
        unsigned other = ~same & (TAGS | (unsigned)TAGS << 16);
        if (other) {
            unsigned bit = (unsigned)__builtin_ctz(other);
            return i + (bit < 16 ? bit / FLOAT32_BYTES : 3 + (bit - 16) / FLOAT32_BYTES);
        }
        i += STEP;
        p += STEP * FLOAT32_BYTES;
    }
    return i + ek_swap_portable(p, out + i, count - i);
}
#else
size_t ek_swap_avx2(const uint8_t *p, float *out, size_t count)
{
    return ek_swap_portable(p, out, count);
}
#endif

ek_swap_fn *ek_swap_best(void)
{
    return ek_isa_has(EK_ISA_AVX2) ? ek_swap_avx2 : ek_swap_portable;
}

size_t ek_swap_float64(const uint8_t *p, float *out, size_t count)
{
    size_t i = 0;
    for (; i < count && *p == EK_TAG_FLOAT64; i++, p += FLOAT64_BYTES)
        out[i] = (float)ek_double_of_bits(ek_load_be64(p + 1));
    return i;
}
