#include "num/list_moments.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"
#include "num/list_moments_isa.h"

#include <limits.h>
#include <string.h>

enum { ARRAYS = 8, PADDING = 16, WEIGHT_SEED = 1 };

int ek_list_moments_new(struct ek_list_moments **out, int features)
{
    if (features < 1 || features > INT_MAX - PADDING)
        return EK_ELIMIT;
    int padded = (features + PADDING - 1) / PADDING * PADDING;
    struct ek_list_moments *s = ek_calloc(1, sizeof *s);
    if (!s)
        return EK_ENOMEM;
    float *m = s->memory = ek_calloc_aligned((size_t)padded * ARRAYS, sizeof *m);
    s->weight = ek_calloc((size_t)features, sizeof *s->weight);
    if (!m || !s->weight) {
        ek_list_moments_free(s);
        return EK_ENOMEM;
    }
    struct ek_rng rng;
    ek_rng_seed(&rng, WEIGHT_SEED);
    for (int f = 0; f < features; f++)
        s->weight[f] = ek_rng_u64(&rng) | 1;
    float **arrays[ARRAYS] = {&s->ln,      &s->ln2,      &s->usable,   &s->zero,
                              &s->missing, &s->negative, &s->infinite, &s->tied};
    for (int i = 0; i < ARRAYS; i++)
        *arrays[i] = m + (size_t)i * (size_t)padded;
    s->features = features;
    s->padded = padded;
    *out = s;
    return EK_OK;
}

/* Return a hash of the values of a row. */
static uint64_t hash_row(const struct ek_list_moments *s, const float *row)
{
    uint64_t sum = 0;
    for (int f = 0; f < s->features; f++) {
        uint32_t bits;
        memcpy(&bits, row + f, sizeof bits);
        sum += bits * s->weight[f];
    }
    return sum;
}

/* Finalizer of splitmix64 (Vigna). */
static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
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
    size_t at = mix(hash) & (slots - 1);
    while (s->table[at].rows && s->table[at].hash != hash)
        at = (at + 1) & (slots - 1);
    s->table[at].hash = hash;
    return s->table[at].rows++;
}

/* Select the rows with the smallest keys. The key of a row is a hash of its values and of the
 * number of equal rows before it, so the values of the selected rows depend on no order. Without
 * memory for the count equal rows are selected together. */
static void pick_by_hash(struct ek_list_moments *s, const float *x, int rows)
{
    uint64_t smallest[EK_PICKS_MAX];
    size_t slots = clear_table(s, rows);
    s->picks = 0;
    for (int r = 0; r < rows; r++) {
        uint64_t hash = hash_row(s, x + (size_t)r * (size_t)s->features);
        uint64_t key = mix(hash + (slots ? count_row(s, slots, hash) * s->weight[0] : 0));
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
    ek_free(s->weight);
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
