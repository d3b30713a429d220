/* Natural logarithms of many numbers at once, in double.
 *
 * For positive, finite, normal numbers the relative error of ln x is below 6e-16. Zero, denormals,
 * negative numbers, infinities and NaN give finite numbers or NaN without meaning, never a trap:
 * callers put 1 in their place. Every instruction set gives the same bits: nothing is fused.
 * Threads: no state.
 */
#ifndef EK_NUM_LN_H
#define EK_NUM_LN_H

#include <stddef.h>

/* y[i] = ln x[i]; y may be x. */
void ek_ln_of(const double *x, double *y, size_t count);

#endif
