/* Overhead of the agreement watch in a guard: with and without it, and the cost of a compared list
 * spread over all lists. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/rng.h"
#include "serve/agreement_watch.h"
#include "serve/assets.h"
#include "score/scorer.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 20, LISTS = 1000, TRAINING = 2000 };

struct work {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct ek_list *list;
    struct ek_buf *message;
    struct ek_agreement_watch *watch;
    struct ek_scorer *scorer;
};

static void fill(struct ek_list *q, int features, struct ek_rng *r)
{
    if (ek_list_resize(q, ITEMS, features, 1))
        abort();
    q->query[0] = 1;
    q->time_ms = 0;
    q->segment_count = 0;
    for (int i = 0; i < ITEMS; i++) {
        q->item_id[i] = (struct ek_text){NULL, 0};
        q->score[i] = ek_rng_normal(r);
    }
    for (int i = 0; i < ITEMS * features; i++)
        q->x[i] = (float)exp(3 + .5 * ek_rng_normal(r));
}

/* Arbitrary weights. Its agreement with random scores equals the reference, so no event is sent. */
static struct ek_model *model(const struct ek_manifest *m, const struct ek_model_shape *shape,
                              struct ek_rng *r)
{
    struct ek_model *model;
    if (ek_model_new(&model, m, shape, NULL))
        abort();
    for (int i = 0, below = model->deep_inputs; i <= model->hidden_count; i++) {
        int width = i < model->hidden_count ? model->hidden[i] : 1;
        for (int k = 0; k < width * below; k++)
            model->weight[i][k] = (float)(.1 * ek_rng_normal(r));
        below = width;
    }
    for (int i = 0; i < model->item_features; i++)
        model->item_sd[i] = 1;
    for (int i = 0; i < model->routable_count; i++)
        model->log_sd[i] = 1;
    model->query_sd[0] = 1;
    model->agreement = (struct ek_model_agreement){1000, {0, .5, .05}, {.2, .2, .2}};
    return model;
}

static void observe(void *context)
{
    struct work *w = context;
    for (int i = 0; i < LISTS; i++)
        if (ek_guard_observe(w->guard, w->message[i].data, w->message[i].length, 0, NULL))
            abort();
}

static void compare(void *context)
{
    struct work *w = context;
    double scores[ITEMS];
    bool changed;
    for (int i = 0; i < LISTS; i++)
        if (ek_scorer_score(w->scorer, &w->list[i], NULL, scores, NULL) ||
            ek_agreement_watch_list(w->watch, &w->list[i], scores, 0, &changed, NULL))
            abort();
}

static void record(struct ek_bench *b, struct work *w, struct work *without, const char *name)
{
    char text[120];
    struct ek_agreement_view v;
    ek_agreement_watch_view(w->watch, &v);
    double compared = ek_bench_seconds(b, compare, w),
           guard = ek_bench_seconds(b, observe, without);
    snprintf(text, sizeof text, "%s, a compared list", name);
    ek_bench_record(b, text, "us/list", 1e6 * compared / LISTS, NULL, 0);
    snprintf(text, sizeof text, "%s, one list in so many", name);
    ek_bench_record(b, text, "lists", v.every, NULL, 0);
    snprintf(text, sizeof text, "%s, part of the guard", name);
    ek_bench_record(b, text, "%", 100 * compared / v.every / guard, NULL, 0);
}

static void run_case(struct ek_bench *b, struct work *w, const char *name)
{
    struct ek_assets bare = w->assets;
    struct work without = *w;
    bare.model = NULL;
    if (ek_guard_new(&w->guard, &w->assets, NULL) || ek_guard_new(&without.guard, &bare, NULL) ||
        ek_agreement_watch_new(&w->watch, w->assets.model, 10000000, NULL) ||
        ek_scorer_new(&w->scorer, w->assets.model, NULL))
        abort();
    const struct ek_contender both[] = {{NULL, observe, w},
                                        {"without the watch", observe, &without}};
    char text[120];
    snprintf(text, sizeof text, "%s, guard with the watch", name);
    ek_bench_case(b, text, "ns/value", (double)LISTS * ITEMS * w->list[0].item_features, both, 2);
    record(b, w, &without, name);
    ek_scorer_free(w->scorer);
    ek_agreement_watch_free(w->watch);
    ek_guard_free(without.guard);
    ek_guard_free(w->guard);
}

static void bench_features(struct ek_bench *b, int features)
{
    static const struct ek_model_shape shapes[] = {
        {2, {64, 32}, 4, true, false, EK_LOG_ALWAYS, EK_TRANSFORM_LOG1P},
        {3, {1024, 512, 256}, 4, true, false, EK_LOG_ALWAYS, EK_TRANSFORM_LOG1P},
    };
    static const char *const nets[] = {"64-32", "1024-512-256"};
    static const char text[] = "version: 1\ndefaults: {dedup_key: []}\n";
    struct work w = {.list = ek_bench_memory(LISTS, sizeof *w.list),
                     .message = ek_bench_memory(LISTS, sizeof *w.message)};
    struct ek_rng r;
    char name[80];
    ek_rng_seed(&r, 8);
    w.assets.manifest = ek_bench_manifest(features);
    w.assets.profile = ek_bench_profile(w.assets.manifest, TRAINING, fill, &r);
    if (ek_rules_parse(&w.assets.rules, w.assets.manifest, "bench", text, sizeof text - 1, NULL) ||
        ek_codec_new(&w.assets.codec, w.assets.manifest, NULL, NULL, NULL))
        abort();
    for (int i = 0; i < LISTS; i++) {
        ek_list_init(&w.list[i]);
        fill(&w.list[i], features, &r);
        ek_buf_init(&w.message[i], 0);
        if (ek_codec_encode(w.assets.manifest, &w.list[i], EK_FEATURES_BIN, &w.message[i], NULL))
            abort();
    }
    for (int i = 0; i < 2; i++) {
        w.assets.model = model(w.assets.manifest, &shapes[i], &r);
        snprintf(name, sizeof name, "%d features, 20 items, %s", features, nets[i]);
        run_case(b, &w, name);
        ek_model_free(w.assets.model);
    }
    for (int i = 0; i < LISTS; i++) {
        ek_list_release(&w.list[i]);
        ek_buf_release(&w.message[i]);
    }
    free(w.list);
    free(w.message);
    ek_codec_free(w.assets.codec);
    ek_rules_free(w.assets.rules);
    ek_profile_free(w.assets.profile);
    ek_manifest_free(w.assets.manifest);
}

void bench_agreement(struct ek_bench *b)
{
    bench_features(b, 136);
    bench_features(b, 13);
}
