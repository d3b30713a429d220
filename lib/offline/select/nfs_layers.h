/* Linear layers of the re-ranker: forward, and back by hand.
 *
 * Shapes: x [rows, stride], y [rows, outputs]; `stride` is `inputs` rounded up to
 * EK_GEMM_COLUMNS, of which `outputs` is a multiple. Parameters are places in one flat array:
 * weight [inputs, outputs], bias [outputs]. `turned` [outputs, stride] is the weights transposed,
 * for the way back. Padding of x is 0 and gets gradient 0. All sums have a fixed order. NaN goes
 * where arithmetic takes it. Owner: all arrays are the caller's. Threads: no state.
 */
#ifndef EK_OFFLINE_SELECT_NFS_LAYERS_H
#define EK_OFFLINE_SELECT_NFS_LAYERS_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

struct ek_linear {
    size_t inputs, outputs, stride;
    size_t weight, bias; /* places in the parameters */
    size_t turned;       /* place in the turned weights */
};

/* Takes its places behind what the arrays have so far. */
void ek_linear_init(struct ek_linear *l, size_t inputs, size_t outputs, size_t *parameters,
                    size_t *turned);
/* Weights of the inputs from `first` on, and biases, uniform within 1 / sqrt(inputs); other weights
 * stay. */
void ek_linear_start(const struct ek_linear *l, float *parameter, size_t first, struct ek_rng *r);
void ek_linear_transpose(const struct ek_linear *l, const float *parameter, float *turned);

/* y = x W + b */
void ek_linear_forward(const struct ek_linear *l, const float *parameter, const float *x,
                       size_t rows, float *y);
/* Adds the layer's own gradient, given d loss / d y. */
void ek_linear_backward(const struct ek_linear *l, const float *x, const float *dy, size_t rows,
                        float *gradient);
/* d loss / d x, or adds it. */
void ek_linear_backward_input(const struct ek_linear *l, const float *turned, const float *dy,
                              size_t rows, bool add, float *dx);

/* Layer normalisation (Ba, Kiros and Hinton 2016) without gain and shift of its own: the weights of
 * the linear layer behind it can do both.
 *
 *   y = (x - mean) / sqrt(variance + 1e-5), over a row's elements, variance with divisor n
 *
 * A row of equal elements gives zeros. Sums are in double and in order, results rounded once. NaN
 * in a row makes the row NaN. Owner: all arrays are the caller's. Threads: no state.
 */
/* x, y [rows, width]; scale [rows] gets 1 / sqrt(variance + 1e-5). */
void ek_layer_norm(const float *x, size_t rows, size_t width, float *y, float *scale);
/* Adds d loss / d x to dx, given d loss / d y. */
void ek_layer_norm_backward(const float *y, const float *scale, const float *dy, size_t rows,
                            size_t width, float *dx);

/* Self-attention over the items of one list, by several heads (Vaswani et al. 2017), forward and
 * back by hand.
 *
 *   P = softmax(Q K^T / sqrt(EK_ATTENTION_HEAD)), row by row;  O = P V;  per head
 *
 * Shapes: n items; an item is a row of 3 w floats: Q, K and V, each of w = heads *
 * EK_ATTENTION_HEAD; O [n, w]. P [heads, n, n padded to EK_GEMM_COLUMNS], padding 0. Items have no
 * order: a list in another order gives its results in that order, up to rounding. One item attends
 * to itself. Sums have a fixed order. NaN goes where arithmetic takes it. Owner: all arrays are the
 * caller's. Threads: no state.
 */
enum { EK_ATTENTION_HEAD = 16 };

struct ek_attention {
    size_t items, heads;
    const float *qkv; /* [n, 3 w] */
    float *weight;    /* P, ek_attention_weights(n, heads) floats */
    float *scratch;   /* ek_attention_scratch(n) floats */
};

size_t ek_attention_weights(size_t items, size_t heads);
size_t ek_attention_scratch(size_t items);

/* Fills P and out [n, w]. */
void ek_attention_forward(const struct ek_attention *a, float *out);
/* From d loss / d O to d loss / d qkv [n, 3 w]. With `own` row i of d_out is taken as the gradient
 * of something of item i alone, and row i of d_qkv becomes the gradient of just that by item i's
 * own Q, K and V: n gradients at the price of one. */
void ek_attention_backward(const struct ek_attention *a, const float *d_out, bool own,
                           float *d_qkv);

#endif
