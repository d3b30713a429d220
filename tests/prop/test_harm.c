/* Estimated harm of a route on hotel lists, compared with the truth: upstream's ranking without the
 * fault. Routes of a model distilled from upstream stay active where they help; those of a model
 * with another ranking are rolled back. */
#include "score/rank_comparison.h"

#include "serve/comparison_sums.h"
#include "tests/taught_world.h"

enum { SEEDS = 20, MEASURED = 400 };

/* Compare the orders of a list with prices times `factor` under a route of the price. */
static struct ek_comparison_result try(struct taught_world *w, uint64_t i,
                                       upstream_scores *upstream, double factor, double gap)
{
    struct ek_treatment route[EK_HOTEL_ITEM_FEATURES] = {{EK_ACT_ROUTE, 0}},
                        repair[EK_HOTEL_ITEM_FEATURES] = {{EK_ACT_REPAIR, factor}};
    struct ek_list *q = taught_next(w, i);
    struct ek_comparison_result ways;
    bool valid;
    taught_spoil(q, factor);
    upstream(w);
    ck_assert_int_eq(ek_rank_comparison_run(
                         w->ways, w->of_taught,
                         &(struct ek_comparison_input){q, route, NULL, NULL, false, repair, gap},
                         &ways, &valid, NULL),
                     EK_OK);
    ck_assert(valid && ways.has_harm);
    return ways;
}

/* Return the lists until the price route is rolled back; 0: not within the limit. */
static int taken_back(struct taught_world *w, uint64_t seed, upstream_scores *upstream,
                      double factor, double gap, int lists)
{
    struct ek_plan plan = {0};
    struct ek_comparisons *trials;
    int at = 0;
    ek_hotel_free(w->hotel);
    ck_assert_int_eq(ek_hotel_new(&w->hotel, seed, NULL), EK_OK);
    ck_assert_int_eq(ek_comparisons_new(&trials, NULL), EK_OK);
    ek_plan_set(&plan, PRICE, 0, (struct ek_treatment){EK_ACT_ROUTE, 0}, 0);
    for (int i = 0; i < lists && !at; i++) {
        struct ek_comparison t = {.plan = plan.version, .entries = 1};
        t.result = try(w, (uint64_t)i, upstream, factor, gap);
        ck_assert_int_eq(ek_comparisons_add(trials, &plan, &t, NULL), EK_OK);
        if (ek_mean_evalues_evidence(&ek_comparisons_get(trials, &plan.entry[0])->worse) >=
            EK_HARM_EVIDENCE)
            at = i + 1;
    }
    ek_comparisons_free(trials);
    return at;
}

/* Return the mean excess distance from fault-free upstream of the route over the fault. */
static double true_harm(struct taught_world *w, double factor)
{
    const struct ek_treatment route[EK_HOTEL_ITEM_FEATURES] = {{EK_ACT_ROUTE, 0}};
    double healthy[EK_HOTEL_ITEMS_MAX], sum = 0;
    for (uint64_t i = 0; i < MEASURED; i++) {
        struct ek_list *q = taught_next(w, TEACHING + VALIDATION + i);
        by_network(w);
        memcpy(healthy, q->score, (size_t)q->items * sizeof *healthy);
        taught_spoil(q, factor);
        by_network(w);
        ck_assert_int_eq(ek_scorer_score(w->of_taught, q, route, w->scores, NULL), EK_OK);
        sum += taught_distance(w, w->scores, healthy) - taught_distance(w, q->score, healthy);
    }
    return sum / MEASURED;
}

static double mean_harm(struct taught_world *w, double factor, double gap)
{
    double sum = 0;
    for (uint64_t i = 0; i < MEASURED; i++)
        sum += try(w, TEACHING + VALIDATION + i, by_network, factor, gap).harm;
    return sum / MEASURED;
}

START_TEST(of_a_taught_model_harm_has_the_sign_of_the_truth_and_good_routes_stay)
{
    static const double good[] = {1000, 100, 10, 3, .01}, bad[] = {1.3, 1.1};
    struct taught_world w;
    taught_begin(&w);
    double gap = taught_gap(&w, by_network);
    ck_assert(gap > .02 && gap < .1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert(true_harm(&w, bad[i]) > .01);
        ck_assert_msg(mean_harm(&w, bad[i], gap) > 0, "x%g", bad[i]);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert(true_harm(&w, good[i]) < -.01);
        ck_assert_msg(mean_harm(&w, good[i], gap) < 0, "x%g", good[i]);
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        ck_assert_int_eq(taken_back(&w, 50 + seed, by_network, 100, gap, MEASURED), 0);
    taught_end(&w);
}
END_TEST

START_TEST(routes_of_a_model_that_ranks_otherwise_than_upstream_are_taken_back)
{
    static const double factors[] = {100, 1.3};
    struct taught_world w;
    taught_begin(&w);
    double gap = taught_gap(&w, by_popularity);
    ck_assert(gap > .3);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (int i = 0; i < 2; i++) {
            int at = taken_back(&w, 50 + seed, by_popularity, factors[i], gap, MEASURED);
            ck_assert(at > 10 && at <= 60);
        }
    taught_end(&w);
}
END_TEST

Suite *suite_harm(void)
{
    return ek_suite("harm", of_a_taught_model_harm_has_the_sign_of_the_truth_and_good_routes_stay,
                    routes_of_a_model_that_ranks_otherwise_than_upstream_are_taken_back);
}
