/* The routable SIR network for training: parameters in one flat array, forward and backward.
 *
 * Shapes as in assets/model.h. Rows of a layer are padded to a multiple of EK_GEMM_COLUMNS floats;
 * padding is 0 and has gradient 0. Arithmetic is float32 with sums in a fixed order, the wide part
 * double: the same inputs give the same bits on every machine. Between the layers may stand batch
 * normalisation and dropout (network_norm.h); they are there in training only.
 * Owner: the caller. Threads: a network is read-only; every thread has a pass of its own.
 */
#ifndef EK_OFFLINE_TRAIN_NETWORK_H
#define EK_OFFLINE_TRAIN_NETWORK_H

#include "assets/model.h"
#include "base/rng.h"
#include "offline/train/encoded_dataset.h"

struct ek_network_layer {
    size_t inputs, outputs, stride, width; /* stride: inputs padded, width: outputs padded */
    size_t weight, bias;   /* places in the parameters: [outputs, stride], [width] */
    size_t turned;         /* place in the turned weights: [inputs, width] */
    size_t mean, variance; /* running ones of its inputs, in the parameters: [stride] twice */
};

struct ek_network {
    size_t items, queries, routable, gate; /* F, M, K, L */
    bool mask_input;
    enum ek_log_input log_input;
    const struct ek_model *model;
    const struct ek_input_usage *varied; /* what the deep part reads; NULL: everything */
    int layers;
    struct ek_network_layer layer[EK_LAYERS_MAX];
    size_t gate_weight, gate_bias, slope, zero; /* [L, M], [L], [L + 1, K] twice */
    bool norm;      /* inputs of the layers are normalised over the batch */
    double dropout; /* share of a hidden layer's outputs that is dropped */
    bool mixes;     /* item features come in parts, whose shares are learned */
    size_t mixture; /* [F, EK_TRANSFORM_PARTS]: shares are the softmax of a feature's row */
    size_t shares;  /* the same, place of the shares in the turned weights */
    size_t learned; /* what the optimiser moves stands first; running statistics follow */
    size_t parameters, turned; /* floats of either array */
};

/* What training puts between the layers; all zero for nothing. */
struct ek_network_options {
    bool batch_norm;
    double dropout; /* 0 <= dropout < 1 */
};

/* Layout for a model, which must outlive it. */
void ek_network_init(struct ek_network *n, const struct ek_model *m,
                     const struct ek_network_options *o);
/* PyTorch's default for linear layers: weights and biases uniform within 1 / sqrt(inputs); slope
 * and zero 0. */
void ek_network_start(const struct ek_network *n, float *parameter, struct ek_rng *r);
/* The weights transposed, for the forward direction, and the shares of a mixture: one of `parts`
 * parts of them, which may be done at the same time. */
void ek_network_transpose(const struct ek_network *n, const float *parameter, float *turned,
                          int part, int parts);
void ek_network_export(const struct ek_network *n, const float *parameter, struct ek_model *m);

/* One list's inputs: item [n, F + 2 K] as score/encode.h has it, query [M], mask [K] of 0 and 1;
 * of a mixture part [n, F, EK_TRANSFORM_PARTS], which then stands for the first F of `item`. */
struct ek_network_list {
    size_t items;
    const float *item, *query, *mask, *part;
};

/* Working memory for up to `rows` items at a time. */
struct ek_pass {
    size_t rows;
    float *input;                 /* [rows, stride of the first layer] */
    float *active[EK_LAYERS_MAX]; /* [rows, width]: what a layer gives */
    float *fed[EK_LAYERS_MAX];    /* [rows, stride]: what a layer reads; NULL: that as it is */
    float *keep[EK_LAYERS_MAX];   /* [rows, stride]: 0 where dropped, else 1 / (1 - dropout) */
    float *delta[EK_LAYERS_MAX];  /* [rows, width]: d loss / d what it gives before the ReLU */
    double *gate;                 /* [L + 1], scratch */
    double *slope, *zero;         /* [K], scratch */
    float *part;                  /* [rows, F, EK_TRANSFORM_PARTS] of a mixture, else NULL */
    float *below;                 /* [rows, stride of the first layer] of a mixture, else NULL */
    double *column[2];            /* [widest stride], sums over the rows */
};

int ek_pass_init(struct ek_pass *p, const struct ek_network *n, size_t rows);
void ek_pass_release(struct ek_pass *p);

/* Puts a list's items to the rows from `row`. */
void ek_network_load(const struct ek_network *n, const float *turned, struct ek_pass *p, size_t row,
                     const struct ek_network_list *l);
/* Runs `rows` loaded rows through the deep part, without what stands between layers in training. */
void ek_network_forward(const struct ek_network *n, const float *parameter, const float *turned,
                        struct ek_pass *p, size_t rows);
/* One layer of it. `trains`: it reads what it was fed. */
void ek_network_forward_layer(const struct ek_network *n, const float *parameter,
                              const float *turned, struct ek_pass *p, size_t rows, int layer,
                              bool trains);
/* Scores of a list whose rows start at `row`: deep part and wide part. */
void ek_network_score(const struct ek_network *n, const float *parameter, struct ek_pass *p,
                      size_t row, const struct ek_network_list *l, double *score);
/* Takes d loss / d score of a list: adds the wide part's gradient, notes the deep part's. */
void ek_network_backward_list(const struct ek_network *n, const float *parameter, struct ek_pass *p,
                              size_t row, const struct ek_network_list *l,
                              const double *slope_of_score, float *gradient);
/* Layers from the last to the first, all rows having been blamed: adds a layer's gradient, puts
 * d loss / d what it was fed into ek_pass_input_gradient. */
void ek_network_backward_layer(const struct ek_network *n, const float *parameter,
                               struct ek_pass *p, size_t rows, int layer, float *gradient);
/* Where the inputs of a layer come from, before anything is done to them: [rows, stride]. */
float *ek_pass_input(const struct ek_pass *p, int layer);
/* Where their gradient goes: [rows, stride]; NULL where nothing below learns. */
float *ek_pass_input_gradient(const struct ek_pass *p, int layer);
/* From d loss / d what the layer below gives to that before its ReLU. */
void ek_network_backward_relu(const struct ek_network *n, struct ek_pass *p, size_t rows,
                              int layer);

/* Adds a loaded list's gradient of a mixture, after the first layer's backward. */
void ek_network_backward_mixture(const struct ek_network *n, const float *turned, struct ek_pass *p,
                                 size_t row, const struct ek_network_list *l, float *gradient);

#endif
