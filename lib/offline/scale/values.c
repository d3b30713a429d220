/* Values of a column, and values estimated from a sketch (values.h). */
#include "offline/scale/values.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 3, BINS = 1 << DIGIT_BITS };

/* Map the pattern of a float to an unsigned number of the same order: flip all bits of a negative
 * one, else the sign bit. */
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

/* Sort rank [n] into other [n]; `rank` is overwritten. */
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

int ek_values_from_column(struct ek_values *out, const float *x, size_t rows, size_t stride,
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
        return ek_fail(e, rc, "out of memory");
    *out = v;
    return EK_OK;
}

void ek_values_release(struct ek_values *v)
{
    ek_free(v->value);
    *v = (struct ek_values){0};
}

/* Largest ln probability, over all tried steps, at which a step is accepted. */
static const double BELIEVED_LN = -15;
/* Relative tolerance for a multiple at the edge of a bucket, because edges are floats and multiples
 * doubles. */
static const double SLACK = 1e-7;

/* Largest ratio of adjacent bucket counts for continuous values. */
static const double SMOOTH = 2;

enum { DECADE_LEAST = -9, DECADE_MOST = 9 };

/* Bucket of nonzero values, by magnitude. */
struct bucket {
    double low, high; /* low <= |x| < high */
    double count;
    double neighbor; /* count of its fuller neighbor */
};

/* Return the first value of a magnitude key, 0 .. EK_SKETCH_INF. A key is a float pattern without
 * its last 17 bits. */
static double key_begin(int key)
{
    int exponent = key >> 6, mantissa = key & 63;
    return exponent ? ldexp(1 + mantissa / 64.0, exponent - 127) : ldexp(mantissa / 64.0, -126);
}

static struct bucket bucket_of(const struct ek_sketch *s, int key)
{
    int size = key & (EK_SKETCH_NEG_ZERO - 1);
    struct bucket b = {.low = key_begin(size), .high = key_begin(size + 1)};
    b.count = (double)ek_sketch_count(s, (uint16_t)key);
    double below = size > 1 ? (double)ek_sketch_count(s, (uint16_t)(key - 1)) : 0;
    double above = size + 1 < EK_SKETCH_INF ? (double)ek_sketch_count(s, (uint16_t)(key + 1)) : 0;
    b.neighbor = fmax(below, above);
    return b;
}

/* Set *key to the next key with values: 0, then one sign in ascending order, then the other. Return
 * false at the end. */
static bool next(const struct ek_sketch *s, int *key)
{
    for (int k = *key + 1; k < EK_SKETCH_NEG_INF; k++) {
        if (k == EK_SKETCH_INF)
            k = EK_SKETCH_NEG_ZERO + 1;
        if (ek_sketch_count(s, (uint16_t)k)) {
            *key = k;
            return true;
        }
    }
    return false;
}

/* Return the number of multiples of a step in a bucket, and set *first to the smallest. */
static double multiples(const struct bucket *b, double step, double *first)
{
    double from = ceil(b->low / step * (1 - SLACK));
    double up_to = ceil(b->high / step * (1 - SLACK)) - 1;
    *first = from * step;
    return up_to - from + 1;
}

/* Return the ln probability that continuous values fall only into buckets with a multiple. Return 1
 * if a value is in another bucket. */
static double chance_ln(const struct ek_sketch *s, double step)
{
    double sum = 0, first;
    for (int key = 0; next(s, &key);) {
        struct bucket b = bucket_of(s, key);
        if (multiples(&b, step, &first) < 1)
            return 1;
        if (b.high - b.low < step)
            sum += log((b.high - b.low) / step);
    }
    return sum;
}

/* Return the largest round step of which all values are multiples, or 0. */
static double find_step(const struct ek_sketch *s)
{
    static const double ROUND[] = {5, 2.5, 2, 1};
    for (int decade = DECADE_MOST; decade >= DECADE_LEAST; decade--)
        for (size_t i = 0; i < sizeof ROUND / sizeof *ROUND; i++) {
            double step = ROUND[i] * pow(10, decade), ln = chance_ln(s, step);
            if (ln < BELIEVED_LN)
                return step;
        }
    return 0;
}

static double unique_in(const struct bucket *b, double step)
{
    double first, m = step > 0 ? multiples(b, step, &first) : 0;
    double most = fmin(b->count, 1 + SMOOTH * b->neighbor);
    return m >= 1 ? fmax(1, fmin(most, m * -expm1(-b->count / m))) : most;
}

/* Return the number with the fewest decimals in a bucket, the most likely single value. */
static double roundest(const struct bucket *b)
{
    double first, step = pow(10, floor(log10(b->high)));
    while (multiples(b, step, &first) < 1)
        step /= 10;
    return first;
}

/* Return value i of `parts` values of a bucket, in ascending order of magnitude. */
static double place(const struct bucket *b, double step, double m, int i, int parts)
{
    double first;
    if (m >= 1 && m <= EK_VALUES_PER_BUCKET && multiples(b, step, &first) >= 1)
        return first + i * step;
    return parts > 1 ? b->low + (i + .5) / parts * (b->high - b->low) : roundest(b);
}

static void add(struct ek_values *v, const struct ek_sketch *s, int key)
{
    if (!ek_sketch_count(s, (uint16_t)key))
        return;
    struct bucket b = bucket_of(s, key);
    double first, unique = unique_in(&b, v->step);
    double m = v->step > 0 ? multiples(&b, v->step, &first) : 0;
    int parts = (int)fmin(ceil(unique > 1 && m >= 1 ? m : unique), EK_VALUES_PER_BUCKET);
    for (int i = 0; i < parts; i++) {
        bool negative = key >= EK_SKETCH_NEG_ZERO;
        double x = place(&b, v->step, m, negative ? parts - 1 - i : i, parts);
        v->value[v->entries++] =
            (struct ek_value){(float)(negative ? -x : x), (float)(unique / parts), b.count / parts};
    }
    v->unique += unique;
    v->count += b.count;
}

static void add_zero(struct ek_values *v, const struct ek_sketch *s)
{
    double n = (double)(ek_sketch_count(s, 0) + ek_sketch_count(s, EK_SKETCH_NEG_ZERO));
    if (!(n > 0))
        return;
    v->value[v->entries++] = (struct ek_value){0, 1, n};
    v->unique++;
    v->count += n;
}

int ek_values_from_sketch(struct ek_values *out, const struct ek_sketch *s, struct ek_error *e)
{
    size_t buckets = 1;
    for (int key = 0; next(s, &key);)
        buckets++;
    struct ek_values v = {.value = ek_calloc(buckets * EK_VALUES_PER_BUCKET, sizeof *v.value)};
    if (!v.value)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    v.step = find_step(s);
    for (int key = EK_SKETCH_NEG_INF - 1; key > EK_SKETCH_NEG_ZERO; key--)
        add(&v, s, key);
    add_zero(&v, s);
    for (int key = 1; key < EK_SKETCH_INF; key++)
        add(&v, s, key);
    v.missing = ek_sketch_total(s) - (uint64_t)v.count;
    *out = v;
    return EK_OK;
}
