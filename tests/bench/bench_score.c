/* Scoring a list of 20 items and 136 features, all routable: total, and its two halves. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/rng.h"
#include "num/dense.h"
#include "score/encode.h"
#include "score/scorer.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 136, ITEMS = 20, LISTS = 50 };

struct work {
    struct ek_model *model;
    struct ek_scorer *scorer;
    struct ek_encoder encoder;
    struct ek_list list[LISTS];
    struct ek_treatment treatment[FEATURES];
    struct ek_dense *layer[3];
    float *input, *output;
};

static void randomise(float *x, int count, struct ek_rng *r)
{
    for (int i = 0; i < count; i++)
        x[i] = (float)(0.1 * ek_rng_normal(r));
}

static void fill(float *x, int count, float value)
{
    for (int i = 0; i < count; i++)
        x[i] = value;
}

static struct ek_model *random_model(const struct ek_model_shape *shape, struct ek_rng *r)
{
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    struct ek_model *model;
    if (ek_model_new(&model, m, shape, NULL))
        abort();
    for (int i = 0, below = model->deep_inputs; i <= model->hidden_count; i++) {
        int width = i < model->hidden_count ? model->hidden[i] : 1;
        randomise(model->weight[i], width * below, r);
        below = width;
    }
    randomise(model->slope, (shape->gate_size + 1) * FEATURES, r);
    fill(model->item_mean, FEATURES, 3);
    fill(model->item_sd, FEATURES, 1);
    fill(model->query_sd, 1, 1);
    fill(model->log_sd, FEATURES, 1);
    ek_manifest_free(m);
    return model;
}

static void fill_list(struct ek_list *q, struct ek_rng *r)
{
    ek_list_init(q);
    if (ek_list_resize(q, ITEMS, FEATURES, 1))
        abort();
    q->query[0] = 1;
    for (int i = 0; i < ITEMS * FEATURES; i++)
        q->x[i] = (float)exp(3 + 1.5 * ek_rng_normal(r));
}

static void score(void *context)
{
    struct work *w = context;
    double scores[ITEMS];
    for (int i = 0; i < LISTS; i++) {
        if (ek_scorer_score(w->scorer, &w->list[i], w->treatment, scores, NULL))
            abort();
        ek_bench_use(scores);
    }
}

static void transform(void *context)
{
    struct work *w = context;
    for (int i = 0; i < LISTS; i++) {
        if (ek_encode(&w->encoder, w->list[i].x, ITEMS, w->list[i].query, w->treatment))
            abort();
        ek_bench_use(w->encoder.item);
    }
}

/* Only the layers, on prepared inputs. */
static void network(void *context)
{
    struct work *w = context;
    const struct ek_model *m = w->model;
    for (int i = 0; i < LISTS; i++) {
        float *from = w->input, *to = w->output;
        for (int l = 0; l <= m->hidden_count; l++) {
            size_t inputs = (size_t)ek_dense_inputs(w->layer[l]);
            ek_dense_apply(w->layer[l], from, ITEMS, inputs, to,
                           (size_t)ek_dense_outputs(w->layer[l]), l < m->hidden_count);
            float *held = from;
            from = to;
            to = held;
        }
        ek_bench_use(from);
    }
}

static void run_case(struct ek_bench *b, struct work *w, const char *net, int routed)
{
    char name[120];
    memset(w->treatment, 0, sizeof w->treatment);
    for (int k = 0; k < routed; k++)
        w->treatment[k * 7].action = EK_ACT_ROUTE;
    const struct ek_contender all[] = {{NULL, score, w},
                                       {"limit: the transforms", transform, w},
                                       {"limit: the layers", network, w}};
    snprintf(name, sizeof name, "136 features, 20 items, %s, %d routed", net, routed);
    ek_bench_case(b, name, "ns/item", (double)LISTS * ITEMS, all, 3);
    snprintf(name, sizeof name, "136 features, 20 items, %s, %d routed, per value", net, routed);
    ek_bench_case(b, name, "ns/value", (double)LISTS * ITEMS * FEATURES, all, 1);
}

static void make_layers(struct work *w)
{
    int below = w->model->deep_inputs, widest = below;
    for (int i = 0; i <= w->model->hidden_count; i++) {
        int width = i < w->model->hidden_count ? w->model->hidden[i] : 1;
        if (ek_dense_new(&w->layer[i], below, width, w->model->weight[i], w->model->bias[i]))
            abort();
        below = width;
        widest = width > widest ? width : widest;
    }
    w->input = ek_bench_memory((size_t)widest * ITEMS, sizeof(float));
    w->output = ek_bench_memory((size_t)widest * ITEMS, sizeof(float));
}

static void bench_shape(struct ek_bench *b, const char *net, const struct ek_model_shape *shape)
{
    static struct work w;
    struct ek_rng r;
    ek_rng_seed(&r, 1);
    w.model = random_model(shape, &r);
    if (ek_scorer_new(&w.scorer, w.model, NULL) || ek_encoder_init(&w.encoder, w.model))
        abort();
    for (int i = 0; i < LISTS; i++)
        fill_list(&w.list[i], &r);
    make_layers(&w);
    run_case(b, &w, net, 0);
    run_case(b, &w, net, 5);
    for (int i = 0; i < LISTS; i++)
        ek_list_release(&w.list[i]);
    for (int i = 0; i <= shape->hidden_count; i++)
        ek_dense_free(w.layer[i]);
    ek_free(w.input);
    ek_free(w.output);
    ek_encoder_release(&w.encoder);
    ek_scorer_free(w.scorer);
    ek_model_free(w.model);
}

void bench_score(struct ek_bench *b)
{
    const struct ek_model_shape routable = {
        2, {64, 32}, 4, true, false, EK_LOG_ALWAYS, EK_TRANSFORM_LOG1P};
    const struct ek_model_shape plain = {2,           {64, 32},          4, false, false,
                                         EK_LOG_NONE, EK_TRANSFORM_LOG1P};
    bench_shape(b, "64-32", &routable);
    bench_shape(b, "64-32 without logs", &plain);
}
