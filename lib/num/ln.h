/* Vectorized natural logarithms in double, and the logarithmic input transforms of ranking models
 * in float.
 *
 * List means use octaves, log2|x|: the exact exponent plus log2 of the mantissa, rounded to
 * multiples of 2^-23. Their sums are exact, and the mean is a multiple of 2^-40. So x -> 2^j x
 * moves every octave and the mean by exactly j, and the mean does not depend on the order.
 *
 * The transforms accept any float. A value is usable if it is finite and nonzero; NaN and
 * infinities count as missing. An octave is accurate to 5e-8, less than the rounding of x to a
 * float; that of 1 + |x| to 1.1e-7, and for a small |x| to 2e-7 of itself. Every instruction set
 * returns the same bits: no operation is fused. Arrays must not overlap and need no alignment.
 */
#ifndef EK_NUM_LN_H
#define EK_NUM_LN_H

#include <stdbool.h>
#include <stddef.h>

/* Set y[i] = ln x[i]; y may be x. For positive, finite, normal x the relative error is below 6e-16.
 * Other x give an arbitrary number or NaN, never a trap. */
void ek_ln_compute(const double *x, double *y, size_t count);

/* Rows of `count` columns; strides count floats. */
struct ek_ln_rows {
    const float *x;
    float *y;
    size_t x_stride, y_stride, rows, count;
};

/* Set every y of `rows` to (sgn(x) ln(1 + |x|) - mean) * scale, rounded; 0 if x is missing. mean
 * and scale are [count]. */
void ek_signed_ln(const struct ek_ln_rows *rows, const double *mean, const double *scale);

enum { EK_LN_LANES_MAX = 16 };
/* Items of one list. */
struct ek_ln_list {
    struct ek_ln_rows rows;
    float *zero;         /* as y: 1 if x is 0, else 0 */
    const double *scale; /* [count], weight of one octave */
    double *mean;        /* [count], mean octave of the usable values of the list; 0 without any */
    bool given;          /* input: use the means as they are; else compute them */
    float *octave;       /* [rows, 2 * EK_LN_LANES_MAX], scratch */
};
/* Set every y of `list` to sgn(x) (octave - mean) * scale, rounded; 0 if x is not usable. Return
 * whether any x is 0. */
bool ek_ln_center(const struct ek_ln_list *list);

/* Return a mean of natural logarithms in octaves, rounded to a multiple of 2^-40. It exactly
 * inverts ek_ln_from_octaves up to 1,500 octaves. */
double ek_ln_to_octaves(double ln);
/* Return a mean of octaves as a natural logarithm. */
double ek_ln_from_octaves(double octaves);

#define EK_LN_2 0x1.62e42fefa39efp-1 /* ln of one octave */

#endif
