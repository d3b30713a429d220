/* Logarithm kernels for any vector width. The including file defines EK_LANES (of floats) and
 * EK_KERNEL.
 *
 * x = 2^e m with m in [sqrt(1/2), sqrt(2)). ek_ln_compute works in double: it uses s = (m - 1) / (m
 * + 1) and ln x = e ln 2 + 2 atanh s. The series of atanh ends with s^19; the relative remainder is
 * below 3e-17. The transforms work in float: octaves (ln.h) are e plus log2 m from a polynomial,
 * and both stay apart until the mean is subtracted, because their sum would lose bits.
 */
enum { LN_LANES = EK_LANES / 2, LN_ROWS = 256 /* rows whose sums of log2 m fit an int32 */ };
typedef double ln_d __attribute__((vector_size(LN_LANES * 8)));
typedef uint64_t ln_u __attribute__((vector_size(LN_LANES * 8)));
typedef float ln_f __attribute__((vector_size(EK_LANES * 4)));
typedef int32_t ln_i __attribute__((vector_size(EK_LANES * 4)));
typedef uint32_t ln_bits __attribute__((vector_size(EK_LANES * 4)));

#define LN_INLINE static inline __attribute__((always_inline))

#define LN_MANTISSA    0x000fffffffffffffu
#define LN_ONE         0x3ff0000000000000u /* bits of 1 */
#define LN_SQRT_HALF   0x3fe6a09e667f3bcdu /* bits of sqrt(1/2) */
#define LN_2_52        0x4330000000000000u /* bits of 2^52; any smaller integer fits its mantissa */
#define LN_LN2_HIGH    0x1.62e42fefap-1    /* exact when multiplied by an exponent */
#define LN_LN2_LOW     0x1.cf79abc9e3b39p-40
#define LN_INTEGER     0x1.8p52   /* adding and subtracting it rounds to an integer */
#define LN_SIZE_F      0x7fffffff /* magnitude bits of a float */
#define LN_INFINITE_F  0x7f800000
#define LN_MANTISSA_F  0x007fffff
#define LN_ONE_F       0x3f800000
#define LN_SQRT_HALF_F 0x3f3504f3
#define LN_NORMAL_F    0x00800000 /* bits of the smallest normal float */
/* log2 m + LN_PART is in [1, 2], where the bits count steps of 2^-23. */
#define LN_PART   1.5f
#define LN_PART_F 0x3fc00000

/* Load n values: LN_LANES, or the remainder. n is constant in the main loops. */
LN_INLINE ln_d ln_load(const double *p, size_t n)
{
    ln_d v = {0};
    memcpy(&v, p, n * sizeof *p);
    return v;
}

LN_INLINE void ln_store(double *p, ln_d v, size_t n)
{
    memcpy(p, &v, n * sizeof *p);
}

/* Set the exponent of x and return the bits of m above those of sqrt(1/2). */
LN_INLINE ln_u ln_fields(ln_d x, ln_d *e)
{
    /* This offset makes the mantissa wrap at sqrt(2). */
    ln_u bits = (ln_u)x + (LN_ONE - LN_SQRT_HALF);
    *e = (ln_d)((bits >> 52) | LN_2_52) - (0x1p52 + 1023);
    return bits & LN_MANTISSA;
}

LN_INLINE ln_d ln_lanes(ln_d x)
{
    ln_d e, m = (ln_d)(ln_fields(x, &e) + LN_SQRT_HALF);
    ln_d s = (m - 1) / (m + 1), s2 = s * s, twice = s + s;
    ln_d p = s2 * (1.0 / 19) + 1.0 / 17;
    p = p * s2 + 1.0 / 15;
    p = p * s2 + 1.0 / 13;
    p = p * s2 + 1.0 / 11;
    p = p * s2 + 1.0 / 9;
    p = p * s2 + 1.0 / 7;
    p = p * s2 + 1.0 / 5;
    p = p * s2 + 1.0 / 3;
    return e * LN_LN2_HIGH + (twice + (twice * s2 * p + e * LN_LN2_LOW));
}

LN_INLINE void ln_lanes_compute(const double *x, double *y, size_t n)
{
    ln_store(y, ln_lanes(ln_load(x, n)), n);
}

/* Load n floats: EK_LANES, or the remainder. n is constant in the main loops. */
LN_INLINE ln_i ln_load_f(const float *p, size_t n)
{
    ln_i v = {0};
    memcpy(&v, p, n * sizeof *p);
    return v;
}

LN_INLINE ln_i ln_select(ln_i mask, ln_i a, ln_i b)
{
    return (a & mask) | (b & ~mask);
}

/* Return log2 m for m = 1 + r in [sqrt(1/2), sqrt(2)), with an error below 5e-8. */
LN_INLINE ln_f ln_log2(ln_f r)
{
    ln_f r2 = r * r;
    ln_f even = ((r2 * -0x1.aab48ep-3f - 0x1.e90fd4p-3f) * r2 - 0x1.715de2p-2f) * r2;
    ln_f odd = ((r2 * 0x1.020c16p-3f + 0x1.ba957ap-3f) * r2 + 0x1.26c756p-2f) * r2;
    ln_f q = (even - 0x1.71546ep-1f) + r * (odd + 0x1.ec73fep-2f);
    return r + r * (r * q + 0x1.c551d9p-2f);
}

