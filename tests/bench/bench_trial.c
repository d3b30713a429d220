/* Cost of shadow scoring a list (score/rank_comparison.h), compared with scoring it once. Cases:
 * scores already known, as with an active plan; unknown, as in shadow mode; and with the model's
 * plain order and the harm, computed for every fourth compared list. */
#include "score/rank_comparison.h"

#include "tests/bench/bench.h"
#include "tests/bench/world.h"

#include "schema/manifest.h"

#include <stdio.h>
#include <stdlib.h>

enum { FEATURES_MAX = 136, ITEMS = 20, LISTS = 200 };

struct work {
    struct ek_model *model;
    struct ek_scorer *scorer;
    struct ek_rank_comparison *ways;
    struct ek_bench_list list[LISTS];
    double scores[LISTS][ITEMS];
    struct ek_treatment route[FEATURES_MAX], repair[FEATURES_MAX];
};

/* One method for all lists. */
struct way {
    struct work *work;
    bool known, more;
};

static void score(void *context)
{
    struct work *w = context;
    for (int i = 0; i < LISTS; i++)
        if (ek_scorer_score(w->scorer, &w->list[i].q, w->route, w->scores[i], NULL))
            abort();
}

static void try_lists(void *context)
{
    const struct way *way = context;
    struct work *w = way->work;
    struct ek_comparison_result ways;
    bool valid;
    for (int i = 0; i < LISTS; i++) {
        struct ek_comparison_input t = {.list = &w->list[i].q,
                                        .treatment = w->route,
                                        .scores = way->known ? w->scores[i] : NULL,
                                        .plain = way->more,
                                        .repaired = way->more ? w->repair : NULL};
        if (ek_rank_comparison_run(w->ways, w->scorer, &t, &ways, &valid, NULL) || !valid)
            abort();
        ek_bench_use(&ways);
    }
}

static void begin(struct work *w, int features)
{
    struct ek_manifest *m = ek_bench_manifest(features);
    struct ek_rng r;
    ek_rng_seed(&r, 5);
    w->model = ek_bench_model(m);
    ek_manifest_free(m);
    if (ek_scorer_new(&w->scorer, w->model, NULL) || ek_rank_comparison_new(&w->ways, NULL))
        abort();
    for (int i = 0; i < LISTS; i++) {
        ek_bench_list_init(&w->list[i], 1 + (uint64_t)i);
        ek_bench_list_next(&w->list[i], features, ITEMS);
        for (int k = 0; k < ITEMS; k++)
            w->list[i].q.score[k] = ek_rng_normal(&r);
    }
    w->route[0] = (struct ek_treatment){EK_ACT_ROUTE, 0};
    w->repair[0] = (struct ek_treatment){EK_ACT_REPAIR, 100};
    score(w);
}

static void end(struct work *w)
{
    for (int i = 0; i < LISTS; i++)
        ek_bench_list_release(&w->list[i]);
    ek_rank_comparison_free(w->ways);
    ek_scorer_free(w->scorer);
    ek_model_free(w->model);
}

static void bench_features(struct ek_bench *b, int features)
{
    static const struct {
        const char *name;
        bool known, more;
    } ways[] = {{"a list tried that is scored", true, false},
                {"a list tried", false, false},
                {"a list tried, with plain and harm", false, true}};
    struct work *w = ek_bench_memory(1, sizeof *w);
    char text[120];
    begin(w, features);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct way way = {w, ways[i].known, ways[i].more};
        const struct ek_contender both[] = {{NULL, try_lists, &way}, {"scored once", score, w}};
        snprintf(text, sizeof text, "%d features, 20 items, 64-32, %s", features, ways[i].name);
        ek_bench_case(b, text, "us/list", LISTS, both, 2);
    }
    end(w);
    free(w);
}

void bench_trial(struct ek_bench *b)
{
    bench_features(b, 136);
    bench_features(b, 13);
}
