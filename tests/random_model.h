/* Models of every shape with random weights and statistics, and input values for them. */
#ifndef EK_TESTS_RANDOM_MODEL_H
#define EK_TESTS_RANDOM_MODEL_H

#include "base/rng.h"
#include "assets/model.h"
#include "score/scorer.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

enum { EK_RANDOM_FEATURES = 9, EK_RANDOM_QUERIES = 4 }; /* maxima */

/* Return a manifest with random roles and at least one routable item feature. */
static inline struct ek_manifest *ek_random_manifest(struct ek_rng *r)
{
    char text[2048];
    struct ek_manifest *m;
    struct ek_error e;
    int items = 1 + (int)ek_rng_uniform_int(r, EK_RANDOM_FEATURES), index = 1;
    int n = snprintf(text, sizeof text, "features:\n");
    for (int i = 0; i < items; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - {name: x%d, index: %d, role: item, routable: %s}\n", i, index++,
                      i && ek_rng_uniform_int(r, 3) == 0 ? "false" : "true");
    for (uint64_t i = ek_rng_uniform_int(r, EK_RANDOM_QUERIES + 1); i > 0; i--)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - {name: q%d, index: %d, role: query}\n", (int)i, index++);
    ck_assert_int_eq(ek_manifest_parse(&m, "m", text, (size_t)n, &e), EK_OK);
    return m;
}

static inline void ek_randomise(float *x, int count, struct ek_rng *r, double scale)
{
    for (int i = 0; i < count; i++)
        x[i] = (float)(scale * ek_rng_normal(r));
}

static inline void ek_randomise_positive(float *x, int count, struct ek_rng *r)
{
    for (int i = 0; i < count; i++)
        x[i] = (float)(0.1 + 3 * ek_rng_uniform(r));
}

static inline struct ek_model *ek_random_model(const struct ek_manifest *f, struct ek_rng *r)
{
    struct ek_model_shape shape = {.gate_size = (int)ek_rng_uniform_int(r, 5),
                                   .mask_input = ek_rng_uniform_int(r, 2) == 0,
                                   .log_input = (enum ek_log_input)ek_rng_uniform_int(r, 3)};
    struct ek_model *m;
    struct ek_error e;
    shape.list_free = shape.log_input == EK_LOG_NONE && ek_rng_uniform_int(r, 2);
    shape.hidden_count = (int)ek_rng_uniform_int(r, 3);
    shape.hidden[0] = 1 + (int)ek_rng_uniform_int(r, 40);
    shape.hidden[1] = 1 + (int)ek_rng_uniform_int(r, 20);
    ck_assert_int_eq(ek_model_new(&m, f, &shape, &e), EK_OK);
    for (int i = 0, below = m->deep_inputs; i <= m->hidden_count; i++) {
        int width = i < m->hidden_count ? m->hidden[i] : 1;
        ek_randomise(m->weight[i], width * below, r, 1 / sqrt(below));
        ek_randomise(m->bias[i], width, r, 0.3);
        below = width;
    }
    ek_randomise(m->gate_weight, m->gate_size * m->query_features, r, 0.5);
    ek_randomise(m->gate_bias, m->gate_size, r, 0.5);
    ek_randomise(m->slope, (m->gate_size + 1) * m->routable_count, r, 0.5);
    ek_randomise(m->zero, (m->gate_size + 1) * m->routable_count, r, 0.5);
    ek_randomise(m->item_mean, m->item_features, r, 3);
    ek_randomise(m->query_mean, m->query_features, r, 3);
    ek_randomise_positive(m->item_sd, m->item_features, r);
    ek_randomise_positive(m->query_sd, m->query_features, r);
    ek_randomise_positive(m->log_sd, m->routable_count, r);
    ek_randomise(m->log_mean, m->routable_count, r, 3);
    return m;
}

/* Return a value: mostly positive over several decades, sometimes zero, negative or missing. */
static inline float ek_random_value(struct ek_rng *r)
{
    double x = exp(4 * ek_rng_normal(r));
    switch (ek_rng_uniform_int(r, 12)) {
    case 0:
        return 0;
    case 1:
        return NAN;
    case 2:
        return (float)-x;
    default:
        return (float)x;
    }
}

/* Set a list of `items` items for the model. */
static inline void ek_random_list(struct ek_list *q, int items, const struct ek_model *m,
                                  struct ek_rng *r)
{
    ck_assert_int_eq(ek_list_resize(q, items, m->item_features, m->query_features), EK_OK);
    for (int i = 0; i < items * m->item_features; i++)
        q->x[i] = ek_random_value(r);
    ek_randomise(q->query, m->query_features, r, 1);
}

/* Create a manifest, a model of random shape, and its scorer. */
static inline void ek_random_scorer(struct ek_manifest **features, struct ek_model **model,
                                    struct ek_scorer **scorer, struct ek_rng *r)
{
    struct ek_error e;
    *features = ek_random_manifest(r);
    *model = ek_random_model(*features, r);
    ck_assert_int_eq(ek_scorer_new(scorer, *model, &e), EK_OK);
}

#endif
