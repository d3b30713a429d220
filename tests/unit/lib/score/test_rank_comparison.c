/* One list in several orders: the compared scores, and the harm. */
#include "score/rank_comparison.h"

#include "tests/check.h"
#include "tests/guard_model.h"
#include "tests/stream.h"

#include <math.h>

enum { LISTS = 200, ITEMS_MAX = 64, FACTOR = 100 };

struct scene {
    struct ek_manifest *manifest;
    struct ek_model *model;
    struct ek_scorer *scorer;
    struct ek_rank_comparison *ways;
    struct ek_ranker *ranker;
    struct stream stream;
};

/* Treatments for a price in cents, and the correct inverse. */
static const struct ek_treatment ROUTE[2] = {{EK_ACT_ROUTE, 0}, {EK_ACT_NONE, 0}},
                                 REPAIR[2] = {{EK_ACT_REPAIR, FACTOR}, {EK_ACT_NONE, 0}};

static void setup(struct scene *s)
{
    s->manifest = stream_manifest();
    s->model = guard_model(s->manifest);
    ck_assert_int_eq(ek_scorer_new(&s->scorer, s->model, NULL), EK_OK);
    ck_assert_int_eq(ek_rank_comparison_new(&s->ways, NULL), EK_OK);
    ck_assert_int_eq(ek_ranker_new(&s->ranker, NULL), EK_OK);
    stream_start(&s->stream, 8);
}

static void teardown(struct scene *s)
{
    stream_end(&s->stream);
    ek_ranker_free(s->ranker);
    ek_rank_comparison_free(s->ways);
    ek_scorer_free(s->scorer);
    ek_model_free(s->model);
    ek_manifest_free(s->manifest);
}

static struct ek_comparison_result try(struct scene *s, const struct ek_comparison_input *t)
{
    struct ek_comparison_result w;
    bool valid;
    ck_assert_int_eq(ek_rank_comparison_run(s->ways, s->scorer, t, &w, &valid, NULL), EK_OK);
    ck_assert(valid);
    return w;
}

static void score(struct scene *s, const struct ek_list *q, const struct ek_treatment *t,
                  double *scores)
{
    ck_assert_int_eq(ek_scorer_score(s->scorer, q, t, scores, NULL), EK_OK);
}

static struct ek_rank_change change(struct scene *s, const double *from, const double *to, int n)
{
    struct ek_rank_change c;
    bool valid;
    ck_assert_int_eq(ek_rank_change_compute(s->ranker, from, to, n, &c, &valid, NULL), EK_OK);
    ck_assert(valid);
    return c;
}

START_TEST(figures_are_those_of_the_orders_they_are_said_to_be_of)
{
    double is[ITEMS_MAX], plain[ITEMS_MAX], repaired[ITEMS_MAX], gap = .07;
    struct scene s;
    setup(&s);
    for (int i = 0; i < LISTS; i++) {
        struct ek_list *q = stream_next(&s.stream);
        stream_scale(q, 0, FACTOR);
        struct ek_comparison_result w =
            try(&s, &(struct ek_comparison_input){q, ROUTE, NULL, NULL, true, REPAIR, gap});
        score(&s, q, ROUTE, is);
        score(&s, q, NULL, plain);
        score(&s, q, REPAIR, repaired);
        struct ek_rank_change moved = change(&s, q->score, is, q->items),
                              without = change(&s, q->score, plain, q->items);
        double of_route = (1 - change(&s, repaired, is, q->items).tau) / 2,
               of_fault = (1 - change(&s, repaired, q->score, q->items).tau) / 2,
               harm = 4 * (2 * gap * gap + of_route * of_route - of_fault * of_fault);
        ck_assert(w.has_plain && w.has_harm);
        ck_assert_mem_eq(&w.moved, &moved, sizeof moved);
        ck_assert_mem_eq(&w.plain, &without, sizeof without);
        ck_assert_double_eq_tol(w.harm, fmax(-1, fmin(1, harm)), 1e-12);
    }
    teardown(&s);
}
END_TEST

