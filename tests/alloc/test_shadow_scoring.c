/* Allocation failures in shadow scoring. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "serve/comparison_sums.h"
#include "tests/stream.h"

enum { LISTS = 8 };

static struct ek_manifest *manifest;
static struct ek_model *model;
static struct ek_list query[LISTS];

/* Growing lists, scored upstream from the last item to the first. */
static void set_up(void)
{
    static const struct ek_model_shape shape = {.gate_size = 1};
    manifest = stream_manifest();
    ck_assert_int_eq(ek_model_new(&model, manifest, &shape, NULL), EK_OK);
    for (int i = 0; i < model->item_features; i++)
        model->item_sd[i] = model->weight[0][i] = 1;
    model->query_sd[0] = 1;
    model->log_sd[0] = model->log_sd[1] = 1;
    for (int i = 0; i < LISTS; i++) {
        int n = 3 + 7 * i;
        ek_list_init(&query[i]);
        ck_assert_int_eq(ek_list_resize(&query[i], n, 3, 1), EK_OK);
        query[i].query[0] = 1;
        for (int k = 0; k < n; k++) {
            for (int f = 0; f < 3; f++)
                query[i].x[3 * k + f] = (float)(1 + k);
            query[i].score[k] = -k;
        }
    }
}

static void tear_down(void)
{
    for (int i = 0; i < LISTS; i++)
        ek_list_release(&query[i]);
    ek_model_free(model);
    ek_manifest_free(manifest);
}

static int try_all(struct ek_error *e)
{
    static const struct ek_treatment route[2] = {{EK_ACT_ROUTE, 0}},
                                     repair[2] = {{EK_ACT_REPAIR, 100}};
    struct ek_scorer *scorer = NULL;
    struct ek_rank_comparison *ways = NULL;
    int rc = ek_scorer_new(&scorer, model, e), measured = 0;
    if (!rc)
        rc = ek_rank_comparison_new(&ways, e);
    for (int i = 0; i < LISTS && !rc; i++) {
        const struct ek_comparison_input t = {&query[i], route, NULL, NULL, true, repair, .1};
        struct ek_comparison_result out;
        bool valid;
        rc = ek_rank_comparison_run(ways, scorer, &t, &out, &valid, e);
        measured += !rc && valid && out.has_harm;
    }
    ek_rank_comparison_free(ways);
    ek_scorer_free(scorer);
    return rc || measured == LISTS ? rc : ek_fail(e, EK_ESTATE, "harm was not measured");
}

static int sum_up(struct ek_error *e)
{
    static const struct ek_comparison trial = {.plan = 1, .entries = 1};
    static struct ek_plan plan;
    struct ek_comparisons *trials;
    plan.version = 0;
    plan.count = 0;
    ek_plan_set(&plan, 0, 0, (struct ek_treatment){EK_ACT_ROUTE, 0}, 0);
    int rc = ek_comparisons_new(&trials, e);
    if (rc)
        return rc;
    rc = ek_comparisons_add(trials, &plan, &trial, e);
    const struct ek_comparison_sums *s = ek_comparisons_get(trials, &plan.entry[0]);
    bool counted = s && s->compared == 1;
    ek_comparisons_free(trials);
    return rc || counted ? rc : ek_fail(e, EK_ESTATE, "a trial was not counted");
}

START_TEST(trying_lists_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(try_all);
    ek_sweep(sum_up);
    tear_down();
}
END_TEST

Suite *suite_shadow_scoring(void)
{
    return ek_suite("trials without memory", trying_lists_without_memory_leaves_nothing);
}
