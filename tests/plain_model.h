/* Plain model with arbitrary weights on every feature, for tests of scores rather than rankings. */
#ifndef EK_TESTS_PLAIN_MODEL_H
#define EK_TESTS_PLAIN_MODEL_H

#include "base/rng.h"
#include "assets/model.h"
#include "tests/check.h"

static inline void ek_fill_weights(struct ek_rng *r, float *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = (float)(0.3 * ek_rng_normal(r));
}

/* Save the model as `path` and return it. The caller frees it. */
static inline struct ek_model *ek_save_plain_model(const struct ek_manifest *m, const char *path)
{
    struct ek_model_shape shape = {.hidden_count = 1, .hidden = {8}, .gate_size = 1};
    struct ek_model *model;
    struct ek_rng r;
    ek_rng_seed(&r, 1);
    ck_assert_int_eq(ek_model_new(&model, m, &shape, NULL), EK_OK);
    ek_fill_weights(&r, model->weight[0], 8 * model->deep_inputs);
    ek_fill_weights(&r, model->weight[1], 8);
    for (int i = 0; i < model->item_features; i++)
        model->item_sd[i] = 1;
    for (int i = 0; i < model->query_features; i++)
        model->query_sd[i] = 1;
    for (int i = 0; i < model->routable_count; i++)
        model->log_sd[i] = 1;
    ck_assert_int_eq(ek_model_save(model, path, NULL), EK_OK);
    return model;
}

#endif
