#include "lists/codec_internal.h"
#include "num/isa.h"

#include <math.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Tags are checked separately from values, so that both loops run without branches. */
enum { BLOCK = 16, FLOAT32_BYTES = 5, FLOAT64_BYTES = 9 };

/* Rest of a row. A reader never reads at or after `end` and never writes after out[count - 1]. */
struct row {
    const uint8_t *p, *end;
    float *out;
    size_t count; /* remaining elements */
};

static size_t reserve_for(const struct row *r, size_t bytes)
{
    size_t whole = (size_t)(r->end - r->p) / bytes;
    return r->count < whole ? r->count : whole;
}

static void pass(struct row *r, size_t elements, size_t bytes)
{
    r->p += elements * bytes;
    r->out += elements;
    r->count -= elements;
}

static bool swap_nil(struct row *r)
{
    if (!r->count || r->p == r->end || *r->p != EK_TAG_NIL)
        return false;
    *r->out = NAN;
    pass(r, 1, 1);
    return true;
}

/* Read float32 one by one. */
static inline void swap_floats(struct row *r)
{
    for (size_t room = reserve_for(r, FLOAT32_BYTES); room && *r->p == EK_TAG_FLOAT32; room--) {
        *r->out = ek_float_from_bits(ek_load_be32(r->p + 1));
        pass(r, 1, FLOAT32_BYTES);
    }
}

static void swap_float32(struct row *r)
{
    for (size_t room = reserve_for(r, FLOAT32_BYTES); room >= BLOCK;
         room -= BLOCK, pass(r, BLOCK, FLOAT32_BYTES)) {
        unsigned other = 0;
        for (int j = 0; j < BLOCK; j++)
            other |= r->p[FLOAT32_BYTES * j] ^ EK_TAG_FLOAT32;
        if (other)
            break;
        for (int j = 0; j < BLOCK; j++)
            r->out[j] = ek_float_from_bits(ek_load_be32(r->p + FLOAT32_BYTES * j + 1));
    }
    swap_floats(r);
}

static void swap_float64(struct row *r)
{
    for (size_t room = reserve_for(r, FLOAT64_BYTES); room && *r->p == EK_TAG_FLOAT64; room--) {
        *r->out = (float)ek_double_from_bits(ek_load_be64(r->p + 1));
        pass(r, 1, FLOAT64_BYTES);
    }
}

/* Return the bytes of an integer with this tag, tag included; 0 for other tags. */
static size_t whole_bytes(uint8_t tag)
{
    if (tag < EK_TAG_SHORT_MAP || tag >= EK_TAG_SHORT_NEGATIVE)
        return 1;
    if (tag < EK_TAG_UINT8 || tag > EK_TAG_INT64)
        return 0;
    return 1 + ((size_t)1 << (tag - EK_TAG_UINT8) % 4);
}

static float whole_of(const uint8_t *p)
{
    switch (*p) {
    case EK_TAG_UINT8:
        return (float)p[1];
    case EK_TAG_UINT8 + 1:
        return (float)((unsigned)p[1] << 8 | p[2]);
    case EK_TAG_UINT8 + 2:
        return (float)ek_load_be32(p + 1);
    case EK_TAG_UINT8 + 3:
        return (float)(double)ek_load_be64(p + 1);
    case EK_TAG_INT8:
        return (float)(int8_t)p[1];
    case EK_TAG_INT8 + 1:
        return (float)(int16_t)((unsigned)p[1] << 8 | p[2]);
    case EK_TAG_INT8 + 2:
        return (float)(int32_t)ek_load_be32(p + 1);
    case EK_TAG_INT64:
        return (float)(double)(int64_t)ek_load_be64(p + 1);
    default:
        return (float)(int8_t)*p;
    }
}

static void swap_whole(struct row *r)
{
    size_t bytes;
    while (r->count && r->p < r->end && (bytes = whole_bytes(*r->p)) &&
           bytes <= (size_t)(r->end - r->p)) {
        *r->out = whole_of(r->p);
        pass(r, 1, bytes);
    }
}

