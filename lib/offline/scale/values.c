#include "offline/scale/values.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 3, BINS = 1 << DIGIT_BITS };

/* Patterns of floats in the order of their values, as unsigned numbers: of negative ones all bits
 * are turned, of the others the sign. */
static uint32_t rank_of(float x)
{
    uint32_t bits;
    x += 0.0F; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x80000000U ? ~bits : bits | 0x80000000U;
}

static float value_of(uint32_t rank)
{
    uint32_t bits = rank & 0x80000000U ? rank & 0x7fffffffU : ~rank;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void sort_by_digit(const uint32_t *from, uint32_t *to, size_t n, int shift)
{
    size_t start[BINS + 1] = {0};
    for (size_t i = 0; i < n; i++)
        start[(from[i] >> shift & (BINS - 1)) + 1]++;
    for (int b = 0; b < BINS; b++)
        start[b + 1] += start[b];
    for (size_t i = 0; i < n; i++)
        to[start[from[i] >> shift & (BINS - 1)]++] = from[i];
}

/* Sorted into `other`; both are [n]. */
static void sort(uint32_t *rank, uint32_t *other, size_t n)
{
    sort_by_digit(rank, other, n, 0);
    sort_by_digit(other, rank, n, DIGIT_BITS);
    sort_by_digit(rank, other, n, 2 * DIGIT_BITS);
}

static size_t count_different(const uint32_t *sorted, size_t n)
{
    size_t different = n > 0;
    for (size_t i = 1; i < n; i++)
        different += sorted[i] != sorted[i - 1];
    return different;
}

static int gather(struct ek_values *v, const uint32_t *sorted, size_t n)
{
    size_t different = count_different(sorted, n);
    v->value = ek_calloc(different, sizeof *v->value);
    if (!v->value)
        return EK_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (!i || sorted[i] != sorted[i - 1])
            v->value[v->entries++] = (struct ek_value){value_of(sorted[i]), 1, 0};
        v->value[v->entries - 1].count++;
    }
    v->unique = (double)different;
    v->count = (double)n;
    return EK_OK;
}

int ek_values_of_column(struct ek_values *out, const float *x, size_t rows, size_t stride,
                        struct ek_error *e)
{
    struct ek_values v = {.exact = true};
    uint32_t *rank = ek_calloc(rows, sizeof *rank), *other = ek_calloc(rows, sizeof *other);
    int rc = rank && other ? EK_OK : EK_ENOMEM;
    size_t n = 0;
    for (size_t i = 0; !rc && i < rows; i++)
        if (isfinite(x[i * stride]))
            rank[n++] = rank_of(x[i * stride]);
    v.missing = rows - n;
    if (!rc) {
        sort(rank, other, n);
        rc = gather(&v, other, n);
    }
    ek_free(rank);
    ek_free(other);
    if (rc)
        return ek_fail(e, rc, "no memory to sort %zu values", rows);
    *out = v;
    return EK_OK;
}

void ek_values_release(struct ek_values *v)
{
    ek_free(v->value);
    *v = (struct ek_values){0};
}