/* Set the exponent of x, a positive normal number, and return the bits of m. */
LN_INLINE ln_i ln_fields_f(ln_i x, ln_i *e)
{
    /* The mantissa wraps at sqrt(2). Unsigned: NaN may exceed the largest integer. */
    ln_i bits = (ln_i)((ln_bits)x + (uint32_t)(LN_ONE_F - LN_SQRT_HALF_F));
    *e = (bits >> 23) - 127;
    return (bits & LN_MANTISSA_F) + LN_SQRT_HALF_F;
}

/* Means of some columns, as an integer and the rest. */
struct ln_means {
    float whole[EK_LANES], rest[EK_LANES];
};

LN_INLINE double ln_floor(double x)
{
    double whole = x + LN_INTEGER - LN_INTEGER;
    return whole - (whole > x);
}

LN_INLINE void ln_split(struct ln_means *to, const double *mean, double octave, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double octaves = mean[i] * octave, whole = ln_floor(octaves);
        to->whole[i] = (float)whole;
        to->rest[i] = (float)(octaves - whole);
    }
}

LN_INLINE ln_f ln_scales(const double *scale, double octave, size_t n)
{
    float to[EK_LANES] = {0};
    for (size_t i = 0; i < n; i++)
        to[i] = (float)(scale[i] * octave);
    return (ln_f)ln_load_f(to, EK_LANES);
}

/* Return sgn(x) log2(1 + |x|) minus the mean. A small |x| is used as it is, because 1 + |x| is
 * rounded. */
LN_INLINE ln_f ln_signed_octaves(ln_i x, ln_f whole, ln_f rest)
{
    ln_i sign = x & ~LN_SIZE_F, size = x & LN_SIZE_F, e;
    ln_i m = ln_fields_f((ln_i)((ln_f)size + 1), &e);
    ln_f r = (ln_f)ln_select(e == 0, size, (ln_i)((ln_f)m - 1));
    ln_f exponent = (ln_f)((ln_i) __builtin_convertvector(e, ln_f) ^ sign);
    return (exponent - whole) + ((ln_f)((ln_i)ln_log2(r) ^ sign) - rest);
}

/* Transform columns [at, at + n) of all rows. */
LN_INLINE void ln_signed_columns(const struct ek_ln_rows *l, const double *mean,
                                 const double *scale, size_t at, size_t n)
{
    struct ln_means m = {{0}, {0}};
    ln_split(&m, mean + at, 1 / EK_LN_2, n);
    ln_f whole = (ln_f)ln_load_f(m.whole, EK_LANES), rest = (ln_f)ln_load_f(m.rest, EK_LANES);
    ln_f times = ln_scales(scale + at, EK_LN_2, n);
    const struct ek_ln_rows r = *l; /* local copy: stores to y cannot alias it */
    const float *x = r.x + at;
    float *y = r.y + at;
    for (size_t i = 0; i < r.rows; i++, x += r.x_stride, y += r.y_stride) {
        ln_i v = ln_load_f(x, n);
        ln_f octaves = ln_signed_octaves(v, whole, rest) * times;
        ln_i here = (ln_i)octaves & ((v & LN_SIZE_F) < LN_INFINITE_F);
        memcpy(y, &here, n * sizeof *y);
    }
}

/* Sums of some columns over the usable values; `part` of log2 m, in steps of 2^-23. */
struct ln_sums {
    int32_t count[EK_LANES], exponent[EK_LANES];
    int64_t part[EK_LANES];
};

/* Write the octaves of some columns of `rows` rows from x, as exponents and log2 m, and add them to
 * the sums. A value that is not usable counts as 1, with the octave 0. */
LN_INLINE void ln_octaves(const struct ek_ln_list *l, size_t first, size_t rows, size_t at,
                          size_t n, struct ln_sums *s)
{
    ln_i count = {0}, exponents = {0}, parts = {0}, one = count + LN_ONE_F, e;
    const float *x = l->rows.x + first * l->rows.x_stride + at;
    float *octave = l->octave + first * 2 * EK_LN_LANES_MAX;
    for (size_t i = 0; i < rows; i++, x += l->rows.x_stride, octave += 2 * EK_LN_LANES_MAX) {
        ln_i size = ln_load_f(x, n) & LN_SIZE_F;
        ln_i use = (ln_bits)(size - 1) < (uint32_t)LN_INFINITE_F - 1;
        ln_i small = (size < LN_NORMAL_F) & use;
        size = ln_select(small, (ln_i)((ln_f)size * 0x1p24f), ln_select(use, size, one));
        ln_f part = ln_log2((ln_f)ln_fields_f(size, &e) - 1);
        e -= small & 24;
        ln_f exponent = __builtin_convertvector(e, ln_f);
        memcpy(octave, &exponent, sizeof exponent);
        memcpy(octave + EK_LANES, &part, sizeof part);
        count -= use;
        exponents += e;
        parts += (ln_i)(part + LN_PART) - LN_PART_F;
    }
    for (int i = 0; i < EK_LANES; i++) {
        s->count[i] += count[i];
        s->exponent[i] += exponents[i];
        s->part[i] += parts[i];
    }
}

