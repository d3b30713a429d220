/* Layer normalisation (Ba, Kiros and Hinton 2016) without gain and shift of its own: the weights of
 * the linear layer behind it can do both.
 *
 *   y = (x - mean) / sqrt(variance + 1e-5), over a row's elements, variance with divisor n
 *
 * A row of equal elements gives zeros. Sums are in double and in order, results rounded once. NaN
 * in a row makes the row NaN. Owner: all arrays are the caller's. Threads: no state.
 */
#ifndef EK_CHOOSE_ROW_NORM_H
#define EK_CHOOSE_ROW_NORM_H

#include <stddef.h>

/* x, y [rows, width]; scale [rows] gets 1 / sqrt(variance + 1e-5). */
void ek_row_norm(const float *x, size_t rows, size_t width, float *y, float *scale);
/* Adds d loss / d x to dx, given d loss / d y. */
void ek_row_norm_below(const float *y, const float *scale, const float *dy, size_t rows,
                       size_t width, float *dx);

#endif