typedef void swap_fn(struct row *r);

/* Read runs of one float type and of integers, with nil between them, until another tag follows. */
__attribute__((always_inline)) static inline size_t swap_runs(struct row r, const uint8_t **p,
                                                              swap_fn *take, swap_fn *whole)
{
    size_t all = r.count, before;
    do {
        do
            take(&r);
        while (swap_nil(&r));
        before = r.count;
        whole(&r);
    } while (r.count < before);
    *p = r.p;
    return all - r.count;
}

size_t ek_swap_portable(const uint8_t **p, const uint8_t *end, float *out, size_t count)
{
    return swap_runs((struct row){*p, end, out, count}, p, swap_float32, swap_whole);
}

size_t ek_swap64_portable(const uint8_t **p, const uint8_t *end, float *out, size_t count)
{
    return swap_runs((struct row){*p, end, out, count}, p, swap_float64, swap_whole);
}

#if defined(__x86_64__)
#define EK_AVX2 __attribute__((target("avx2"), always_inline)) static inline

enum { STEP = 6, HALF_BYTES = 15, ROOM = 8, READ_BYTES = 32 };

/* Value of the four bytes after a tag; `sign` is -1 for signed integers. */
typedef __m256 meaning_fn(__m256i bits, __m256i sign);

EK_AVX2 __m256 as_float32(__m256i bits, __m256i sign)
{
    (void)sign;
    return _mm256_castsi256_ps(bits);
}

/* Each half of an integer is exact as a float, also the scaled upper half, so only their sum is
 * rounded. */
EK_AVX2 __m256 as_whole(__m256i bits, __m256i sign)
{
    __m256i minus = _mm256_and_si256(_mm256_srai_epi32(bits, 31), sign);
    __m256i high = _mm256_or_si256(_mm256_srli_epi32(bits, 16), _mm256_slli_epi32(minus, 16));
    __m256i low = _mm256_and_si256(bits, _mm256_set1_epi32(0xffff));
    return _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(high), _mm256_set1_ps(65536)),
                         _mm256_cvtepi32_ps(low));
}

/* Read six elements of five bytes: three per register half, byte-swapped by one shuffle and packed
 * by a second. The load includes the next tag. Writes eight values and returns the bytes that have
 * another tag, as bits. */
EK_AVX2 unsigned six(const uint8_t *p, float *out, __m256i tag, meaning_fn *meaning, __m256i sign)
{
    enum { TAGS = 0x0421 };
    const __m256i turn = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(4, 3, 2, 1, 9, 8, 7, 6, 14, 13, 12, 11, -1, -1, -1, -1));
    const __m256i close = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    __m256i v = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)p)),
        _mm_loadu_si128((const __m128i *)(const void *)(p + HALF_BYTES)), 1);
    unsigned same = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, tag));
    __m256i turned = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(v, turn), close);
    _mm256_storeu_ps(out, meaning(turned, sign));
    return ~same & (TAGS | (unsigned)TAGS << 16);
}

/* Return the groups of six that may be read and written with the room of eight. */
static inline size_t groups_of(const struct row *r)
{
    size_t left = (size_t)(r->end - r->p);
    if (r->count < ROOM || left < READ_BYTES)
        return 0;
    size_t out = (r->count - (ROOM - STEP)) / STEP;
    size_t in = (left - (READ_BYTES - STEP * FLOAT32_BYTES)) / (STEP * FLOAT32_BYTES);
    return in < out ? in : out;
}

