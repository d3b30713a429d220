/* Natural logarithms of many numbers at once, in double, and the transforms of a ranking model that
 * are made of them.
 *
 * What is centred on the mean of a list is counted in octaves, log2|x|, as a multiple of 2^-40: the
 * exponent of x, which is exact, plus the rounded log2 of its mantissa, which a power of two does
 * not change. Such numbers are added and subtracted without any rounding (of up to 16,384 values),
 * so x -> 2^j x moves every octave and their mean by exactly j, and the mean does not depend on the
 * order. The grid moves a logarithm by less than 4e-13.
 *
 * ek_ln_of: for positive, finite, normal numbers the relative error of ln x is below 6e-16. Zero,
 * denormals, negative numbers, infinities and NaN give finite numbers or NaN without meaning, never
 * a trap. The transforms take any number: a value is usable when it is finite and at least DBL_MIN
 * in size; NaN and infinities count as missing. Every instruction set gives the same bits: nothing
 * is fused. Arrays do not overlap unless said. No alignment needed. Threads: no state.
 */
#ifndef EK_NUM_LN_H
#define EK_NUM_LN_H

#include <stddef.h>

/* y[i] = ln x[i]; y may be x. */
void ek_ln_of(const double *x, double *y, size_t count);

/* y[i] = (sgn(x) ln(1 + |x|) - mean[i]) * scale[i], rounded; 0 where x is missing. */
void ek_signed_ln(const double *x, const double *mean, const double *scale, float *y, size_t count);

#define EK_LN_EACH 0x1p30
/* Over rows, from 0: the exponents of the usable values and EK_LN_EACH for each of them, so that
 * one sum holds both exactly (to 400,000 values); and what their octaves are above the exponents.
 */
struct ek_ln_sums {
    double *whole, *part; /* [count] */
};
/* One row of a list, all arrays [count]. */
struct ek_ln_row {
    double *octave;         /* log2|x|, 0 where not usable */
    float *sign;            /* 1 or -1, 0 where not usable */
    float *zero;            /* 1 where x is 0, else 0 */
    struct ek_ln_sums sums; /* added to */
};
void ek_ln_take(const double *x, const struct ek_ln_row *row, size_t count);

/* mean[i] = the mean octave of the usable values, 0 where there are none. */
void ek_ln_mean(const struct ek_ln_sums *sums, double *mean, size_t count);

/* z[i] = z[i] * (octave[i] - mean[i]) * scale[i], rounded; z comes in as the sign. */
void ek_ln_centre(const double *octave, const double *mean, const double *scale, float *z,
                  size_t count);

/* A mean of natural logarithms in octaves, and back: the way there undoes the way back exactly, up
 * to 1,500 octaves. */
double ek_ln_to_octaves(double ln);
double ek_ln_of_octaves(double octaves);

#define EK_LN_2 0x1.62e42fefa39efp-1 /* ln of an octave */

#endif
