/* Logarithm kernels for any vector width. The including file defines EK_LANES (of floats) and
 * EK_KERNEL.
 *
 * x = 2^e m with m in [sqrt(1/2), sqrt(2)). ek_ln_compute uses s = (m - 1) / (m + 1) and ln x = e
 * ln 2 + 2 atanh s. The series of atanh ends with s^19; the relative remainder is below 3e-17. The
 * transforms use octaves (ln.h): e plus log2 m from a table.
 */
enum { LN_LANES = EK_LANES / 2 };
typedef double ln_d __attribute__((vector_size(LN_LANES * 8)));
typedef uint64_t ln_u __attribute__((vector_size(LN_LANES * 8)));
typedef float ln_f __attribute__((vector_size(LN_LANES * 4)));
typedef uint32_t ln_i __attribute__((vector_size(LN_LANES * 4)));

#define LN_INLINE static inline __attribute__((always_inline))

#define LN_SIGN       0x8000000000000000u
#define LN_MANTISSA   0x000fffffffffffffu
#define LN_ONE        0x3ff0000000000000u /* bits of 1 */
#define LN_SQRT_HALF  0x3fe6a09e667f3bcdu /* bits of sqrt(1/2) */
#define LN_2_52       0x4330000000000000u /* bits of 2^52; any smaller integer fits its mantissa */
#define LN_EACH       0x1p30   /* added per usable value: one exact sum has exponents and count */
#define LN_INTEGER    0x1.8p52 /* adding and subtracting it rounds to an integer */
#define LN_MAX        0x1.fffffffffffffp1023
#define LN_INFINITE   0x7ff0000000000000u
#define LN_SIZE_F     0x7fffffffu /* magnitude bits of a float */
#define LN_INFINITE_F 0x7f800000u
#define LN_ONE_F      0x3f800000u
#define LN_LN2_HIGH   0x1.62e42fefap-1 /* exact when multiplied by an exponent */
#define LN_LN2_LOW    0x1.cf79abc9e3b39p-40

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

