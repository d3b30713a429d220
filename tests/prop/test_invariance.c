/* The promise: a routed feature may be multiplied by any factor, and no score moves. */
#include "base/alloc.h"
#include "base/rng.h"
#include "score/scorer.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CASES = 400, FEATURES_MAX = 9, QUERIES_MAX = 4, ITEMS_MAX = 70 };

struct world {
    struct ek_rng r;
    struct ek_manifest *features;
    struct ek_model *model;
    struct ek_scorer *scorer;
    struct ek_query clean, faulty;
    struct ek_treatment treatment[FEATURES_MAX];
};

/* A manifest with random roles; at least one routable item feature. */
static struct ek_manifest *random_manifest(struct ek_rng *r)
{
    char text[2048];
    struct ek_manifest *m;
    struct ek_error e;
    int items = 1 + (int)ek_rng_below(r, FEATURES_MAX), index = 1;
    int n = snprintf(text, sizeof text, "features:\n");
    for (int i = 0; i < items; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - {name: x%d, index: %d, role: item, routable: %s}\n", i, index++,
                      i && ek_rng_below(r, 3) == 0 ? "false" : "true");
    for (uint64_t i = ek_rng_below(r, QUERIES_MAX + 1); i > 0; i--)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - {name: q%d, index: %d, role: query}\n", (int)i, index++);
    ck_assert_int_eq(ek_manifest_parse(&m, "m", text, (size_t)n, &e), EK_OK);
    return m;
}

static void randomise(float *x, int count, struct ek_rng *r, double scale)
{
    for (int i = 0; i < count; i++)
        x[i] = (float)(scale * ek_rng_normal(r));
}

static void positive(float *x, int count, struct ek_rng *r)
{
    for (int i = 0; i < count; i++)
        x[i] = (float)(0.1 + 3 * ek_rng_uniform(r));
}

static struct ek_model *random_model(const struct ek_manifest *f, struct ek_rng *r)
{
    struct ek_model_shape shape = {.gate_size = (int)ek_rng_below(r, 5),
                                   .mask_input = ek_rng_below(r, 2) == 0,
                                   .log_input = (enum ek_log_input)ek_rng_below(r, 3)};
    struct ek_model *m;
    struct ek_error e;
    shape.hidden_count = (int)ek_rng_below(r, 3);
    shape.hidden[0] = 1 + (int)ek_rng_below(r, 40);
    shape.hidden[1] = 1 + (int)ek_rng_below(r, 20);
    ck_assert_int_eq(ek_model_new(&m, f, &shape, &e), EK_OK);
    for (int i = 0, below = m->deep_inputs; i <= m->hidden_count; i++) {
        int width = i < m->hidden_count ? m->hidden[i] : 1;
        randomise(m->weight[i], width * below, r, 1 / sqrt(below));
        randomise(m->bias[i], width, r, 0.3);
        below = width;
    }
    randomise(m->gate_weight, m->gate_size * m->query_features, r, 0.5);
    randomise(m->gate_bias, m->gate_size, r, 0.5);
    randomise(m->slope, (m->gate_size + 1) * m->routable_count, r, 0.5);
    randomise(m->zero, (m->gate_size + 1) * m->routable_count, r, 0.5);
    randomise(m->item_mean, m->item_features, r, 3);
    randomise(m->query_mean, m->query_features, r, 3);
    positive(m->item_sd, m->item_features, r);
    positive(m->query_sd, m->query_features, r);
    positive(m->log_sd, m->routable_count, r);
    return m;
}