/* Read groups of six and nil while eight values can be written. */
EK_AVX2 void swap_sixes(struct row *row, uint8_t tag, meaning_fn *meaning, __m256i sign)
{
    /* Element of the first different tag, by byte. A table instead of a branch, because nil is
     * unpredictable. */
    static const uint8_t numbers[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2,
                                      3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5};
    const __m256i tags = _mm256_set1_epi8((char)tag);
    struct row r = *row;
    for (;;) {
        unsigned other = 0;
        size_t groups = groups_of(&r);
        for (; groups && !(other = six(r.p, r.out, tags, meaning, sign)); groups--)
            pass(&r, STEP, FLOAT32_BYTES);
        if (!groups)
            break;
        pass(&r, numbers[__builtin_ctz(other)], FLOAT32_BYTES);
        if (!swap_nil(&r))
            break;
    }
    *row = r;
}

/* Separate functions, so that no other code runs while the upper register halves are in use. */
__attribute__((target("avx2"), noinline)) static void swap_float32_sixes(struct row *r)
{
    swap_sixes(r, EK_TAG_FLOAT32, as_float32, _mm256_setzero_si256());
}

__attribute__((target("avx2"), noinline)) static void swap_whole_sixes(struct row *r)
{
    uint8_t tag = *r->p;
    swap_sixes(r, tag, as_whole, _mm256_set1_epi32(tag == EK_TAG_INT32 ? -1 : 0));
}

static void swap_float32_avx2(struct row *r)
{
    swap_float32_sixes(r);
    swap_floats(r);
}

static void swap_whole_avx2(struct row *r)
{
    if (r->count && r->p < r->end && (*r->p == EK_TAG_UINT32 || *r->p == EK_TAG_INT32))
        swap_whole_sixes(r);
    swap_whole(r);
}

size_t ek_swap_avx2(const uint8_t **p, const uint8_t *end, float *out, size_t count)
{
    return swap_runs((struct row){*p, end, out, count}, p, swap_float32_avx2, swap_whole_avx2);
}

/* Read four elements: byte-swap eight bytes each, and convert four doubles to floats. */
__attribute__((target("avx2"), noinline)) static void swap_fours(struct row *r)
{
    enum { AT_ONCE = 4, B = FLOAT64_BYTES };
    const __m256i turn = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    size_t room = reserve_for(r, B);
    for (; room >= AT_ONCE; room -= AT_ONCE, pass(r, AT_ONCE, B)) {
        const uint8_t *p = r->p;
        unsigned other = (p[0] ^ EK_TAG_FLOAT64) | (p[B] ^ EK_TAG_FLOAT64) |
                         (p[2 * B] ^ EK_TAG_FLOAT64) | (p[3 * B] ^ EK_TAG_FLOAT64);
        if (other)
            break;
        __m256i v = _mm256_set_epi64x(
            (long long)ek_load_word(p + 3 * B + 1), (long long)ek_load_word(p + 2 * B + 1),
            (long long)ek_load_word(p + B + 1), (long long)ek_load_word(p + 1));
        __m256d values = _mm256_castsi256_pd(_mm256_shuffle_epi8(v, turn));
        _mm_storeu_ps(r->out, _mm256_cvtpd_ps(values));
    }
}

static void swap_float64_avx2(struct row *r)
{
    swap_fours(r);
    swap_float64(r);
}

size_t ek_swap64_avx2(const uint8_t **p, const uint8_t *end, float *out, size_t count)
{
    return swap_runs((struct row){*p, end, out, count}, p, swap_float64_avx2, swap_whole);
}
#else
size_t ek_swap_avx2(const uint8_t **p, const uint8_t *end, float *out, size_t count)
{
    return ek_swap_portable(p, end, out, count);
}

size_t ek_swap64_avx2(const uint8_t **p, const uint8_t *end, float *out, size_t count)
{
    return ek_swap64_portable(p, end, out, count);
}
#endif

ek_swap_fn *ek_swap_best(void)
{
    return ek_isa_best() >= EK_ISA_AVX2 ? ek_swap_avx2 : ek_swap_portable;
}

ek_swap_fn *ek_swap64_best(void)
{
    return ek_isa_best() >= EK_ISA_AVX2 ? ek_swap64_avx2 : ek_swap64_portable;
}
