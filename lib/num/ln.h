/* Natural logarithms of many numbers at once, in double, and the transforms of a ranking model that
 * are made of them.
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

/* One row of a list: the logs of its values, and the sums over rows so far. All arrays [count]. */
struct ek_ln_row {
    double *ln;           /* ln|x|, 0 where not usable */
    float *sign;          /* 1 or -1, 0 where not usable */
    float *zero;          /* 1 where x is 0, else 0 */
    double *sum, *usable; /* added to: the logs, the number of usable values */
};
void ek_ln_take(const double *x, const struct ek_ln_row *row, size_t count);

/* z[i] = z[i] * (ln[i] - mean[i]) * scale[i], rounded; z comes in as the sign. */
void ek_ln_centre(const double *ln, const double *mean, const double *scale, float *z,
                  size_t count);

#endif