/* Mostly positive and spread over decades; also zeros, negatives and missing values. */
static float random_value(struct ek_rng *r)
{
    double x = exp(4 * ek_rng_normal(r));
    switch (ek_rng_below(r, 12)) {
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

static void random_list(struct world *w)
{
    int n = 1 + (int)ek_rng_below(&w->r, ITEMS_MAX), f = w->model->item_features;
    ck_assert_int_eq(ek_query_resize(&w->clean, n, f, w->model->query_features), EK_OK);
    ck_assert_int_eq(ek_query_resize(&w->faulty, n, f, w->model->query_features), EK_OK);
    for (int i = 0; i < n * f; i++)
        w->clean.x[i] = random_value(&w->r);
    for (int i = 0; i < w->model->query_features; i++)
        w->clean.query[i] = w->faulty.query[i] = (float)ek_rng_normal(&w->r);
    memcpy(w->faulty.x, w->clean.x, (size_t)(n * f) * sizeof(float));
}

/* Routes a random subset and multiplies each feature of it by a factor of its own. */
static void random_fault(struct world *w)
{
    for (int k = 0; k < w->model->routable_count; k++) {
        double c = pow(10, 12 * ek_rng_uniform(&w->r) - 6);
        w->treatment[k] = (struct ek_treatment){EK_ACT_NONE, 0};
        if (ek_rng_below(&w->r, 2))
            continue;
        w->treatment[k].action = EK_ACT_ROUTE;
        if (ek_rng_below(&w->r, 4) == 0)
            w->treatment[k] =
                (struct ek_treatment){EK_ACT_ROUTE_SPREAD, 0.5 + 2 * ek_rng_uniform(&w->r)};
        for (int i = 0; i < w->faulty.items; i++) {
            float *x = w->faulty.x + i * w->model->item_features + w->model->routable[k];
            *x = (float)((double)*x * c);
        }
    }
}

static void check_list(struct world *w, int number)
{
    double before[ITEMS_MAX], after[ITEMS_MAX];
    struct ek_error e;
    random_list(w);
    random_fault(w);
    ck_assert_int_eq(ek_scorer_score(w->scorer, &w->clean, w->treatment, before, &e), EK_OK);
    ck_assert_int_eq(ek_scorer_score(w->scorer, &w->faulty, w->treatment, after, &e), EK_OK);
    for (int i = 0; i < w->clean.items; i++) {
        ck_assert_msg(isfinite(before[i]), "case %d, item %d", number, i);
        ck_assert_msg(fabs(before[i] - after[i]) <= 1e-5 * (1 + fabs(before[i])),
                      "case %d, item %d: %.9g became %.9g", number, i, before[i], after[i]);
    }
}

static void open_world(struct world *w, uint64_t seed, int number)
{
    struct ek_error e;
    ek_rng_seed_stream(&w->r, seed, (uint64_t)number);
    ek_query_init(&w->clean);
    ek_query_init(&w->faulty);
    w->features = random_manifest(&w->r);
    w->model = random_model(w->features, &w->r);
    ck_assert_int_eq(ek_scorer_new(&w->scorer, w->model, &e), EK_OK);
}

static void close_world(struct world *w)
{
    ek_scorer_free(w->scorer);
    ek_model_free(w->model);
    ek_manifest_free(w->features);
    ek_query_release(&w->clean);
    ek_query_release(&w->faulty);
}

START_TEST(routed_scores_do_not_move_under_any_factor)
{
    for (int number = 0; number < CASES; number++) {
        struct world w;
        open_world(&w, 2024, number);
        for (int list = 0; list < 5; list++)
            check_list(&w, number);
        close_world(&w);
    }
}
END_TEST

/* So that the test above cannot pass by scores that depend on nothing. */
START_TEST(unrouted_scores_do_move)
{
    int moved = 0;
    for (int number = 0; number < 50; number++) {
        struct world w;
        struct ek_error e;
        double before[ITEMS_MAX], after[ITEMS_MAX];
        open_world(&w, 2025, number);
        random_list(&w);
        random_fault(&w);
        ck_assert_int_eq(ek_scorer_score(w.scorer, &w.clean, NULL, before, &e), EK_OK);
        ck_assert_int_eq(ek_scorer_score(w.scorer, &w.faulty, NULL, after, &e), EK_OK);
        moved += fabs(before[0] - after[0]) > 1e-3;
        close_world(&w);
    }
    ck_assert_int_gt(moved, 20);
}
END_TEST

Suite *suite_invariance(void)
{
    return ek_suite("invariance", routed_scores_do_not_move_under_any_factor,
                    unrouted_scores_do_move);
}
