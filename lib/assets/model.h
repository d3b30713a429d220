/* Model that scores lists: the routable SIR network, or the user's own ranker.
 *
 * The agreement of the network with the upstream scorer is measured on held-out messages, stored in
 * the model file and monitored at run time. The user's ranker is the upstream scorer.
 * Statistics of one list, higher is better (formulas in lib/score/agreement.h):
 *   tau      Kendall's tau-b, -1 .. 1
 *   ndcg@10  NDCG of the model's order with gain 1 / upstream rank, 0 .. 1
 *   top1     1 if both rank the same item first, else 0
 */
#ifndef EK_ASSETS_MODEL_H
#define EK_ASSETS_MODEL_H

#include "base/error.h"
#include "base/json.h"
#include "schema/manifest.h"
#include "schema/enum_names.h"
#include "assets/onnx_model.h"
#include "assets/trees.h"
#include "yaml/json_parse.h"

#include <stdbool.h>
#include <stdint.h>

enum ek_agreement_statistic {
    EK_AGREEMENT_TAU,
    EK_AGREEMENT_NDCG10,
    EK_AGREEMENT_TOP1,
    EK_AGREEMENT_STATISTICS
};

/* Return the name of a statistic, a static string: "tau", "ndcg@10" or "top1". */
const char *ek_agreement_statistic_name(enum ek_agreement_statistic f);
/* Return the minimum of the statistic: -1 or 0. */
double ek_agreement_statistic_low(enum ek_agreement_statistic f);

struct ek_model_agreement {
    uint64_t lists; /* compared; 0: unknown, the other fields are undefined */
    double mean[EK_AGREEMENT_STATISTICS], sd[EK_AGREEMENT_STATISTICS]; /* over the compared lists */
};

/* Routable SIR model: weights and training statistics (docs/format/model.md; safetensors with a
 * JSON description under `routable_sir`).
 *
 * Shapes: F item features, M query features, K routable, L gate outputs, H_i hidden sizes.
 *   weight[i] [H_i, H_(i-1)], bias[i] [H_i]; H_0 = deep inputs, last H = 1
 *   gate_weight [L, M], gate_bias [L]; slope, zero [L + 1, K] (last row: constant gate value 1)
 * Deep inputs in order: u [F], query [M], mask [K] if mask_input, then z [K] and zero [K] if
 * log_input is always, m*z [K] if routed, nothing if none.
 *
 * Loading rejects NaN, infinities and standard deviations <= 0. Units: statistics of sgn(x)
 * ln(1+|x|) (item_*, query_*), of ln|x| (log_*), raw (item_median, raw_*, cdf). Read-only after
 * loading.
 */
enum { EK_LAYERS_MAX = 8, EK_LAYER_WIDTH_MAX = 65536, EK_GATE_SIZE_MAX = 1024 };
enum ek_log_input { EK_LOG_NONE, EK_LOG_ROUTED, EK_LOG_ALWAYS };
/* Transform of an item feature before the deep part: standardized sgn(x) ln(1+|x|), x, standardized
 * x, fraction of training values below x, or a weighted mean of these four. */
enum ek_transform {
    EK_TRANSFORM_LOG1P,
    EK_TRANSFORM_RAW,
    EK_TRANSFORM_ZSCORE,
    EK_TRANSFORM_CDF,
    EK_TRANSFORM_MIXTURE
};
/* Columns of `mixture`, and knots per feature of `cdf`. */
enum {
    EK_PART_RAW,
    EK_PART_ZSCORE,
    EK_PART_CDF,
    EK_PART_LOG1P,
    EK_TRANSFORM_PARTS,
    EK_CDF_KNOTS = 256
};
/* Features routed in training: random subsets, none, or a fixed set. */
enum ek_routing { EK_ROUTING_RANDOM, EK_ROUTING_NONE, EK_ROUTING_STATIC };

/* Training options from the description; a model of another tool may lack them. */
struct ek_trained {
    bool known;
    enum ek_routing routing;
    bool *routed;  /* [K] for EK_ROUTING_STATIC, else NULL */
    char loss[24]; /* empty: unknown */
    uint64_t seed, manifest_hash;
};

