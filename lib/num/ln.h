/* Natural logarithms of many numbers at once, in double, and the transforms of a ranking model that
 * are made of them.
 *
 * What is centred on the mean of a list is counted in octaves, log2|x|, as a multiple of 2^-40: the
 * exponent of x, which is exact, plus the rounded log2 of its mantissa, which a power of two does
 * not change. Such numbers are added and subtracted without any rounding (of up to 16,384 values),
 * so x -> 2^j x moves every octave and their mean by exactly j, and the mean does not depend on the
 * order. The grid moves a logarithm by less than 4e-13.
 *
 * ek_ln_compute: for positive, finite, normal numbers the relative error of ln x is below 6e-16.
 * Zero, denormals, negative numbers, infinities and NaN give finite numbers or NaN without meaning,
 * never a trap. The transforms take any float and compute in double, logarithms to 3e-14, ln(1 +
 * |x|) of what is small to a rounding of 1: a value is usable when it is finite and not 0; NaN and
 * infinities count as missing. Every instruction set gives the same bits: nothing is fused. Arrays
 * do not overlap. No alignment needed. Threads: no state.
 */
#ifndef EK_NUM_LN_H
#define EK_NUM_LN_H

#include <stdbool.h>
#include <stddef.h>

/* y[i] = ln x[i]; y may be x. */
void ek_ln_compute(const double *x, double *y, size_t count);

/* Some rows of `count` columns, those of x and y x_stride and y_stride floats apart. */
struct ek_ln_rows {
    const float *x;
    float *y;
    size_t x_stride, y_stride, rows, count;
};

/* y = (sgn(x) ln(1 + |x|) - mean) * scale, rounded; 0 where x is missing. mean, scale [count]. */
void ek_signed_ln(const struct ek_ln_rows *rows, const double *mean, const double *scale);

enum { EK_LN_LANES_MAX = 8 };
/* The items of one list. */
struct ek_ln_list {
    struct ek_ln_rows rows;
    float *zero;         /* as y: 1 where x is 0, else 0 */
    const double *scale; /* [count] what an octave is worth */
    double *mean;   /* [count] octaves: of the usable values of the list, 0 where there are none */
    bool given;     /* the means are there already, else they are put there */
    double *octave; /* [rows, EK_LN_LANES_MAX], scratch */
};
/* y = sgn(x) (octave - mean) * scale, rounded; 0 where x is not usable. */
void ek_ln_centre(const struct ek_ln_list *list);

/* A mean of natural logarithms in octaves, and back: the way there undoes the way back exactly, up
 * to 1,500 octaves. */
double ek_ln_to_octaves(double ln);
double ek_ln_from_octaves(double octaves);

#define EK_LN_2 0x1.62e42fefa39efp-1 /* ln of an octave */

#endif
