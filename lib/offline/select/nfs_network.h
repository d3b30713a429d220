/* Re-ranker network of feature selection (nfs.h): a learned mixture of transforms per feature, one
 * encoder block with self-attention over the items of a list, and a score.
 *
 *   u  = [sum_m share_fm part_fm per feature f, query]     share_f = softmax of f's row
 *   h0 = u W + b
 *   h1 = h0 + attention(norm(h0)) W + b
 *   h2 = h1 + relu(norm(h1) W + b) W + b
 *   s  = norm(h2) . w
 *
 * Normalization precedes the parts of the block (pre-LN), which trains without special care (Xiong
 * et al. 2020). Items have no order, so positions are not encoded. With one block, a single
 * backward pass gives the gradient of each item's score by its own features. Feature
 * weights start at 0: equal features stay equal to the bit, and untrained ones have no gradient.
 *
 * F features, M query features; a pass has the rows of several lists. Parameters are one flat
 * array. Parts are finite, missing values 0 (nfs_train.h). Arithmetic is float32 with sums in a
 * fixed order. A network is read-only; each thread uses its own pass.
 */
#ifndef EK_OFFLINE_SELECT_NFS_NETWORK_H
#define EK_OFFLINE_SELECT_NFS_NETWORK_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

/* Layers of the re-ranker, with manual backward passes: linear layers, layer normalization and
 * self-attention.
 *
 * Linear layers: x is [rows, stride], y [rows, outputs]. `stride` is `inputs` rounded up to
 * EK_GEMM_COLUMNS, which also divides `outputs`. Parameters are offsets in one flat array: weight
 * [inputs, outputs], bias [outputs]. `turned` [outputs, stride] has the transposed weights for the
 * backward pass. Padding of x is 0 and gets gradient 0. All sums have a fixed order. NaN
 * propagates.
 */

struct ek_linear {
    size_t inputs, outputs, stride;
    size_t weight, bias; /* offsets in the parameters */
    size_t turned;       /* offset in the transposed weights */
};

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

enum { EK_NFS_PARTS = 3, EK_NFS_WIDTH = 64, EK_NFS_HEADS = 4, EK_NFS_WIDE = 128 };
enum { EK_NFS_PASS_LISTS = 128 };

struct ek_nfs_network {
    size_t features, queries;
    size_t mixture; /* [F, EK_NFS_PARTS] */
    struct ek_linear in, qkv, out, wide, narrow;
    size_t score;  /* [EK_NFS_WIDTH] */
    size_t shares; /* offset in the transposed weights: [F, EK_NFS_PARTS] */
    size_t parameters, turned;
};

struct ek_nfs_list {
    size_t items;
    const float *part;  /* [n, F, EK_NFS_PARTS] */
    const float *query; /* [M] */
};

struct ek_nfs_pass {
    size_t rows_max, lists, rows;
    struct ek_nfs_list list[EK_NFS_PASS_LISTS];
    float *input;                 /* [rows, in.stride] */
    float *h0, *h1, *h2;          /* [rows, WIDTH] */
    float *norm[3], *scale[3];    /* [rows, WIDTH], [rows] */
    float *qkv, *mixed, *wide;    /* [rows, 3 WIDTH], [rows, WIDTH], [rows, WIDE] */
    float *weight, *scratch;      /* of attention */
    float *d_input, *d_h, *d_row; /* [rows, in.stride], [rows, WIDTH] twice */
    float *d_qkv, *d_wide;        /* [rows, 3 WIDTH], [rows, WIDE] */
    double *score, *slope; /* [rows]: score of every item; d loss / d score, set by the caller */
};

/* Set *n to the layout of a network with `features` item features and `queries` query features. No
 * memory is allocated. */
void ek_nfs_network_init(struct ek_nfs_network *n, size_t features, size_t queries);
/* Set parameter [n->parameters] to random initial values. */
void ek_nfs_network_start(const struct ek_nfs_network *n, float *parameter, struct ek_rng *r);
/* Compute `turned`, which the passes need: transposed weights and mixture fractions. */
void ek_nfs_network_transpose(const struct ek_nfs_network *n, const float *parameter,
                              float *turned);

/* Allocate a pass for up to `rows_max` rows; release it with ek_nfs_pass_release. Return 0, or
 * EK_ENOMEM with nothing to release. */
int ek_nfs_pass_init(struct ek_nfs_pass *p, const struct ek_nfs_network *n, size_t rows_max);
void ek_nfs_pass_release(struct ek_nfs_pass *p);
/* Remove all lists from the pass. */
void ek_nfs_pass_clear(struct ek_nfs_pass *p);
/* Add a list; its arrays must live until the pass is cleared. Return false if it does not fit. */
bool ek_nfs_pass_add(struct ek_nfs_pass *p, const struct ek_nfs_network *n, const float *turned,
                     const struct ek_nfs_list *l);

/* Compute p->score of all rows of the pass. */
void ek_nfs_forward(const struct ek_nfs_network *n, const float *parameter, struct ek_nfs_pass *p);
/* Add the gradient of the parameters for p->slope (d loss / d score) to `gradient`, and set
 * p->d_input to d loss / d u. Call after ek_nfs_forward. */
void ek_nfs_backward(const struct ek_nfs_network *n, const float *parameter, const float *turned,
                     struct ek_nfs_pass *p, float *gradient);
/* Set each row of p->d_input to d score / d u of its item. Call after ek_nfs_forward. */
void ek_nfs_item_gradient(const struct ek_nfs_network *n, const float *parameter,
                          const float *turned, struct ek_nfs_pass *p);

#endif
