/* Dense layer y = W x + b with packed weights, for scoring.
 *
 * An output is the bias plus the products in the order of the inputs. A row's result therefore does
 * not depend on the number or order of rows. All kernels with fused multiply-add return the same
 * bits. The portable kernel differs by at most 1e-5 of the sum of |w x|. NaN and infinities
 * propagate, also through relu. Strides count floats. A layer is immutable after _new, so threads
 * may share it.
 */
#ifndef EK_NUM_DENSE_H
#define EK_NUM_DENSE_H

#include <stddef.h>

struct ek_dense;

/* Create a layer from `weight` [outputs, inputs], row-major as in PyTorch, and `bias` [outputs]; a
 * NULL bias is all zeros. Both are copied. Return 0, EK_ENOMEM, or EK_ELIMIT for fewer than 1 input
 * or output. */
int ek_dense_new(struct ek_dense **out, int inputs, int outputs, const float *weight,
                 const float *bias);
void ek_dense_free(struct ek_dense *d);

/* Return the number of inputs. */
int ek_dense_inputs(const struct ek_dense *d);
/* Return the number of outputs. */
int ek_dense_outputs(const struct ek_dense *d);

/* Compute `rows` outputs y [outputs], y_stride apart, from rows x [inputs], x_stride apart. Floats
 * between rows of y stay unchanged. x and y must not overlap and need no alignment. `relu` is 0 or
 * 1. */
void ek_dense_apply(const struct ek_dense *d, const float *x, int rows, size_t x_stride, float *y,
                    size_t y_stride, int relu);

/* Return the number of floats in a `start`: the outputs, rounded up to whole panels. */
int ek_dense_start(const struct ek_dense *d);
/* Compute outputs as ek_dense_apply does, but begin with `start` [ek_dense_start] in place of the
 * bias, for example with the sum over inputs that all rows share. Floats of `start` beyond the
 * outputs are read but have no effect. NULL means the bias. The last `idle` inputs must be 0 in all
 * rows; they are skipped, which is exact for finite weights. */
void ek_dense_apply_from(const struct ek_dense *d, const float *start, int idle, const float *x,
                         int rows, size_t x_stride, float *y, size_t y_stride, int relu);

#endif
