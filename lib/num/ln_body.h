/* Logarithms for every vector width: the including file sets EK_LANES (of floats) and EK_KERNEL.
 *
 * x = 2^e m with m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1): ln x = e ln 2 + 2 atanh s. The
 * series of atanh ends after s^19: what is left out is below 3e-17 of it. Octaves (ln.h) are e plus
 * 2 atanh s / ln 2, the latter rounded to the grid. What is left over at the end of an array goes
 * through a vector that is filled up with zeros.
 */
enum { LN_LANES = EK_LANES / 2 };
typedef double ln_d __attribute__((vector_size(LN_LANES * 8)));
typedef uint64_t ln_u __attribute__((vector_size(LN_LANES * 8)));
typedef float ln_f __attribute__((vector_size(LN_LANES * 4)));

#define LN_INLINE static inline __attribute__((always_inline))

#define LN_SIGN      0x8000000000000000u
#define LN_MANTISSA  0x000fffffffffffffu
#define LN_ONE       0x3ff0000000000000u /* bits of 1 */
#define LN_SQRT_HALF 0x3fe6a09e667f3bcdu /* bits of sqrt(1/2) */
#define LN_2_52      0x4330000000000000u /* bits of 2^52: an integer below it goes into the mantissa */
#define LN_INTEGER   0x1.8p52            /* added and taken away again: rounds to an integer */
#define LN_MIN       0x1p-1022
#define LN_MAX       0x1.fffffffffffffp1023
#define LN_LN2_HIGH  0x1.62e42fefap-1 /* an exponent times it is exact */
#define LN_LN2_LOW   0x1.cf79abc9e3b39p-40

/* n is LN_LANES, or what is left; a constant in the main loops. */
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

/* Of x its exponent, and s. */
LN_INLINE ln_d ln_split(ln_d x, ln_d *e)
{
    /* Offset so that the mantissa wraps at sqrt(2). */
    ln_u bits = (ln_u)x + (LN_ONE - LN_SQRT_HALF);
    *e = (ln_d)((bits >> 52) | LN_2_52) - (0x1p52 + 1023);
    ln_d m = (ln_d)((bits & LN_MANTISSA) + LN_SQRT_HALF);
    return (m - 1) / (m + 1);
}

/* (atanh s - s) / s^3; `p` is what follows 1/13. */
LN_INLINE ln_d ln_series(ln_d s2, ln_d p)
{
    p = p * s2 + 1.0 / 13;
    p = p * s2 + 1.0 / 11;
    p = p * s2 + 1.0 / 9;
    p = p * s2 + 1.0 / 7;
    p = p * s2 + 1.0 / 5;
    return p * s2 + 1.0 / 3;
}

LN_INLINE ln_d ln_lanes(ln_d x)
{
    ln_d e, s = ln_split(x, &e), s2 = s * s, twice = s + s;
    ln_d p = s2 * (1.0 / 19) + 1.0 / 17;
    p = ln_series(s2, p * s2 + 1.0 / 15);
    return e * LN_LN2_HIGH + (twice + (twice * s2 * p + e * LN_LN2_LOW));
}

/* log2 of the mantissa, on the grid. For that the series may end after s^15: 2e-14 are left out. */
LN_INLINE ln_d ln_part(ln_d s)
{
    ln_d s2 = s * s, part = s * (2 / EK_LN_2);
    part += part * (s2 * ln_series(s2, (ln_d){0} + 1.0 / 15));
    return part + EK_LN_GRID - EK_LN_GRID;
}

/* a where the mask is set, else b. */
LN_INLINE ln_d ln_select(ln_u mask, ln_d a, ln_d b)
{
    return (ln_d)(((ln_u)a & mask) | ((ln_u)b & ~mask));
}

LN_INLINE void ln_of_lanes(const double *x, double *y, size_t n)
{
    ln_store(y, ln_lanes(ln_load(x, n)), n);
}

LN_INLINE void ln_signed_lanes(const double *x, const double *mean, const double *scale, float *y,
                               size_t n)
{
    ln_d v = ln_load(x, n), a = (ln_d)((ln_u)v & ~LN_SIGN), one = (ln_d){0} + 1;
    ln_u here = (ln_u)(a <= LN_MAX);
    ln_d ln = ln_lanes(ln_select(here, a + 1, one));
    ln = (ln_d)((ln_u)ln | ((ln_u)v & LN_SIGN));
    ln = (ln - ln_load(mean, n)) * ln_load(scale, n);
    ln_store_f(y, (ln_d)((ln_u)ln & here), n);
}

LN_INLINE void ln_add(double *sum, ln_d v, size_t n)
{
    ln_store(sum, ln_load(sum, n) + v, n);
}

