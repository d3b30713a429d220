/* Model with random weights and the routing of its manifest, for tests of the guard. */
#ifndef EK_TESTS_GUARD_MODEL_H
#define EK_TESTS_GUARD_MODEL_H

#include "base/rng.h"
#include "assets/model.h"
#include "tests/must.h"

static inline struct ek_model *guard_model(const struct ek_manifest *m)
{
    static const struct ek_model_shape shape = {.hidden_count = 1,
                                                .hidden = {8},
                                                .gate_size = 2,
                                                .mask_input = true,
                                                .log_input = EK_LOG_ALWAYS};
    struct ek_model *model;
    struct ek_rng r;
    ek_rng_seed(&r, 3);
    must(ek_model_new(&model, m, &shape, NULL));
    for (int i = 0; i < 8 * model->deep_inputs; i++)
        model->weight[0][i] = (float)(.3 * ek_rng_normal(&r));
    for (int i = 0; i < 8; i++)
        model->weight[1][i] = (float)ek_rng_normal(&r);
    for (int i = 0; i < 3 * model->routable_count; i++)
        model->slope[i] = (float)ek_rng_normal(&r);
    for (int f = 0; f < model->item_features; f++)
        model->item_sd[f] = 1;
    model->query_sd[0] = 1;
    for (int k = 0; k < model->routable_count; k++)
        model->log_sd[k] = .5f;
    return model;
}

#endif
