/* Routable SIR network for training: parameters in one flat array, forward and backward passes.
 *
 * Shapes as in model.h. Rows of a layer are padded to a multiple of EK_GEMM_COLUMNS floats; padding
 * is 0 and has gradient 0. Arithmetic is float32 with sums in a fixed order, the wide part double,
 * so equal inputs give equal bits on every machine. Batch normalization and dropout between layers
 * (network_norm.h) apply only in training. A network is read-only; each thread uses its own pass.
 */
#ifndef EK_OFFLINE_TRAIN_NETWORK_H
#define EK_OFFLINE_TRAIN_NETWORK_H

#include "assets/model.h"
#include "base/rng.h"
#include "offline/train/encoded_dataset.h"

struct ek_network_layer {
    size_t inputs, outputs, stride, width; /* stride: padded inputs; width: padded outputs */
    size_t weight, bias;   /* offsets in the parameters: [outputs, stride], [width] */
    size_t turned;         /* offset in the transposed weights: [inputs, width] */
    size_t mean, variance; /* running statistics of its inputs, in the parameters: [stride] each */
};

struct ek_network {
    size_t items, queries, routable, gate; /* F, M, K, L */
    bool mask_input;
    enum ek_log_input log_input;
    const struct ek_model *model;
    const struct ek_input_usage *varied; /* usage of the deep inputs; NULL: all */
    int layers;
    struct ek_network_layer layer[EK_LAYERS_MAX];
    size_t gate_weight, gate_bias, slope, zero; /* [L, M], [L], [L + 1, K] twice */
    bool norm;                                  /* layer inputs are normalized over the batch */
    double dropout;                             /* dropped fraction of a hidden layer's outputs */
    bool mixes;                                 /* item features are learned mixtures of parts */
    size_t mixture; /* [F, EK_TRANSFORM_PARTS]: fractions are the softmax of a feature's row */
    size_t shares;  /* as mixture: offset of the fractions in the transposed weights */
    size_t learned; /* parameters of the optimizer, the first ones; running statistics follow */
    size_t parameters, turned; /* floats in each array */
};

/* Layers between the dense layers in training; all zero: none. */
struct ek_network_options {
    bool batch_norm;
    double dropout; /* 0 <= dropout < 1 */
};

/* Set *n to the layout of the parameters of a model, which must outlive it. No memory is allocated.
 */
void ek_network_init(struct ek_network *n, const struct ek_model *m,
                     const struct ek_network_options *o);
/* Set parameter [n->parameters] to initial values as those of PyTorch's linear layers: weights and
 * biases uniform within 1 / sqrt(inputs); slope and zero 0. */
void ek_network_start(const struct ek_network *n, float *parameter, struct ek_rng *r);
/* Write part `part` of `parts` of the transposed weights and mixture fractions to `turned`, which
 * the passes need. Parts may run in parallel. */
void ek_network_transpose(const struct ek_network *n, const float *parameter, float *turned,
                          int part, int parts);
/* Copy the parameters to a model of the same layers, gate and routable features, with unused inputs
 * set to 0. Normalization must be folded into the weights before (network_norm.h). */
void ek_network_export(const struct ek_network *n, const float *parameter, struct ek_model *m);

/* Inputs of one list: item [n, F + 2 K] in the layout of encode.h, query [M], mask [K] of 0 and 1.
 * For a mixture, part [n, F, EK_TRANSFORM_PARTS] replaces the first F of `item`. */
struct ek_network_list {
    size_t items;
    const float *item, *query, *mask, *part;
};

/* Working memory for up to `rows` items. */
struct ek_pass {
    size_t rows;
    float *input;                 /* [rows, stride of the first layer] */
    float *active[EK_LAYERS_MAX]; /* [rows, width], outputs of a layer */
    float *fed[EK_LAYERS_MAX];    /* [rows, stride], after norm and dropout; NULL: neither */
    float *keep[EK_LAYERS_MAX];   /* [rows, stride], 0 if dropped, else 1 / (1 - dropout) */
    float *delta[EK_LAYERS_MAX];  /* [rows, width], d loss / d output before the ReLU */
    double *gate;                 /* [L + 1], scratch */
    double *slope, *zero;         /* [K], scratch */
    float *part;                  /* [rows, F, EK_TRANSFORM_PARTS] for a mixture, else NULL */
    float *below;                 /* [rows, stride of the first layer] for a mixture, else NULL */
    double *column[2];            /* [widest stride], sums over the rows */
};

/* Allocate a pass of up to `rows` rows; release it with ek_pass_release. Return 0, or EK_ENOMEM
 * with nothing to release. */
int ek_pass_init(struct ek_pass *p, const struct ek_network *n, size_t rows);
void ek_pass_release(struct ek_pass *p);

/* Copy the inputs of a list into the rows of the pass from `row` on, before ek_network_forward. */
void ek_network_load(const struct ek_network *n, const float *turned, struct ek_pass *p, size_t row,
                     const struct ek_network_list *l);
/* Run the first `rows` rows, which are loaded, through the deep part, without normalization and
 * dropout. */
void ek_network_forward(const struct ek_network *n, const float *parameter, const float *turned,
                        struct ek_pass *p, size_t rows);
/* Run one layer over `rows` rows, from its inputs to those of the next layer. With `trains` it
 * reads the normalized inputs. */
void ek_network_forward_layer(const struct ek_network *n, const float *parameter,
                              const float *turned, struct ek_pass *p, size_t rows, int layer,
                              bool trains);
/* Set score [items of l] to the scores of a list with rows from `row` on: deep part plus wide part.
 * Call after ek_network_forward. */
void ek_network_score(const struct ek_network *n, const float *parameter, struct ek_pass *p,
                      size_t row, const struct ek_network_list *l, double *score);
/* Process d loss / d score of a list: add the gradient of the wide part, and store that of the deep
 * part. */
void ek_network_backward_list(const struct ek_network *n, const float *parameter, struct ek_pass *p,
                              size_t row, const struct ek_network_list *l,
                              const double *slope_of_score, float *gradient);
/* Add the gradient of one layer, and write d loss / d input to ek_pass_input_gradient. Call from
 * the last layer to the first, after ek_network_backward_list for all lists. */
void ek_network_backward_layer(const struct ek_network *n, const float *parameter,
                               struct ek_pass *p, size_t rows, int layer, float *gradient);
/* Return the inputs of a layer before normalization and dropout [rows, stride], an array of the
 * pass. */
float *ek_pass_input(const struct ek_pass *p, int layer);
/* Return the gradient of the inputs of a layer [rows, stride], an array of the pass, or NULL if no
 * parameter below needs it. */
float *ek_pass_input_gradient(const struct ek_pass *p, int layer);
/* Convert d loss / d output of the layer below to that before its ReLU. */
void ek_network_backward_relu(const struct ek_network *n, struct ek_pass *p, size_t rows,
                              int layer);

/* Add the mixture gradient of a loaded list to `gradient`. Call after the backward pass of the
 * first layer. */
void ek_network_backward_mixture(const struct ek_network *n, const float *turned, struct ek_pass *p,
                                 size_t row, const struct ek_network_list *l, float *gradient);

#endif