LN_INLINE void ln_take_lanes(const double *x, struct ek_ln_row row, size_t at, size_t n)
{
    ln_d v = ln_load(x + at, n), a = (ln_d)((ln_u)v & ~LN_SIGN), one = (ln_d){0} + 1;
    ln_u use = (ln_u)(a >= LN_MIN) & (ln_u)(a <= LN_MAX);
    ln_d e, part = ln_part(ln_split(ln_select(use, a, one), &e)), each = (ln_d){0} + EK_LN_EACH;
    ln_store(row.octave + at, e + part, n);
    ln_add(row.sums.whole + at, e + (ln_d)((ln_u)each & use), n);
    ln_add(row.sums.part + at, part, n);
    ln_store_f(row.sign + at, (ln_d)(((ln_u)one | ((ln_u)v & LN_SIGN)) & use), n);
    ln_store_f(row.zero + at, (ln_d)((ln_u)one & (ln_u)(a == 0)), n);
}

/* The mean exponent is cut down to an integer; what that leaves of the sum is small and the same
 * for every power of two. */
LN_INLINE void ln_mean_lanes(const struct ek_ln_sums *sums, double *mean, size_t at, size_t n)
{
    ln_d whole = ln_load(sums->whole + at, n), one = (ln_d){0} + 1;
    ln_d count = whole * (1 / EK_LN_EACH) + LN_INTEGER - LN_INTEGER;
    whole -= count * EK_LN_EACH;
    count = ln_select((ln_u)(count > 0), count, one);
    ln_d ratio = whole / count, floor = ratio + LN_INTEGER - LN_INTEGER;
    floor -= (ln_d)((ln_u)one & (ln_u)(floor > ratio));
    ln_d rest = (whole - floor * count + ln_load(sums->part + at, n)) / count;
    ln_store(mean + at, floor + (rest + EK_LN_GRID - EK_LN_GRID), n);
}

LN_INLINE void ln_centre_lanes(const double *octave, const double *mean, const double *scale,
                               float *z, size_t n)
{
    ln_f sign = {0};
    memcpy(&sign, z, n * sizeof *z);
    ln_d v = ln_load(octave, n) - ln_load(mean, n);
    ln_store_f(z, __builtin_convertvector(sign, ln_d) * v * ln_load(scale, n), n);
}

static void EK_KERNEL(ln_all)(const double *x, double *y, size_t count)
{
    size_t i = 0;
    for (; i + LN_LANES <= count; i += LN_LANES)
        ln_of_lanes(x + i, y + i, LN_LANES);
    if (i < count)
        ln_of_lanes(x + i, y + i, count - i);
}

static void EK_KERNEL(ln_signed)(const double *x, const double *mean, const double *scale, float *y,
                                 size_t count)
{
    size_t i = 0;
    for (; i + LN_LANES <= count; i += LN_LANES)
        ln_signed_lanes(x + i, mean + i, scale + i, y + i, LN_LANES);
    if (i < count)
        ln_signed_lanes(x + i, mean + i, scale + i, y + i, count - i);
}

/* A copy of the row, whose pointers then stay in registers. */
static void EK_KERNEL(ln_take)(const double *x, const struct ek_ln_row *row, size_t count)
{
    const struct ek_ln_row to = *row;
    size_t i = 0;
    for (; i + LN_LANES <= count; i += LN_LANES)
        ln_take_lanes(x, to, i, LN_LANES);
    if (i < count)
        ln_take_lanes(x, to, i, count - i);
}

static void EK_KERNEL(ln_mean)(const struct ek_ln_sums *sums, double *mean, size_t count)
{
    size_t i = 0;
    for (; i + LN_LANES <= count; i += LN_LANES)
        ln_mean_lanes(sums, mean, i, LN_LANES);
    if (i < count)
        ln_mean_lanes(sums, mean, i, count - i);
}

static void EK_KERNEL(ln_centre)(const double *octave, const double *mean, const double *scale,
                                 float *z, size_t count)
{
    size_t i = 0;
    for (; i + LN_LANES <= count; i += LN_LANES)
        ln_centre_lanes(octave + i, mean + i, scale + i, z + i, LN_LANES);
    if (i < count)
        ln_centre_lanes(octave + i, mean + i, scale + i, z + i, count - i);
}

const struct ek_ln_kernels EK_KERNEL(ek_ln) = {EK_KERNEL(ln_all), EK_KERNEL(ln_signed),
                                               EK_KERNEL(ln_take), EK_KERNEL(ln_mean),
                                               EK_KERNEL(ln_centre)};
