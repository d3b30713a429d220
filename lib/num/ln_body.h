/* Logarithms for every vector width: the including file sets EK_LANES (of floats) and EK_KERNEL.
 *
 * x = 2^e m with m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1): ln x = e ln 2 + 2 atanh s. The
 * series of atanh ends after s^19: what is left out is below 3e-17 of it. What is left over at the
 * end of an array goes through a vector that is filled up with zeros.
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

LN_INLINE ln_d ln_lanes(ln_d x)
{
    /* Offset so that the mantissa wraps at sqrt(2). */
    ln_u bits = (ln_u)x + (LN_ONE - LN_SQRT_HALF);
    ln_d e = (ln_d)((bits >> 52) | LN_2_52) - (0x1p52 + 1023);
    ln_d m = (ln_d)((bits & LN_MANTISSA) + LN_SQRT_HALF);
    ln_d s = (m - 1) / (m + 1), s2 = s * s;
    ln_d p = s2 * (1.0 / 19) + 1.0 / 17;
    p = p * s2 + 1.0 / 15;
    p = p * s2 + 1.0 / 13;
    p = p * s2 + 1.0 / 11;
    p = p * s2 + 1.0 / 9;
    p = p * s2 + 1.0 / 7;
    p = p * s2 + 1.0 / 5;
    p = p * s2 + 1.0 / 3;
    ln_d twice = s + s;
    return e * LN_LN2_HIGH + (twice + (twice * s2 * p + e * LN_LN2_LOW));
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

LN_INLINE void ln_take_lanes(const double *x, const struct ek_ln_row *row, size_t at, size_t n)
{
    ln_d v = ln_load(x + at, n), a = (ln_d)((ln_u)v & ~LN_SIGN), one = (ln_d){0} + 1;
    ln_u use = (ln_u)(a >= LN_MIN) & (ln_u)(a <= LN_MAX);
    ln_d ln = ln_lanes(ln_select(use, a, one)), count = (ln_d)((ln_u)one & use);
    ln_store(row->ln + at, ln, n);
    ln_store(row->sum + at, ln_load(row->sum + at, n) + ln, n);
    ln_store(row->usable + at, ln_load(row->usable + at, n) + count, n);
    ln_store_f(row->sign + at, (ln_d)((ln_u)count | ((ln_u)v & LN_SIGN & use)), n);
    ln_store_f(row->zero + at, (ln_d)((ln_u)one & (ln_u)(a == 0)), n);
}

LN_INLINE void ln_centre_lanes(const double *ln, const double *mean, const double *scale, float *z,
                               size_t n)
{
    ln_f sign = {0};
    memcpy(&sign, z, n * sizeof *z);
    ln_d v = ln_load(ln, n) - ln_load(mean, n);
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

static void EK_KERNEL(ln_take)(const double *x, const struct ek_ln_row *row, size_t count)
{
    size_t i = 0;
    for (; i + LN_LANES <= count; i += LN_LANES)
        ln_take_lanes(x, row, i, LN_LANES);
    if (i < count)
        ln_take_lanes(x, row, i, count - i);
}

static void EK_KERNEL(ln_centre)(const double *ln, const double *mean, const double *scale,
                                 float *z, size_t count)
{
    size_t i = 0;
    for (; i + LN_LANES <= count; i += LN_LANES)
        ln_centre_lanes(ln + i, mean + i, scale + i, z + i, LN_LANES);
    if (i < count)
        ln_centre_lanes(ln + i, mean + i, scale + i, z + i, count - i);
}

const struct ek_ln_kernels EK_KERNEL(ek_ln) = {EK_KERNEL(ln_all), EK_KERNEL(ln_signed),
                                               EK_KERNEL(ln_take), EK_KERNEL(ln_centre)};
