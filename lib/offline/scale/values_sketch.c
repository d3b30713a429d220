/* What values a sketch may have come from: see values.h. */
#include "offline/scale/values.h"

#include "base/alloc.h"

#include <math.h>

/* A step is believed when values without one would have looked so by chance less often than this,
 * over all steps that are tried. */
static const double BELIEVED_LN = -15;
/* Multiples are formed in doubles of floats: what is nearer to an end of a bucket than this, as a
 * share of the value, is on it. */
static const double SLACK = 1e-7;

/* Values that vary freely fill neighbouring buckets alike, up to this factor. */
static const double SMOOTH = 2;

enum { DECADE_LEAST = -9, DECADE_MOST = 9 };

/* One bucket of values other than zero, by magnitude. */
struct bucket {
    double low, high; /* of |x|: low <= |x| < high */
    double count;
    double beside; /* of the fuller of its two neighbours */
};

/* Of a key of magnitude, 0 .. EK_SKETCH_INF: the values that begin it. The pattern of a float is
 * its key with 17 bits behind. */
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
    b.beside = fmax(below, above);
    return b;
}

/* Keys 0, those of one sign up, or of the other: *key is the next that has values. */
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

/* How many multiples of a step a bucket has; the least of them in *first. */
static double multiples(const struct bucket *b, double step, double *first)
{
    double from = ceil(b->low / step * (1 - SLACK));
    double upto = ceil(b->high / step * (1 - SLACK)) - 1;
    *first = from * step;
    return upto - from + 1;
}

/* ln of the chance that values of no step would only be in buckets that have a multiple; 1 when
 * one is in another. */
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

/* The largest round step that all values are multiples of, 0 when there is none. */
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
    double most = fmin(b->count, 1 + SMOOTH * b->beside);
    return m >= 1 ? fmax(1, fmin(most, m * -expm1(-b->count / m))) : most;
}

/* The number in a bucket that takes the fewest decimals to write: what a lone value is likely to
 * be. */
static double roundest(const struct bucket *b)
{
    double first, step = pow(10, floor(log10(b->high)));
    while (multiples(b, step, &first) < 1)
        step /= 10;
    return first;
}

/* Number i of `parts` values of a bucket, by rising magnitude. */
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

int ek_values_of_sketch(struct ek_values *out, const struct ek_sketch *s, struct ek_error *e)
{
    size_t buckets = 1;
    for (int key = 0; next(s, &key);)
        buckets++;
    struct ek_values v = {.value = ek_calloc(buckets * EK_VALUES_PER_BUCKET, sizeof *v.value)};
    if (!v.value)
        return ek_fail(e, EK_ENOMEM, "no memory for the values of %zu buckets", buckets);
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
