/* How faithfully a model ranks as the upstream scorer does: what training measures on held-out
 * messages, the model file keeps, and the guard watches.
 *
 * Figures of one list (lib/score/agreement.h has the formulas), each the better the higher:
 *   tau      Kendall's tau-b, -1 .. 1
 *   ndcg@10  NDCG of the model's order, the gain of an item 1 / its place in the upstream one, 0 ..
 * 1 top1     whether both have the same item first, 0 .. 1 Value type. */
#ifndef EK_ASSETS_MODEL_H
#define EK_ASSETS_MODEL_H

#include "base/error.h"
#include "base/json.h"
#include "schema/manifest.h"
#include "schema/enum_names.h"
#include "yaml/json_parse.h"

#include <stdbool.h>
#include <stdint.h>

enum ek_agreement_statistic {
    EK_AGREEMENT_TAU,
    EK_AGREEMENT_NDCG10,
    EK_AGREEMENT_TOP1,
    EK_AGREEMENT_STATISTICS
};

/* "tau", "ndcg@10", "top1". */
const char *ek_agreement_statistic_name(enum ek_agreement_statistic f);
/* The lowest value there is: -1 or 0. */
double ek_agreement_statistic_low(enum ek_agreement_statistic f);

struct ek_model_agreement {
    uint64_t lists; /* that were compared; 0: not known, and the rest means nothing */
    double mean[EK_AGREEMENT_STATISTICS], sd[EK_AGREEMENT_STATISTICS]; /* over these lists */
};

/* The routable SIR model as stored: weights, training statistics, and what they mean
 * (docs/format/model.md; safetensors with the JSON description under `routable_sir`).
 *
 * Shapes: F item features, M query features, K routable, L gate outputs, H_i hidden sizes.
 *   weight[i] [H_i, H_(i-1)], bias[i] [H_i]; H_0 = deep inputs, last H = 1
 *   gate_weight [L, M], gate_bias [L]; slope, zero [L + 1, K] (last row: constant gate value 1)
 * Deep inputs in order: u [F], query [M], mask [K] if mask_input, then z [K] and zero [K] if
 * log_input is always, m*z [K] if routed, nothing if none.
 * NaN and infinities are refused on loading, as are standard deviations that are not positive.
 * Units: statistics of sgn(x) ln(1+|x|) (item_*, query_*), of ln|x| (log_*), raw (item_median,
 * raw_*, cdf).
 * Owner: the caller, ek_model_free. Read-only after loading.
 */
enum { EK_LAYERS_MAX = 8, EK_LAYER_WIDTH_MAX = 65536, EK_HOLD_QUEUE_MAX = 1024 };
enum ek_log_input { EK_LOG_NONE, EK_LOG_ROUTED, EK_LOG_ALWAYS };
/* What the deep part sees of an item's feature: standardised sgn(x) ln(1+|x|), x itself,
 * standardised x, the share of training values below x, or a weighted mean of these four. */
enum ek_transform {
    EK_TRANSFORM_LOG1P,
    EK_TRANSFORM_RAW,
    EK_TRANSFORM_ZSCORE,
    EK_TRANSFORM_CDF,
    EK_TRANSFORM_MIXTURE
};
/* Columns of `mixture`; knots of a feature's cumulative distribution. */
enum {
    EK_PART_RAW,
    EK_PART_ZSCORE,
    EK_PART_CDF,
    EK_PART_LOG1P,
    EK_TRANSFORM_PARTS,
    EK_CDF_KNOTS = 256
};
/* Which features were routed in training: any subset by chance, none, or always the same. */
enum ek_routing { EK_ROUTING_RANDOM, EK_ROUTING_NONE, EK_ROUTING_STATIC };

/* How a model was trained, when its description says so; a model from elsewhere need not. */
struct ek_trained {
    bool known;
    enum ek_routing routing;
    bool *routed;  /* [K] under EK_ROUTING_STATIC, else NULL */
    char loss[24]; /* empty: not told */
    uint64_t seed, manifest_hash;
};

struct ek_model {
    int item_features, query_features, routable_count, gate_size; /* F, M, K, L */
    char **item_names, **query_names;                             /* [F], [M] */
    int *routable;                                                /* [K] item numbers */
    int hidden_count, hidden[EK_LAYERS_MAX - 1];
    bool mask_input, list_free;
    enum ek_log_input log_input;
    enum ek_transform transform;
    int deep_inputs;                                    /* H_0 */
    float *weight[EK_LAYERS_MAX], *bias[EK_LAYERS_MAX]; /* hidden_count + 1 of them */
    float *gate_weight, *gate_bias, *slope, *zero;
    float *item_mean, *item_sd, *item_median; /* [F] */
    float *query_mean, *query_sd;             /* [M] */
    float *log_sd, *log_mean;                 /* [K] */
    /* NULL where the transform does without: */
    float *raw_mean, *raw_sd; /* [F] */
    float *cdf;               /* [F, EK_CDF_KNOTS], rising */
    float *mixture;           /* [F, EK_TRANSFORM_PARTS] */
    struct ek_trained trained;
    struct ek_model_agreement fidelity; /* to the scorer it was taught by; lists 0: none */
    struct ek_tensors *storage;         /* what the pointers point into */
};

struct ek_model_shape {
    int hidden_count, hidden[EK_LAYERS_MAX - 1], gate_size;
    bool mask_input, list_free;
    enum ek_log_input log_input;
    enum ek_transform transform;
};

/* A model of zeros for the features of a manifest. EK_EUSAGE for a shape out of bounds, or
 * list_free with logs among the deep inputs. */
int ek_model_new(struct ek_model **out, const struct ek_manifest *m,
                 const struct ek_model_shape *shape, struct ek_error *e);
void ek_model_free(struct ek_model *m);
int ek_model_load(struct ek_model **out, const char *path, struct ek_error *e);
/* Takes the tensors over in any case; `name` stands for the file in errors. */
int ek_model_from_tensors(struct ek_model **out, struct ek_tensors *t, const char *name,
                          struct ek_error *e);
/* Brings the JSON description of `storage` up to date with the statistics. */
int ek_model_describe(const struct ek_model *m, struct ek_error *e);
int ek_model_save(const struct ek_model *m, const char *path, struct ek_error *e);
/* EK_ESTATE, naming the first difference, unless the model was made for these features. */
int ek_model_check(const struct ek_model *m, const struct ek_manifest *manifest,
                   struct ek_error *e);
/* "log1p", "raw", "zscore", "cdf" or "mixture". */
const char *ek_transform_name(enum ek_transform t);
/* -1 for a name that is none. */
int ek_transform_parse(const char *name);
/* "random", "none" or "static". */
const char *ek_routing_name(enum ek_routing r);
/* Whether a model that was trained under one routing only would be scored under another. Then
 * `text` says what is wrong and what helps, to stand behind the model's name. Treatments [K]; NULL:
 * not known yet, any may come. */
bool ek_model_routing_warning(const struct ek_model *m, const struct ek_treatment *t, char *text,
                              size_t size);
/* Routable number of a feature name, -1 when it is not routable in this model. */
int ek_model_routable(const struct ek_model *m, const char *name);

/* The key `fidelity` of a model's description; only model_file.c includes it. */
/* Append the member `fidelity`. */
void ek_model_agreement_write(const struct ek_model_agreement *f, struct ek_json_writer *w);
/* From a description; lists 0 when it has none. EK_EFORMAT when it is not usable. */
int ek_model_agreement_read(yyjson_val *description, struct ek_model_agreement *out,
                            struct ek_error *e);

#endif
