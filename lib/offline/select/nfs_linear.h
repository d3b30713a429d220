/* Linear layers of the re-ranker: forward, and back by hand.
 *
 * Shapes: x [rows, stride], y [rows, outputs]; `stride` is `inputs` rounded up to
 * EK_GEMM_COLUMNS, of which `outputs` is a multiple. Parameters are places in one flat array:
 * weight [inputs, outputs], bias [outputs]. `turned` [outputs, stride] is the weights transposed,
 * for the way back. Padding of x is 0 and gets gradient 0. All sums have a fixed order. NaN goes
 * where arithmetic takes it. Owner: all arrays are the caller's. Threads: no state.
 */
#ifndef EK_CHOOSE_NFS_LINEAR_H
#define EK_CHOOSE_NFS_LINEAR_H

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
void ek_linear_turn(const struct ek_linear *l, const float *parameter, float *turned);

/* y = x W + b */
void ek_linear_forward(const struct ek_linear *l, const float *parameter, const float *x,
                       size_t rows, float *y);
/* Adds the layer's own gradient, given d loss / d y. */
void ek_linear_blame(const struct ek_linear *l, const float *x, const float *dy, size_t rows,
                     float *gradient);
/* d loss / d x, or adds it. */
void ek_linear_below(const struct ek_linear *l, const float *turned, const float *dy, size_t rows,
                     bool add, float *dx);

#endif
