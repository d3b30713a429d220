/* The upstream model scores the faulty values. */
#include "daemon/files/upstream_sim.h"
#include "assets/model.h"
#include "offline/world/hotel.h"
#include "score/scorer.h"
#include "tests/check.h"
#include "tests/plain_model.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char MODEL[] = "build/upstream-test.safetensors";

START_TEST(scores_are_those_of_the_model_on_the_faulty_values)
{
    static const char *const faults[] = {"price=x100,from=1"};
    struct ek_manifest *m;
    struct ek_hotel *h;
    struct ek_upstream_sim *u;
    struct ek_scorer *scorer;
    struct ek_list q;
    double clean[EK_HOTEL_ITEMS_MAX], faulty[EK_HOTEL_ITEMS_MAX];
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&m, "hotel", text, strlen(text), NULL), EK_OK);
    struct ek_model *model = ek_save_plain_model(m, MODEL);
    struct ek_upstream_sim_options o = {
        .manifest = m, .model = MODEL, .faults = faults, .fault_count = 1};
    ck_assert_int_eq(ek_hotel_new(&h, 1, NULL), EK_OK);
    ck_assert_int_eq(ek_upstream_sim_new(&u, &o, NULL), EK_OK);
    ck_assert_int_eq(ek_scorer_new(&scorer, model, NULL), EK_OK);
    ek_list_init(&q);
    for (uint64_t i = 0; i < 2; i++) {
        ck_assert_int_eq(ek_hotel_list(h, i, &q, NULL), EK_OK);
        float price = q.x[0];
        ck_assert_int_eq(ek_scorer_score(scorer, &q, NULL, clean, NULL), EK_OK);
        ck_assert_int_eq(ek_upstream_sim_apply(u, &q, i, NULL), EK_OK);
        ck_assert_float_eq(q.x[0], i ? (float)(price * 100.0) : price);
        ck_assert_int_eq(ek_scorer_score(scorer, &q, NULL, faulty, NULL), EK_OK);
        ck_assert_mem_eq(q.score, faulty, (size_t)q.items * sizeof *faulty);
        ck_assert_int_eq(fabs(q.score[0] - clean[0]) > 1e-6, (int)i);
    }
    ck_assert_uint_eq(ek_upstream_sim_matches(u, 0), 1);
    ek_list_release(&q);
    ek_scorer_free(scorer);
    ek_upstream_sim_free(u);
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
    struct ek_upstream_sim *u;
    struct ek_error e;
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&m, "hotel", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_manifest_parse(&narrow, "other", other, strlen(other), NULL), EK_OK);
    ek_model_free(ek_save_plain_model(m, MODEL));
    struct ek_upstream_sim_options o = {.manifest = narrow, .model = MODEL};
    ck_assert_int_eq(ek_upstream_sim_new(&u, &o, &e), EK_ESTATE);
    ek_manifest_free(narrow);
    ek_manifest_free(m);
    unlink(MODEL);
}
END_TEST

Suite *suite_upstream_sim(void)
{
    return ek_suite("upstream", scores_are_those_of_the_model_on_the_faulty_values,
                    a_model_of_other_features_is_refused);
}
