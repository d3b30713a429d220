/* Matrix product C = A B or C += A B in float32, for training.
 *
 * A [rows, depth] has element (r, k) at a[r * a_row + k * a_step], so A may be transposed. B
 * [depth, columns] and C [rows, columns] are row-major; b_row and c_row are the elements between
 * rows. `columns` is a multiple of EK_GEMM_COLUMNS. C must overlap neither A nor B. No alignment is
 * required.
 *
 * Each element of C is summed in the order of k, and products are rounded before addition. Every
 * instruction set therefore returns the same bits. NaN and infinities propagate.
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
    const float *start; /* [columns], initial value of every row of C if not `add`; NULL: 0 */
};

/* Compute the product into g->c: C = A B, or C += A B as *g states. */
void ek_gemm(const struct ek_gemm *g);

#endif