START_TEST(scores_that_are_known_are_not_made_again)
{
    double known[ITEMS_MAX];
    struct scene s;
    setup(&s);
    struct ek_list *q = stream_next(&s.stream);
    score(&s, q, ROUTE, known);
    struct ek_comparison_result made = try(&s, &(struct ek_comparison_input){q, ROUTE, NULL, NULL,
                                                                             true, REPAIR, .1}),
                                given = try(&s, &(struct ek_comparison_input){q, ROUTE, known, NULL,
                                                                              true, REPAIR, .1});
    ck_assert_mem_eq(&made.moved, &given.moved, sizeof made.moved);
    ck_assert(made.harm == given.harm && made.plain.tau == given.plain.tau);
    for (int i = 0; i < q->items; i++)
        known[i] = q->score[i];
    ck_assert(try(&s, &(struct ek_comparison_input){q, ROUTE, known, NULL, false, NULL, 0})
                  .moved.change == 0);
    teardown(&s);
}
END_TEST

START_TEST(what_is_not_asked_for_is_not_there)
{
    struct scene s;
    setup(&s);
    struct ek_list *q = stream_next(&s.stream);
    struct ek_comparison_result w =
        try(&s, &(struct ek_comparison_input){q, ROUTE, NULL, NULL, false, NULL, 0});
    ck_assert(!w.has_plain && !w.has_harm && isnan(w.harm));
    teardown(&s);
}
END_TEST

/* A model with random ranks has a gap of .5 and more. */
START_TEST(harm_is_bounded_and_0_where_nothing_differs)
{
    struct scene s;
    setup(&s);
    for (int i = 0; i < LISTS; i++) {
        struct ek_list *q = stream_next(&s.stream);
        ck_assert(
            fabs(try(&s, &(struct ek_comparison_input){q, ROUTE, NULL, NULL, false, REPAIR, .5})
                     .harm) <= 1);
        score(&s, q, REPAIR, q->score);
        ck_assert(
            try(&s, &(struct ek_comparison_input){q, REPAIR, NULL, NULL, false, REPAIR, 0}).harm ==
            0);
    }
    teardown(&s);
}
END_TEST

START_TEST(a_list_that_tells_no_order_says_nothing_and_is_not_scored)
{
    struct ek_comparison_result w = {.harm = 7};
    bool valid;
    struct scene s;
    setup(&s);
    struct ek_list *q = stream_next(&s.stream);
    q->score[2] = NAN;
    ck_assert_int_eq(ek_rank_comparison_run(
                         s.ways, NULL,
                         &(struct ek_comparison_input){q, ROUTE, NULL, NULL, true, REPAIR, .1}, &w,
                         &valid, NULL),
                     EK_OK);
    ck_assert(!valid && w.harm == 7);
    teardown(&s);
}
END_TEST

START_TEST(a_repaired_list_without_an_order_has_no_harm_and_scores_that_are_no_numbers_fail)
{
    static const struct ek_treatment silent[2] = {{EK_ACT_BLANK, 0}, {EK_ACT_BLANK, 0}};
    struct ek_comparison_result w;
    struct ek_error e;
    bool valid;
    struct scene s;
    setup(&s);
    for (int i = 0; i < 8 * s.model->deep_inputs; i++)
        s.model->weight[0][i] = 0;
    ek_scorer_free(s.scorer);
    ck_assert_int_eq(ek_scorer_new(&s.scorer, s.model, NULL), EK_OK);
    struct ek_list *q = stream_next(&s.stream);
    w = try(&s, &(struct ek_comparison_input){q, ROUTE, NULL, NULL, false, silent, .1});
    ck_assert(!w.has_harm && isnan(w.harm));

    for (int i = 0; i < 8; i++)
        s.model->bias[0][i] = 1e30f;
    for (int i = 0; i < 8; i++)
        s.model->weight[1][i] = 3e38f;
    ek_scorer_free(s.scorer);
    ck_assert_int_eq(ek_scorer_new(&s.scorer, s.model, NULL), EK_OK);
    ck_assert_int_eq(
        ek_rank_comparison_run(s.ways, s.scorer,
                               &(struct ek_comparison_input){q, ROUTE, NULL, NULL, false, NULL, 0},
                               &w, &valid, &e),
        EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "is not a finite number"));
    teardown(&s);
}
END_TEST

Suite *suite_rank_comparison(void)
{
    return ek_suite(
        "both ways", figures_are_those_of_the_orders_they_are_said_to_be_of,
        scores_that_are_known_are_not_made_again, what_is_not_asked_for_is_not_there,
        harm_is_bounded_and_0_where_nothing_differs,
        a_list_that_tells_no_order_says_nothing_and_is_not_scored,
        a_repaired_list_without_an_order_has_no_harm_and_scores_that_are_no_numbers_fail);
}
