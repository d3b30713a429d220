/* The upstream model scores what it sees: the faulty values. */
#include "base/rng.h"
#include "daemon/upstream.h"
#include "data/model.h"
#include "offline/hotel.h"
#include "score/scorer.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char MODEL[] = "build/upstream-test.safetensors";

static void fill(struct ek_rng *r, float *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = (float)(0.3 * ek_rng_normal(r));
}

/* A plain model with weights of no meaning, so that every feature counts. */
static struct ek_model *save_model(const struct ek_manifest *m)
{
    struct ek_model_shape shape = {.hidden_count = 1, .hidden = {8}, .gate_size = 1};
    struct ek_model *model;
    struct ek_rng r;
    ek_rng_seed(&r, 1);
    ck_assert_int_eq(ek_model_new(&model, m, &shape, NULL), EK_OK);
    fill(&r, model->weight[0], 8 * model->deep_inputs);
    fill(&r, model->weight[1], 8);
    for (int i = 0; i < model->item_features; i++)
        model->item_sd[i] = 1;
    for (int i = 0; i < model->query_features; i++)
        model->query_sd[i] = 1;
    for (int i = 0; i < model->routable_count; i++)
        model->log_sd[i] = 1;
    ck_assert_int_eq(ek_model_save(model, MODEL, NULL), EK_OK);
    return model;
}

START_TEST(scores_are_those_of_the_model_on_the_faulty_values)
{
    static const char *const faults[] = {"price=x100,from=1"};
    struct ek_manifest *m;
    struct ek_hotel *h;
    struct ek_upstream *u;
    struct ek_scorer *scorer;
    struct ek_query q;
    double clean[EK_HOTEL_ITEMS_MAX], faulty[EK_HOTEL_ITEMS_MAX];
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&m, "hotel", text, strlen(text), NULL), EK_OK);
    struct ek_model *model = save_model(m);
    struct ek_upstream_options o = {
        .manifest = m, .model = MODEL, .faults = faults, .fault_count = 1};
    ck_assert_int_eq(ek_hotel_new(&h, 1, NULL), EK_OK);
    ck_assert_int_eq(ek_upstream_new(&u, &o, NULL), EK_OK);
    ck_assert_int_eq(ek_scorer_new(&scorer, model, NULL), EK_OK);
    ek_query_init(&q);
    for (uint64_t i = 0; i < 2; i++) {
        ck_assert_int_eq(ek_hotel_list(h, i, &q, NULL), EK_OK);
        float price = q.x[0];
        ck_assert_int_eq(ek_scorer_score(scorer, &q, NULL, clean, NULL), EK_OK);
        ck_assert_int_eq(ek_upstream_apply(u, &q, i, NULL), EK_OK);
        ck_assert_float_eq(q.x[0], i ? (float)(price * 100.0) : price);
        ck_assert_int_eq(ek_scorer_score(scorer, &q, NULL, faulty, NULL), EK_OK);
        ck_assert_mem_eq(q.score, faulty, (size_t)q.items * sizeof *faulty);
        ck_assert_int_eq(fabs(q.score[0] - clean[0]) > 1e-6, (int)i);
    }
    ck_assert_uint_eq(ek_upstream_hits(u, 0), 1);
    ek_query_release(&q);
    ek_scorer_free(scorer);
    ek_upstream_free(u);
    ek_hotel_free(h);
    ek_model_free(model);
    ek_manifest_free(m);
    unlink(MODEL);
}
END_TEST

START_TEST(a_model_of_other_features_is_refused)
{
    static const char other[] = "features:\n  - {name: price, index: 1, role: item}\n";
    struct ek_manifest *m, *narrow;
    struct ek_upstream *u;
    struct ek_error e;
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&m, "hotel", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_manifest_parse(&narrow, "other", other, strlen(other), NULL), EK_OK);
    ek_model_free(save_model(m));
    struct ek_upstream_options o = {.manifest = narrow, .model = MODEL};
    ck_assert_int_eq(ek_upstream_new(&u, &o, &e), EK_ESTATE);
    ek_manifest_free(narrow);
    ek_manifest_free(m);
    unlink(MODEL);
}
END_TEST

Suite *suite_upstream(void)
{
    return ek_suite("upstream", scores_are_those_of_the_model_on_the_faulty_values,
                    a_model_of_other_features_is_refused);
}
