/* Batch normalization (Ioffe and Szegedy 2015) and dropout (Srivastava et al. 2014) in front of a
 * dense layer.
 *
 * A layer reads (x - mean) / sqrt(variance + 1e-3). Mean and variance (divisor n) are those of the
 * column over all items of the batch. Each pass measures its rows, and results are merged in the
 * order of the passes, so threads change no bit. Scale and shift are omitted, because the following
 * weights and bias provide them. Each unit of a hidden layer's output is 0 with probability
 * `dropout`, else divided by 1 - dropout; inputs of the first layer are never dropped. Outside
 * training, running mean and variance replace those of the batch, so the normalization can be
 * folded into the weights (ek_norm_fold).
 */
#ifndef EK_OFFLINE_TRAIN_NETWORK_NORM_H
#define EK_OFFLINE_TRAIN_NETWORK_NORM_H

#include "offline/train/network.h"

/* Statistics of one batch, and by default of one layer's inputs. */
struct ek_norm {
    float *mean[EK_LAYERS_MAX], *scale[EK_LAYERS_MAX]; /* [stride]; scale: 1 / deviation */
    float *level, *tilt; /* [widest stride], means of d and of d times the normalized input */
    double *merged[2];   /* [widest stride], scratch */
};

/* Allocate the state; empty if the network has no batch normalization. Return 0, or EK_ENOMEM with
 * nothing to release. */
int ek_norm_init(struct ek_norm *b, const struct ek_network *n);
void ek_norm_release(struct ek_norm *b);

/* Compute means and sums of squared differences of the input columns of `layer` over `rows` rows
 * into p->column. */
void ek_norm_measure(const struct ek_network *n, struct ek_pass *p, size_t rows, int layer);
/* Merge the measurements of `count` passes over rows[i] rows each into *b. The running statistics
 * in `parameter` become `old` times their value plus 1 - old times the batch. */
void ek_norm_merge(const struct ek_network *n, struct ek_norm *b, struct ek_pass *const *passes,
                   const size_t *rows, int count, int layer, float *parameter, double old);
/* Compute p->fed[layer], the normalized inputs with dropout, from the outputs of the layer below
 * and p->keep. */
void ek_norm_forward(const struct ek_network *n, const struct ek_norm *b, struct ek_pass *p,
                     size_t rows, int layer);

/* Begin the backward pass of a layer, after ek_network_backward_layer: revert dropout in
 * ek_pass_input_gradient, and sum its columns, alone and times the normalized input, into
 * p->column. */
void ek_norm_backward(const struct ek_network *n, const struct ek_norm *b, struct ek_pass *p,
                      size_t rows, int layer);
/* Merge the sums of ek_norm_backward of `count` passes over rows[i] rows each into *b. */
void ek_norm_merge_backward(const struct ek_network *n, struct ek_norm *b,
                            struct ek_pass *const *passes, const size_t *rows, int count,
                            int layer);
/* Convert d loss / d input of a layer to d loss / d output of the layer below, in place, after
 * ek_norm_merge_backward. */
void ek_norm_finish(const struct ek_network *n, const struct ek_norm *b, struct ek_pass *p,
                    size_t rows, int layer);

/* Set folded [n->parameters] to the parameters of the same network without normalization: weights
 * and biases include the running statistics. Without normalization this is a copy. */
void ek_norm_fold(const struct ek_network *n, const float *parameter, float *folded);

#endif
