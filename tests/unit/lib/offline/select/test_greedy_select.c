/* XGAS and HCAS on cases solved by definition, and on planted features. */
#include "base/rng.h"
#include "offline/select/greedy_select.h"
#include "offline/select/relevance.h"
#include "tests/check.h"

#include <math.h>

START_TEST(xgas_takes_the_best_of_those_least_like_the_last)
{
    /* From 0, with 2 and 3 as least similar half, to 3; from there to 1, as 0 is used. */
    static const double worth[] = {.9, .8, .3, .5};
    static const double like[] = {1,  .9, .1, .2, /**/ .9, 1,  .1, .1,
                                  .1, .1, 1,  .8, /**/ .2, .1, .8, 1};
    struct ek_greedy_select g = {4, worth, like, NULL};
    int chosen[4];
    ck_assert_int_eq(ek_xgas(&g, 0.5, 4, chosen, NULL), EK_OK);
    ck_assert_int_eq(chosen[0], 0);
    ck_assert_int_eq(chosen[1], 3);
    ck_assert_int_eq(chosen[2], 1);
    ck_assert_int_eq(chosen[3], 2);
    /* With all allowed only the relevance counts, with one only the similarity. */
    ck_assert_int_eq(ek_xgas(&g, 1, 2, chosen, NULL), EK_OK);
    ck_assert_int_eq(chosen[1], 1);
    ck_assert_int_eq(ek_xgas(&g, EK_XGAS_SHARE, 2, chosen, NULL), EK_OK);
    ck_assert_int_eq(chosen[1], 2);
}
END_TEST

START_TEST(hcas_takes_the_best_of_each_cluster)
{
    static const double worth[] = {.5, .6, .9, NAN, .4};
    static const double like[] = {1,  .9, 0, 0, 0,  /**/ .9, 1, 0,      0, 0, /**/ 0, 0, 1,
                                  .8, 0,  0, 0, .8, 1,       0, /**/ 0, 0, 0, 0,      1};
    struct ek_greedy_select g = {5, worth, like, NULL};
    struct ek_merge merge[4];
    int chosen[5], cluster[5];
    ck_assert_int_eq(ek_hcas(&g, 3, chosen, merge, cluster, NULL), EK_OK);
    ck_assert_int_eq(chosen[0], 2);
    ck_assert_int_eq(chosen[1], 1);
    ck_assert_int_eq(chosen[2], 4);
    ck_assert_int_eq(cluster[0], cluster[1]);
    ck_assert_int_eq(cluster[2], cluster[3]);
    ck_assert_int_ne(cluster[0], cluster[4]);
    ck_assert_double_eq_tol(merge[0].distance, 0.1, 1e-12);
    ck_assert_int_eq(ek_hcas(&g, 1, chosen, NULL, NULL, NULL), EK_OK);
    ck_assert_int_eq(chosen[0], 2);
    ck_assert_int_eq(ek_hcas(&g, 5, chosen, NULL, NULL, NULL), EK_OK);
    ck_assert_int_eq(chosen[4], 3);
}
END_TEST

