/* Layers of the re-ranker, with manual backward passes: linear layers, layer normalization and
 * self-attention.
 *
 * Linear layers: x is [rows, stride], y [rows, outputs]. `stride` is `inputs` rounded up to
 * EK_GEMM_COLUMNS, which also divides `outputs`. Parameters are offsets in one flat array: weight
 * [inputs, outputs], bias [outputs]. `turned` [outputs, stride] has the transposed weights for the
 * backward pass. Padding of x is 0 and gets gradient 0. All sums have a fixed order. NaN
 * propagates.
 */
#ifndef EK_OFFLINE_SELECT_NFS_LAYERS_H
#define EK_OFFLINE_SELECT_NFS_LAYERS_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

struct ek_linear {
    size_t inputs, outputs, stride;
    size_t weight, bias; /* offsets in the parameters */
    size_t turned;       /* offset in the transposed weights */
};

/* Set *l to a layer with offsets at the end of both arrays, and add its sizes to *parameters and
 * *turned. */
void ek_linear_init(struct ek_linear *l, size_t inputs, size_t outputs, size_t *parameters,
                    size_t *turned);
/* Set the weights of inputs from `first` on, and the biases, in `parameter` to random values within
 * 1 / sqrt(inputs). Other weights stay. */
void ek_linear_start(const struct ek_linear *l, float *parameter, size_t first, struct ek_rng *r);
/* Write the transposed weights of the layer to `turned`, for ek_linear_backward_input. */
void ek_linear_transpose(const struct ek_linear *l, const float *parameter, float *turned);

/* Set y [rows, outputs] to x W + b for x [rows, stride]. */
void ek_linear_forward(const struct ek_linear *l, const float *parameter, const float *x,
                       size_t rows, float *y);
/* Add the gradient of the layer's parameters, given d loss / d y in dy, to `gradient`, which has
 * the layout of the parameters. */
void ek_linear_backward(const struct ek_linear *l, const float *x, const float *dy, size_t rows,
                        float *gradient);
/* Write d loss / d x to dx [rows, stride], or add it if `add`. */
void ek_linear_backward_input(const struct ek_linear *l, const float *turned, const float *dy,
                              size_t rows, bool add, float *dx);

/* Layer normalization (Ba, Kiros and Hinton 2016) without gain and shift, which the next linear
 * layer provides.
 *
 *   y = (x - mean) / sqrt(variance + 1e-5), over a row's elements, variance with divisor n
 *
 * A row of equal elements gives zeros. Sums are in double and in order; results are rounded once.
 * NaN in a row makes the row NaN.
 */
/* Write x [rows, width], normalized to mean 0 and variance 1 per row, to y. scale [rows] receives 1
 * / sqrt(variance + 1e-5). */
void ek_layer_norm(const float *x, size_t rows, size_t width, float *y, float *scale);
/* Add d loss / d x to dx, given d loss / d y. */
void ek_layer_norm_backward(const float *y, const float *scale, const float *dy, size_t rows,
                            size_t width, float *dx);

/* Multi-head self-attention over the items of one list (Vaswani et al. 2017), with a manual
 * backward pass.
 *
 *   P = softmax(Q K^T / sqrt(EK_ATTENTION_HEAD)), row by row;  O = P V;  per head
 *
 * n items; an item is a row of 3 w floats: Q, K and V, each of w = heads * EK_ATTENTION_HEAD; O [n,
 * w]. P [heads, n, n padded to EK_GEMM_COLUMNS], padding 0. A permuted list gives permuted results,
 * up to rounding. Sums have a fixed order. NaN propagates.
 */
enum { EK_ATTENTION_HEAD = 16 };

struct ek_attention {
    size_t items, heads;
    const float *qkv; /* [n, 3 w] */
    float *weight;    /* P, ek_attention_weights(n, heads) floats */
    float *scratch;   /* ek_attention_scratch(n) floats */
};

/* Return the number of floats of P for lists of up to `items` items. */
size_t ek_attention_weights(size_t items, size_t heads);
/* Return the number of floats of the scratch memory. */
size_t ek_attention_scratch(size_t items);

/* Compute the attention weights P and the output out [n, w]. */
void ek_attention_forward(const struct ek_attention *a, float *out);
/* Compute d loss / d qkv [n, 3 w] from d loss / d O. With `own`, row i of d_out is the gradient of
 * a function of item i alone. Row i of d_qkv is then its gradient with respect to item i's Q, K and
 * V: n gradients in one pass. */
void ek_attention_backward(const struct ek_attention *a, const float *d_out, bool own,
                           float *d_qkv);

#endif
