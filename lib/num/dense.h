/* Dense layer: y = W x + b for a few rows at a time, with weights packed once; what scoring is made
 * of.
 *
 * Every output is the bias plus the products in the order of the inputs, so a row's result depends
 * neither on the number of rows nor on its place among them. Instruction sets with fused
 * multiply-add (all but the portable one) give the same bits; the portable one differs by rounding,
 * at most 1e-5 of the sum of |w x|. NaN and infinities go where arithmetic takes them, also through
 * relu. Units: strides in floats. Owner: the caller. Threads: a layer is immutable after _new.
 */
#ifndef EK_NUM_DENSE_H
#define EK_NUM_DENSE_H

#include <stddef.h>

struct ek_dense;

/* weight [outputs, inputs] row-major, as PyTorch has it; bias [outputs], NULL: zeros. Both are
 * copied. EK_ENOMEM; EK_ELIMIT for fewer than 1 input or output. */
int ek_dense_new(struct ek_dense **out, int inputs, int outputs, const float *weight,
                 const float *bias);
void ek_dense_free(struct ek_dense *d);

int ek_dense_inputs(const struct ek_dense *d);
int ek_dense_outputs(const struct ek_dense *d);

/* x: `rows` rows of `inputs` floats, x_stride apart; y: rows of `outputs` floats, y_stride apart,
 * nothing between them is written. y and x must not overlap. relu: 0 or 1. No alignment needed. */
void ek_dense_apply(const struct ek_dense *d, const float *x, int rows, size_t x_stride, float *y,
                    size_t y_stride, int relu);

/* Floats of a `start`: the outputs, rounded up. */
int ek_dense_start(const struct ek_dense *d);
/* As ek_dense_apply, but outputs begin with `start` in place of the bias, as when the first inputs
 * of a layer are the same for all rows and have been seen to. start [ek_dense_start]; what lies
 * beyond the outputs is read and has no effect. NULL: the bias. The last `idle` inputs are 0 in all
 * rows: leaving them out changes nothing, as weights are finite. */
void ek_dense_apply_from(const struct ek_dense *d, const float *start, int idle, const float *x,
                         int rows, size_t x_stride, float *y, size_t y_stride, int relu);

#endif
