/* The re-ranker that feature selection looks into (nfs.h): features through a learned
 * mixture of transforms, one encoder block with self-attention over the items of a list, a score.
 *
 *   u  = [sum_m share_fm part_fm per feature f, query]     share_f = softmax of f's row
 *   h0 = u W + b
 *   h1 = h0 + attention(norm(h0)) W + b
 *   h2 = h1 + relu(norm(h1) W + b) W + b
 *   s  = norm(h2) . w
 *
 * Normalisation stands before the parts of the block, as such a block trains without special care
 * (Xiong et al. 2020); the items have no order, so there is no encoding of positions. There is one
 * block, since then the gradient of each item's score by its own features needs one way back for
 * the whole list (nfs_layers.h). The weights of the features start from 0: equal features stay
 * equal bit for bit, and what was never learned has no gradient.
 *
 * Shapes: F features, M query features; a pass holds the rows of some lists one after the other.
 * Parameters are one flat array. Parts are finite, missing values 0 (nfs_data.h). Arithmetic is
 * float32 with sums in a fixed order. Owner: the caller. Threads: a network is read-only, every
 * thread has a pass of its own.
 */
#ifndef EK_OFFLINE_SELECT_NFS_NETWORK_H
#define EK_OFFLINE_SELECT_NFS_NETWORK_H

#include "base/rng.h"
#include "offline/select/nfs_layers.h"

enum { EK_NFS_PARTS = 3, EK_NFS_WIDTH = 64, EK_NFS_HEADS = 4, EK_NFS_WIDE = 128 };
enum { EK_NFS_PASS_LISTS = 128 };

struct ek_nfs_network {
    size_t features, queries;
    size_t mixture; /* [F, EK_NFS_PARTS] */
    struct ek_linear in, qkv, out, wide, narrow;
    size_t score;  /* [EK_NFS_WIDTH] */
    size_t shares; /* place in the turned weights: [F, EK_NFS_PARTS] */
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
    double *score, *slope;        /* [rows]: of every item; d loss / d score, the caller's */
};

void ek_nfs_network_init(struct ek_nfs_network *n, size_t features, size_t queries);
void ek_nfs_network_start(const struct ek_nfs_network *n, float *parameter, struct ek_rng *r);
/* What the passes need besides the parameters: weights transposed, shares of the mixtures. */
void ek_nfs_network_transpose(const struct ek_nfs_network *n, const float *parameter,
                              float *turned);

/* EK_ENOMEM. */
int ek_nfs_pass_init(struct ek_nfs_pass *p, const struct ek_nfs_network *n, size_t rows_max);
void ek_nfs_pass_release(struct ek_nfs_pass *p);
void ek_nfs_pass_clear(struct ek_nfs_pass *p);
/* Whether there was room for the list, whose arrays must live as long as it is in the pass. */
bool ek_nfs_pass_add(struct ek_nfs_pass *p, const struct ek_nfs_network *n, const float *turned,
                     const struct ek_nfs_list *l);

/* Scores of all rows. */
void ek_nfs_forward(const struct ek_nfs_network *n, const float *parameter, struct ek_nfs_pass *p);
/* Adds the gradient for p->slope; d_input is d loss / d u then. */
void ek_nfs_backward(const struct ek_nfs_network *n, const float *parameter, const float *turned,
                     struct ek_nfs_pass *p, float *gradient);
/* d_input becomes, row by row, d score / d u of the same item. */
void ek_nfs_item_gradient(const struct ek_nfs_network *n, const float *parameter,
                          const float *turned, struct ek_nfs_pass *p);

#endif