LN_INLINE void ln_store_f(float *p, ln_d v, size_t n)
{
    ln_f f = __builtin_convertvector(v, ln_f);
    memcpy(p, &f, n * sizeof *p);
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

/* Table of log2 over 16 steps of the mantissa. m c = 1 + r with c near 1 / m, |r| below 0.04, exact
 * if m is the mantissa of a float. log2 m = -log2 c + log2(1 + r). The polynomial for log2(1 + r)
 * has an error below 2e-14 and consists of two independent halves. c is 1 in the step around 1, so
 * the logarithm of 1 is 0. */
static const double LN_INVERSE[16] = {
    0x1.62362ep+0, 0x1.5387ep+0,  0x1.4604b6p+0, 0x1.398a56p+0, 0x1.2dfb78p+0,
    0x1.233fp+0,   0x1.193f3ep+0, 0x1.0fe96cp+0, 0x1.072d26p+0, 1,
    0x1.de4c26p-1, 0x1.c3e982p-1, 0x1.ac4926p-1, 0x1.9701ccp-1, 0x1.83be1cp-1,
    0x1.72382ep-1};
static const double LN_TABLE[16] = {-0x1.dfb6068692de5p-2, -0x1.a12d1124819cp-2,
                                    -0x1.652e574c33797p-2, -0x1.2b8710c2211eap-2,
                                    -0x1.e814692d8721cp-3, -0x1.7d1f5152b0864p-3,
                                    -0x1.15e6c9fe7bfc2p-3, -0x1.6454d7228e7a3p-4,
                                    -0x1.46bf36a06d5f3p-5, 0,
                                    0x1.925f97d2fb71p-4,   0x1.70d90dbd1b62dp-3,
                                    0x1.07c07a39ced45p-2,  0x1.53094ae02ba5ep-2,
                                    0x1.9aab694e68122p-2,  0x1.defd4b0a3762bp-2};

/* Return table[at]; each `at` is below 16. */
LN_INLINE ln_d ln_lookup(const double *table, ln_u at)
{
#ifdef EK_LOOKUP
    return (ln_d)EK_LOOKUP(table, at);
#else
    ln_d v;
    for (int i = 0; i < LN_LANES; i++)
        v[i] = table[at[i]];
    return v;
#endif
}

/* Set the exponent of x, a positive normal number, and return the log2 of its mantissa. */
LN_INLINE ln_d ln_octave(ln_d x, ln_d *e)
{
    ln_u field = ln_fields(x, e);
    ln_d m = (ln_d)(field + LN_SQRT_HALF);
    ln_d r = m * ln_lookup(LN_INVERSE, field >> 48) - 1;
    ln_d r2 = r * r, r4 = r2 * r2;
    ln_d p1 = r * 0x1.71547652b82fep+0;
    ln_d p2 = r * 0x1.ec709dc4b93c3p-2 - 0x1.71547653563bep-1;
    ln_d p4 = r * 0x1.2776aec1891e8p-2 - 0x1.71545d3be439fp-2;
    ln_d p6 = r * 0x1.a6f9e65e90ff3p-3 - 0x1.ed6f6fa9412b1p-3;
    return ln_lookup(LN_TABLE, field >> 48) + p1 + (p2 * r2 + (p6 * r2 + p4) * r4);
}

/* Return a where the mask is set, else b. */
LN_INLINE ln_d ln_select(ln_u mask, ln_d a, ln_d b)
{
    return (ln_d)(((ln_u)a & mask) | ((ln_u)b & ~mask));
}

LN_INLINE void ln_lanes_compute(const double *x, double *y, size_t n)
{
    ln_store(y, ln_lanes(ln_load(x, n)), n);
}

LN_INLINE ln_d ln_widen(const float *p, size_t n)
{
    ln_f v = {0};
    memcpy(&v, p, n * sizeof *p);
#ifdef EK_WIDEN
    return (ln_d)EK_WIDEN(v);
#else
    return __builtin_convertvector(v, ln_d);
#endif
}

/* Transform columns [at, at + n) of all rows. */
LN_INLINE void ln_signed_columns(const struct ek_ln_rows *l, const double *mean,
                                 const double *scale, size_t at, size_t n)
{
    ln_d about = ln_load(mean + at, n) * (1 / EK_LN_2), times = ln_load(scale + at, n) * EK_LN_2;
    const struct ek_ln_rows r = *l; /* local copy: stores to y cannot alias it */
    const float *x = r.x + at;
    float *y = r.y + at;
    for (size_t i = 0; i < r.rows; i++, x += r.x_stride, y += r.y_stride) {
        ln_d v = ln_widen(x, n), a = (ln_d)((ln_u)v & ~LN_SIGN), e;
        ln_u here = (ln_u)(a <= LN_MAX);
        ln_d octave = ln_octave(a + 1, &e);
        octave = (ln_d)((ln_u)(octave + e) | ((ln_u)v & LN_SIGN));
        ln_store_f(y, (ln_d)((ln_u)((octave - about) * times) & here), n);
    }
}

/* Return the mean from the sum of exponents, which includes LN_EACH per usable value, and the sum
 * of the remainders. Return 0 without usable values. */
LN_INLINE ln_d ln_mean(ln_d whole, ln_d rest)
{
    ln_d one = (ln_d){0} + 1, count = whole * (1 / LN_EACH) + LN_INTEGER - LN_INTEGER;
    whole -= count * LN_EACH;
    count = ln_select((ln_u)(count > 0), count, one);
    ln_d ratio = whole / count, floor = ratio + LN_INTEGER - LN_INTEGER;
    floor -= (ln_d)((ln_u)one & (ln_u)(floor > ratio));
    rest = (whole - floor * count + rest) / count;
    return floor + (rest + EK_LN_GRID - EK_LN_GRID);
}

/* Write the octaves of some columns of a list to l->octave [rows, LN_LANES]. Return their mean. */
LN_INLINE ln_d ln_octaves(const struct ek_ln_list *l, size_t at, size_t n)
{
    ln_d whole = {0}, rest = {0}, one = whole + 1, each = whole + LN_EACH, e;
    const struct ek_ln_rows r = l->rows;
    const float *x = r.x + at;
    double *octave = l->octave;
    for (size_t i = 0; i < r.rows; i++, x += r.x_stride, octave += LN_LANES) {
        ln_d a = (ln_d)((ln_u)ln_widen(x, n) & ~LN_SIGN);
        ln_u use = (ln_u)((ln_u)a - 1 < LN_INFINITE - 1);
        ln_d part = ln_octave(ln_select(use, a, one), &e) + EK_LN_GRID - EK_LN_GRID;
        ln_store(octave, e + part, LN_LANES);
        whole += e + (ln_d)((ln_u)each & use);
        rest += part;
    }
    return ln_mean(whole, rest);
}

/* Return z times the sign of x, or 0 unless x is finite and nonzero. */
LN_INLINE ln_i ln_signed_bits(ln_i x, ln_i z)
{
    ln_i size = x & LN_SIZE_F;
    return (z ^ (x & ~LN_SIZE_F)) & (ln_i)(size - 1 < LN_INFINITE_F - 1);
}

LN_INLINE void ln_centre_columns(const struct ek_ln_list *l, ln_d mean, size_t at, size_t n)
{
    const struct ek_ln_rows r = l->rows;
    const float *x = r.x + at;
    float *y = r.y + at, *zeros = l->zero + at;
    const double *octave = l->octave;
    ln_d scale = ln_load(l->scale + at, n);
    for (size_t i = 0; i < r.rows; i++, octave += LN_LANES) {
        ln_i bits = {0};
        memcpy(&bits, x + i * r.x_stride, n * sizeof *x);
        ln_d v = (ln_load(octave, LN_LANES) - mean) * scale;
        ln_i z = ln_signed_bits(bits, (ln_i) __builtin_convertvector(v, ln_f));
        ln_i zero = (ln_i)((bits & LN_SIZE_F) == 0) & LN_ONE_F;
        memcpy(y + i * r.y_stride, &z, n * sizeof *y);
        memcpy(zeros + i * r.y_stride, &zero, n * sizeof *zeros);
    }
}

LN_INLINE void ln_list_columns(const struct ek_ln_list *l, size_t at, size_t n)
{
    ln_d mean = ln_octaves(l, at, n);
    if (l->given)
        mean = ln_load(l->mean + at, n);
    else
        ln_store(l->mean + at, mean, n);
    ln_centre_columns(l, mean, at, n);
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
    for (; at + LN_LANES <= l->count; at += LN_LANES)
        ln_signed_columns(l, mean, scale, at, LN_LANES);
    if (at < l->count && at)
        ln_signed_columns(l, mean, scale, l->count - LN_LANES, LN_LANES);
    else if (at < l->count)
        ln_signed_columns(l, mean, scale, 0, l->count);
}

static void EK_KERNEL(ln_list)(const struct ek_ln_list *l)
{
    size_t at = 0, count = l->rows.count;
    for (; at + LN_LANES <= count; at += LN_LANES)
        ln_list_columns(l, at, LN_LANES);
    if (at < count && at)
        ln_list_columns(l, count - LN_LANES, LN_LANES);
    else if (at < count)
        ln_list_columns(l, 0, count);
}

const struct ek_ln_kernels EK_KERNEL(ek_ln) = {EK_KERNEL(ln_all), EK_KERNEL(ln_signed),
                                               EK_KERNEL(ln_list)};
