/* What stands before a dense layer in training: batch normalisation (Ioffe and Szegedy 2015), then
 * dropout (Srivastava et al. 2014).
 *
 * A layer reads (x - mean) / sqrt(variance + 1e-3), mean and variance (divisor n) being those of
 * the column over all items of the batch, however many passes hold them: each pass measures its
 * rows, and the results are merged in the order of the passes, so that no thread changes a bit. The
 * normalised inputs have no scale and shift of their own, as the weights and the bias behind them
 * can do both. Of what a hidden layer gives, each unit of each item is 0 with probability
 * `dropout`, else divided by 1 - dropout; the first layer's inputs are never dropped.
 * Outside training the running mean and variance take the place of the batch's, which makes the
 * normalisation a part of the weights (ek_norm_fold). Owner: the caller.
 */
#ifndef EK_OFFLINE_TRAIN_NETWORK_NORM_H
#define EK_OFFLINE_TRAIN_NETWORK_NORM_H

#include "offline/train/network.h"

/* Of one batch and one layer's inputs at a time where nothing else is said. */
struct ek_norm {
    float *mean[EK_LAYERS_MAX], *scale[EK_LAYERS_MAX]; /* [stride]; scale: 1 / deviation */
    float *level, *tilt; /* [widest stride]: means of d and of d times the normalised input */
    double *merged[2];   /* [widest stride], scratch */
};

/* EK_ENOMEM. Without batch normalisation there is nothing in it. */
int ek_norm_init(struct ek_norm *b, const struct ek_network *n);
void ek_norm_release(struct ek_norm *b);

/* Means and sums of squared differences of the columns that layer `layer` reads, into p->column. */
void ek_norm_measure(const struct ek_network *n, struct ek_pass *p, size_t rows, int layer);
/* Merges what `count` passes have measured over rows[i] rows each. The running statistics among
 * the parameters become `old` of what they were and 1 - old of the batch's. */
void ek_norm_merge(const struct ek_network *n, struct ek_norm *b, struct ek_pass *const *passes,
                   const size_t *rows, int count, int layer, float *parameter, double old);
/* Fills p->fed[layer] from what the layer below gave, with p->keep. */
void ek_norm_forward(const struct ek_network *n, const struct ek_norm *b, struct ek_pass *p,
                     size_t rows, int layer);

/* The way back, from ek_pass_input_gradient (where there is one) after ek_network_backward_layer.
 * First undo the dropout and sum up into p->column what the columns of d add up to, alone and times
 * the normalised input; then merge the passes; then turn d loss / d fed into d loss / d what the
 * layer below gave. */
void ek_norm_backward(const struct ek_network *n, const struct ek_norm *b, struct ek_pass *p,
                      size_t rows, int layer);
void ek_norm_merge_backward(const struct ek_network *n, struct ek_norm *b,
                            struct ek_pass *const *passes, const size_t *rows, int count,
                            int layer);
void ek_norm_finish(const struct ek_network *n, const struct ek_norm *b, struct ek_pass *p,
                    size_t rows, int layer);

/* The same network without normalisation: parameters whose weights and biases contain the running
 * statistics. A copy where there is none. */
void ek_norm_fold(const struct ek_network *n, const float *parameter, float *folded);

#endif
