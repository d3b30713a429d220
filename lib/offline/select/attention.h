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
#ifndef EK_CHOOSE_ATTENTION_H
#define EK_CHOOSE_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>

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