/* Return the mean of the octaves, 0 without any. The integer part is exact, so the mean moves with
 * the exponents. */
LN_INLINE double ln_mean(int32_t count, int32_t exponents, int64_t parts)
{
    double n = count > 0 ? count : 1, whole = ln_floor(exponents / n);
    double rest = ((exponents - whole * n) + (double)parts * 0x1p-23) / n;
    return whole + (rest + EK_LN_GRID - EK_LN_GRID);
}

/* Write the octaves of some columns to l->octave, and their means to l->mean unless given. */
LN_INLINE void ln_list_octaves(const struct ek_ln_list *l, size_t at, size_t n)
{
    struct ln_sums s = {{0}, {0}, {0}};
    for (size_t first = 0; first < l->rows.rows; first += LN_ROWS) {
        size_t rest = l->rows.rows - first;
        ln_octaves(l, first, rest < LN_ROWS ? rest : LN_ROWS, at, n, &s);
    }
    for (size_t i = 0; i < n && !l->given; i++)
        l->mean[at + i] = ln_mean(s.count[i], s.exponent[i], s.part[i]);
}

/* Transform columns [at, at + n) of all rows. Return whether any value is 0. */
LN_INLINE bool ln_list_columns(const struct ek_ln_list *l, size_t at, size_t n)
{
    struct ln_means m = {{0}, {0}};
    ln_list_octaves(l, at, n);
    ln_split(&m, l->mean + at, 1, n);
    ln_f whole = (ln_f)ln_load_f(m.whole, EK_LANES), rest = (ln_f)ln_load_f(m.rest, EK_LANES);
    ln_f scale = ln_scales(l->scale + at, 1, n);
    const struct ek_ln_rows r = l->rows;
    const float *x = r.x + at, *octave = l->octave;
    float *y = r.y + at, *zeros = l->zero + at;
    ln_i some = {0};
    for (size_t i = 0; i < r.rows; i++, octave += 2 * EK_LN_LANES_MAX) {
        ln_i v = ln_load_f(x + i * r.x_stride, n), size = v & LN_SIZE_F;
        ln_f exponent = (ln_f)ln_load_f(octave, EK_LANES);
        ln_f part = (ln_f)ln_load_f(octave + EK_LANES, EK_LANES);
        ln_f z = ((exponent - whole) + (part - rest)) * scale;
        ln_i use = (ln_bits)(size - 1) < (uint32_t)LN_INFINITE_F - 1;
        ln_i signed_z = ((ln_i)z ^ (v & ~LN_SIZE_F)) & use, zero = (size == 0) & LN_ONE_F;
        memcpy(y + i * r.y_stride, &signed_z, n * sizeof *y);
        memcpy(zeros + i * r.y_stride, &zero, n * sizeof *zeros);
        some |= zero;
    }
    int any = 0;
    for (size_t i = 0; i < n; i++)
        any |= some[i];
    return any;
}

static void EK_KERNEL(ln_all)(const double *x, double *y, size_t count)
{
    size_t i = 0;
    for (; i + LN_LANES <= count; i += LN_LANES)
        ln_lanes_compute(x + i, y + i, LN_LANES);
    if (i < count)
        ln_lanes_compute(x + i, y + i, count - i);
}

/* If columns remain, the last vector overlaps the previous one and computes some columns twice. */
static void EK_KERNEL(ln_signed)(const struct ek_ln_rows *l, const double *mean,
                                 const double *scale)
{
    size_t at = 0;
    for (; at + EK_LANES <= l->count; at += EK_LANES)
        ln_signed_columns(l, mean, scale, at, EK_LANES);
    if (at < l->count && at)
        ln_signed_columns(l, mean, scale, l->count - EK_LANES, EK_LANES);
    else if (at < l->count)
        ln_signed_columns(l, mean, scale, 0, l->count);
}

static bool EK_KERNEL(ln_list)(const struct ek_ln_list *l)
{
    size_t at = 0, count = l->rows.count;
    bool any = false;
    for (; at + EK_LANES <= count; at += EK_LANES)
        any |= ln_list_columns(l, at, EK_LANES);
    if (at < count && at)
        any |= ln_list_columns(l, count - EK_LANES, EK_LANES);
    else if (at < count)
        any |= ln_list_columns(l, 0, count);
    return any;
}

const struct ek_ln_kernels EK_KERNEL(ek_ln) = {EK_KERNEL(ln_all), EK_KERNEL(ln_signed),
                                               EK_KERNEL(ln_list)};
