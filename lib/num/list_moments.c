#include "num/list_moments.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "num/list_moments_isa.h"

#include <limits.h>
#include <string.h>

enum { ARRAYS = 7, PADDING = 16 };

int ek_list_moments_new(struct ek_list_moments **out, int features)
{
    if (features < 1 || features > INT_MAX - PADDING)
        return EK_ELIMIT;
    int padded = (features + PADDING - 1) / PADDING * PADDING;
    struct ek_list_moments *s = ek_calloc(1, sizeof *s);
    if (!s)
        return EK_ENOMEM;
    float *m = s->memory = ek_calloc_aligned((size_t)padded * ARRAYS, sizeof *m);
    if (!m) {
        ek_list_moments_free(s);
        return EK_ENOMEM;
    }
    float **arrays[ARRAYS] = {&s->ln,      &s->ln2,      &s->usable, &s->zero,
                              &s->missing, &s->negative, &s->tied};
    for (int i = 0; i < ARRAYS; i++)
        *arrays[i] = m + (size_t)i * (size_t)padded;
    s->features = features;
    s->padded = padded;
    *out = s;
    return EK_OK;
}

/* Empty the table of rows, for `rows` of them. Return its slots, a power of two; 0 if out of
 * memory. */
static size_t clear_table(struct ek_list_moments *s, int rows)
{
    size_t slots = 4 * EK_PICKS_MAX;
    while (slots < 2 * (size_t)rows)
        slots *= 2;
    if (slots > s->slots) {
        struct ek_row_count *table = ek_realloc(s->table, slots, sizeof *table);
        if (!table)
            return 0;
        s->table = table;
        s->slots = slots;
    }
    memset(s->table, 0, slots * sizeof *s->table);
    return slots;
}

/* Count a row and return the number of equal rows before it. */
static uint64_t count_row(struct ek_list_moments *s, size_t slots, uint64_t hash)
{
    size_t at = hash & (slots - 1);
    while (s->table[at].rows && s->table[at].hash != hash)
        at = (at + 1) & (slots - 1);
    s->table[at].hash = hash;
    return s->table[at].rows++;
}

/* Return a number that depends on the values, but not on their order. */
static uint64_t sum_values(const float *x, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        sum += bits;
    }
    return sum;
}

/* Select the rows with the smallest keys. The key of a row is a hash of its values, of the number
 * of equal rows before it and of the sum of the list, so the values of the selected rows depend on
 * no order, and lists of the same few rows select different ones. Without memory for the count
 * equal rows are selected together. */
static void pick_by_hash(struct ek_list_moments *s, const float *x, int rows)
{
    uint64_t smallest[EK_PICKS_MAX];
    size_t width = (size_t)s->features, slots = clear_table(s, rows);
    uint64_t sum = sum_values(x, (size_t)rows * width);
    s->picks = 0;
    for (int r = 0; r < rows; r++) {
        uint64_t hash = ek_hash(x + (size_t)r * width, width * sizeof *x, 0);
        uint64_t of[] = {hash, slots ? count_row(s, slots, hash) : 0};
        uint64_t key = ek_hash(of, sizeof of, sum);
        int at = s->picks;
        if (at == EK_PICKS_MAX && key >= smallest[--at])
            continue;
        for (; at > 0 && smallest[at - 1] > key; at--) {
            smallest[at] = smallest[at - 1];
            s->pick[at] = s->pick[at - 1];
        }
        smallest[at] = key;
        s->pick[at] = r;
        s->picks += s->picks < EK_PICKS_MAX;
    }
}

void ek_list_moments_pick(struct ek_list_moments *s, const float *x, int rows)
{
    if (rows > EK_PICKS_MAX) {
        pick_by_hash(s, x, rows);
        return;
    }
    s->picks = rows;
    for (int i = 0; i < rows; i++)
        s->pick[i] = i;
}

void ek_list_moments_free(struct ek_list_moments *s)
{
    if (!s)
        return;
    ek_free(s->table);
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

/* Reference kernel in plain C, one feature at a time. All other kernels must return the same bits.
 */

struct sums {
    float ln, ln2;
    int zero, missing, negative;
};

static float float_of(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float ln_about(int32_t magnitude, float pivot)
{
    int32_t x = magnitude - EK_BITS_SQRT_HALF;
    float exponent = (float)(x >> 23);
    float t = float_of((x & EK_BITS_MANTISSA) + EK_BITS_SQRT_HALF) - 1.f;
    float q = t * EK_LN_C7 + EK_LN_C6;
    q = q * t + EK_LN_C5;
    q = q * t + EK_LN_C4;
    q = q * t + EK_LN_C3;
    q = q * t + EK_LN_C2;
    float small = (q * t) * t + (exponent * EK_LN2_LOW + t);
    return (exponent * EK_LN2_HIGH - pivot) + small;
}

static void add_value(struct sums *s, int32_t bits, float pivot)
{
    int32_t magnitude = bits & EK_BITS_MAGNITUDE;
    if (magnitude >= EK_BITS_INF) {
        s->missing++;
    } else if (magnitude < EK_BITS_NORMAL) {
        s->zero++;
    } else {
        float ln = ln_about(magnitude, pivot);
        s->ln += ln;
        s->ln2 += ln * ln;
        s->negative += bits < 0;
    }
}

static int32_t bits_at(const struct ek_list_moments *s, const float *x, int row, int feature)
{
    int32_t bits;
    memcpy(&bits, x + (size_t)row * (size_t)s->features + feature, sizeof bits);
    return bits;
}

static float ties_of(const struct ek_list_moments *s, const float *x, int feature, int present)
{
    int pairs = 0, picked = 0;
    for (int a = 0; a < s->picks; a++) {
        int32_t bits = bits_at(s, x, s->pick[a], feature);
        if ((bits & EK_BITS_MAGNITUDE) >= EK_BITS_INF)
            continue;
        picked++;
        for (int b = 0; b < a; b++)
            pairs += bits == bits_at(s, x, s->pick[b], feature);
    }
    return picked > 1 ? (float)pairs * (float)(present - 1) / (float)(picked * (picked - 1) / 2)
                      : 0;
}

void ek_list_moments_scalar(struct ek_list_moments *to, const float *x, int rows,
                            const float *pivot)
{
    ek_list_moments_pick(to, x, rows);
    for (int f = 0; f < to->features; f++) {
        struct sums s = {0};
        for (int r = 0; r < rows; r++)
            add_value(&s, bits_at(to, x, r, f), pivot[f]);
        to->ln[f] = s.ln;
        to->ln2[f] = s.ln2;
        to->usable[f] = (float)(rows - s.zero - s.missing);
        to->zero[f] = (float)s.zero;
        to->missing[f] = (float)s.missing;
        to->negative[f] = (float)s.negative;
        to->tied[f] = ties_of(to, x, f, rows - s.missing);
    }
}