START_TEST(what_is_no_candidate_is_never_chosen)
{
    static const double worth[] = {.9, .5, .4};
    static const double like[] = {1, 0, 0, /**/ 0, 1, 0, /**/ 0, 0, 1};
    static const bool may[] = {false, true, true};
    struct ek_greedy_select g = {3, worth, like, may};
    struct ek_error e;
    int chosen[3], cluster[3];
    ck_assert_int_eq(ek_greedy_candidates(&g), 2);
    ck_assert_int_eq(ek_xgas(&g, 1, 2, chosen, NULL), EK_OK);
    ck_assert_int_eq(chosen[0], 1);
    ck_assert_int_eq(chosen[1], 2);
    ck_assert_int_eq(ek_hcas(&g, 2, chosen, NULL, cluster, NULL), EK_OK);
    ck_assert_int_eq(chosen[0], 1);
    ck_assert_int_eq(chosen[1], 2);
    ck_assert_int_eq(cluster[0], -1);
    ck_assert_int_eq(ek_hcas(&g, 3, chosen, NULL, NULL, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "there are 2 features to choose from, so 3 cannot be chosen");
    ck_assert_int_eq(ek_xgas(&g, 1, 0, chosen, &e), EK_EUSAGE);
    ck_assert_int_eq(ek_xgas(&g, 0, 1, chosen, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "the share of XGAS must be above 0 and at most 1, not 0");
}
END_TEST

/* Features of planted lists: the label's source, its copy on another scale, an independent second
 * one that is reversed, noise, and a constant. */
enum { MAIN, COPY, REVERSED, NOISE, CONSTANT, PLANTED, LISTS = 300, ITEMS = 8 };

static float X[LISTS * ITEMS * PLANTED], LABEL[LISTS * ITEMS];
static size_t OFFSET[LISTS + 1];

static struct ek_dataset planted(void)
{
    struct ek_rng r;
    ek_rng_seed(&r, 3);
    for (int i = 0; i < LISTS * ITEMS; i++) {
        float *x = X + (size_t)i * PLANTED;
        double a = ek_rng_normal(&r), b = ek_rng_normal(&r);
        x[MAIN] = (float)a;
        x[COPY] = (float)(100 * exp(a));
        x[REVERSED] = (float)-b;
        x[NOISE] = (float)ek_rng_normal(&r);
        x[CONSTANT] = 4;
        LABEL[i] = a + 0.7 * b + 0.3 * ek_rng_normal(&r) > 1.2;
        OFFSET[i / ITEMS + 1] = (size_t)(i / ITEMS + 1) * ITEMS;
    }
    return (struct ek_dataset){.lists = LISTS,
                               .items = LISTS * ITEMS,
                               .item_features = PLANTED,
                               .offset = OFFSET,
                               .x = X,
                               .label = LABEL};
}

static struct ek_relevance RELEVANCE[PLANTED];
static double WORTH[PLANTED], LIKE[PLANTED * PLANTED];
static bool VARIES[PLANTED];

static struct ek_greedy_select measured(void)
{
    struct ek_dataset d = planted();
    ck_assert_int_eq(ek_relevance_measure(&d, 10, RELEVANCE, NULL), EK_OK);
    ck_assert_int_eq(ek_similarity_measure(&d, EK_SPEARMAN_ITEMS, LIKE, NULL), EK_OK);
    for (int i = 0; i < PLANTED; i++) {
        WORTH[i] = RELEVANCE[i].ndcg;
        VARIES[i] = !RELEVANCE[i].constant;
    }
    return (struct ek_greedy_select){PLANTED, WORTH, LIKE, VARIES};
}

START_TEST(planted_features_have_the_relevance_they_were_given)
{
    measured();
    ck_assert_double_eq(WORTH[MAIN], WORTH[COPY]);
    ck_assert(WORTH[MAIN] > WORTH[REVERSED] && WORTH[REVERSED] > WORTH[NOISE] + 0.05);
    ck_assert(RELEVANCE[REVERSED].falling && !RELEVANCE[MAIN].falling);
    ck_assert(!VARIES[CONSTANT]);
    ck_assert_double_eq_tol(LIKE[MAIN * PLANTED + COPY], 1, 1e-6);
    ck_assert(LIKE[MAIN * PLANTED + REVERSED] < 0.1);
}
END_TEST

START_TEST(hcas_never_takes_a_copy_while_an_independent_feature_is_left)
{
    struct ek_greedy_select g = measured();
    int chosen[PLANTED];
    ck_assert_int_eq(ek_hcas(&g, 1, chosen, NULL, NULL, NULL), EK_OK);
    ck_assert_int_eq(chosen[0], MAIN);
    ck_assert_int_eq(ek_hcas(&g, 3, chosen, NULL, NULL, NULL), EK_OK);
    ck_assert_int_eq(chosen[0], MAIN);
    ck_assert_int_eq(chosen[1], REVERSED);
    ck_assert_int_eq(chosen[2], NOISE);
    ck_assert_int_eq(ek_hcas(&g, 4, chosen, NULL, NULL, NULL), EK_OK);
    ck_assert_int_eq(chosen[1], COPY);
}
END_TEST

START_TEST(xgas_does_not_take_a_copy_of_the_one_before)
{
    struct ek_greedy_select g = measured();
    int chosen[PLANTED];
    ck_assert_int_eq(ek_xgas(&g, EK_XGAS_SHARE, 2, chosen, NULL), EK_OK);
    ck_assert_int_eq(chosen[0], MAIN);
    ck_assert_int_ne(chosen[1], COPY);
    ck_assert_int_eq(ek_xgas(&g, 0.6, 2, chosen, NULL), EK_OK);
    ck_assert_int_eq(chosen[1], REVERSED);
}
END_TEST

Suite *suite_greedy_select(void)
{
    return ek_suite("gas", xgas_takes_the_best_of_those_least_like_the_last,
                    hcas_takes_the_best_of_each_cluster, what_is_no_candidate_is_never_chosen,
                    planted_features_have_the_relevance_they_were_given,
                    hcas_never_takes_a_copy_while_an_independent_feature_is_left,
                    xgas_does_not_take_a_copy_of_the_one_before);
}