struct ek_model {
    int item_features, query_features, routable_count, gate_size; /* F, M, K, L */
    char **item_names, **query_names;                             /* [F], [M] */
    int *routable;                                                /* [K] item feature numbers */
    int hidden_count, hidden[EK_LAYERS_MAX - 1];
    bool mask_input, list_free;
    enum ek_log_input log_input;
    enum ek_transform transform;
    int deep_inputs;                                    /* H_0 */
    float *weight[EK_LAYERS_MAX], *bias[EK_LAYERS_MAX]; /* [hidden_count + 1] */
    float *gate_weight, *gate_bias, *slope, *zero;
    float *item_mean, *item_sd, *item_median; /* [F] */
    float *query_mean, *query_sd;             /* [M] */
    float *log_sd, *log_mean;                 /* [K] */
    /* NULL if the transform does not use them: */
    float *raw_mean, *raw_sd; /* [F] */
    float *cdf;               /* [F, EK_CDF_KNOTS], non-decreasing */
    float *mixture;           /* [F, EK_TRANSFORM_PARTS] */
    struct ek_trained trained;
    struct ek_model_agreement agreement; /* with the upstream scorer; lists 0: unknown */
    struct ek_tensors *storage;          /* memory of the arrays */
    /* The user's own ranker in place of the network, one of them or NULL: all members above are
     * empty but for the features, which are those of the manifest after ek_model_check. */
    struct ek_trees *trees;
    struct ek_onnx_model *onnx;
};

struct ek_model_shape {
    int hidden_count, hidden[EK_LAYERS_MAX - 1], gate_size;
    bool mask_input, list_free;
    enum ek_log_input log_input;
    enum ek_transform transform;
};

/* Create a model of zeros for the features of a manifest, whose names are copied. Return 0,
 * EK_ENOMEM, or EK_EUSAGE for an invalid shape or for list_free with log inputs. */
int ek_model_new(struct ek_model **out, const struct ek_manifest *m,
                 const struct ek_model_shape *shape, struct ek_error *e);
void ek_model_free(struct ek_model *m);
/* Read a model file: a network, trees of LightGBM or XGBoost, or ONNX. The caller frees *out.
 * Return 0, EK_EIO, EK_EFORMAT, EK_ELIMIT for a file beyond the limits of its kind, EK_ESTATE for
 * ONNX without its runtime, or EK_ENOMEM. */
int ek_model_load(struct ek_model **out, const char *path, struct ek_error *e);
/* Create a model from tensors, which it frees, also on error. `name` is the file name in errors.
 * Return 0, EK_EFORMAT or EK_ENOMEM. */
int ek_model_from_tensors(struct ek_model **out, struct ek_tensors *t, const char *name,
                          struct ek_error *e);
/* Set the JSON description in m->storage from the members of the model. Return 0 or EK_ENOMEM. */
int ek_model_describe(const struct ek_model *m, struct ek_error *e);
/* Update the description and write the file. Return 0, EK_EIO or EK_ENOMEM; on error an existing
 * file stays unchanged. */
int ek_model_save(const struct ek_model *m, const char *path, struct ek_error *e);
/* Check the features against the manifest, and bind a ranker to them. Return 0, EK_ENOMEM, or
 * EK_ESTATE naming the first difference. */
int ek_model_check(struct ek_model *m, const struct ek_manifest *manifest, struct ek_error *e);
enum { EK_RANKER_HEAD = EK_TREES_HEAD };
/* Return whether a file begins like the user's own ranker. EK_RANKER_HEAD bytes, unless it is
 * shorter. */
bool ek_model_begins_as_ranker(const void *bytes, size_t length);
/* Return the library of the user's own ranker, a static string: "LightGBM", "XGBoost" or "ONNX".
 * NULL: a network. */
const char *ek_model_library(const struct ek_model *m);
/* Return the input columns of the user's own ranker; NULL: a network. */
struct ek_columns *ek_model_columns(const struct ek_model *m);
/* Return 0 for a network, or EK_EUSAGE for a ranker, with the message that `purpose` needs a
 * network
 * ("export needs"). */
int ek_model_require_network(const struct ek_model *m, const char *path, const char *purpose,
                             struct ek_error *e);
/* Return the name of a transform, a static string: "log1p", "raw", "zscore", "cdf" or "mixture". */
const char *ek_transform_name(enum ek_transform t);
/* Return the transform, or -1 for an unknown name. */
int ek_transform_parse(const char *name);
/* Return the name of a routing, a static string: "random", "none" or "static". */
const char *ek_routing_name(enum ek_routing r);
/* Return whether a model trained with one fixed routing would score with another. `text` then
 * receives the problem and the remedy, to follow the model's name. Treatments [K]; NULL: not known
 * yet. */
bool ek_model_routing_warning(const struct ek_model *m, const struct ek_treatment *t, char *text,
                              size_t size);
/* Return the routable index of a feature, or -1 if it is not routable in this model. */
int ek_model_routable(const struct ek_model *m, const char *name);

/* Key `agreement` of the model description, for model_file.c. */
/* Append the member `agreement` to the open object. Errors are in w->rc. */
void ek_model_agreement_write(const struct ek_model_agreement *f, struct ek_json_writer *w);
/* Set *out to the member `agreement` of a description; its lists are 0 if absent. Return 0 or
 * EK_EFORMAT. */
int ek_model_agreement_read(yyjson_val *description, struct ek_model_agreement *out,
                            struct ek_error *e);

#endif
