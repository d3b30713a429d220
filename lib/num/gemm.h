/* C = A B or C += A B for float32 matrices, A in any layout; what training is made of.
 *
 * Shapes: A [rows, depth], element (r, k) at a[r * a_row + k * a_step], so that A may be a
 * transposed matrix; B [depth, columns] and C [rows, columns] row-major with b_row and c_row
 * elements between rows. `columns` is a multiple of EK_GEMM_COLUMNS. Every element of C is summed
 * in the order of k, products rounded before they are added, so that every instruction set gives
 * the same bits. Alignment is not needed. C overlaps neither A nor B. NaN and infinities go where
 * arithmetic takes them. Threads: no state.
 */
#ifndef EK_NUM_GEMM_H
#define EK_NUM_GEMM_H

#include <stdbool.h>
#include <stddef.h>

enum { EK_GEMM_COLUMNS = 16 };

struct ek_gemm {
    const float *a, *b;
    float *c;
    size_t a_row, a_step, b_row, c_row;
    size_t rows, columns, depth;
    bool add;           /* C += A B */
    const float *start; /* [columns] or NULL: what every row of C starts from, when not `add` */
};

void ek_gemm(const struct ek_gemm *g);

#endif
