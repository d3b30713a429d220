/* Rank agreement of two scorers: by hand, and against sums over all pairs and all tie-breaks. */
#include "score/agreement.h"

#include "base/rng.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

enum { LONGEST = 60 };

static struct ek_ranker *comparer;

static void setup(void)
{
    ck_assert_int_eq(ek_ranker_new(&comparer, NULL), EK_OK);
}

static void teardown(void)
{
    ek_ranker_free(comparer);
}

static struct ek_agreement compare(const double *student, const double *teacher, int n)
{
    struct ek_agreement a;
    bool valid;
    ck_assert_int_eq(ek_compare(comparer, student, teacher, n, &a, &valid, NULL), EK_OK);
    ck_assert(valid);
    return a;
}

static bool silent(const double *teacher, int n)
{
    static const double student[] = {3, 1, 2, 5};
    struct ek_agreement a;
    bool valid;
    ck_assert_int_eq(ek_compare(comparer, student, teacher, n, &a, &valid, NULL), EK_OK);
    return !valid;
}

START_TEST(figures_by_hand)
{
    static const double teacher[] = {9, 8, 5, 1}, same[] = {.4, .3, .2, -7}, swap[] = {3, 4, 2, 1},
                        turned[] = {1, 2, 3, 4};
    double log2_3 = 1.584962500721156, ideal = 1 + .5 / log2_3 + 1. / 6 + .25 / log2(5);
    setup();
    struct ek_agreement a = compare(same, teacher, 4);
    for (int f = 0; f < EK_AGREEMENT_STATISTICS; f++)
        ck_assert_double_eq_tol(a.figure[f], 1, 1e-12);
    a = compare(swap, teacher, 4); /* one pair of six is in opposite order */
    ck_assert_double_eq_tol(a.figure[EK_AGREEMENT_TAU], 4. / 6, 1e-12);
    ck_assert_double_eq_tol(a.figure[EK_AGREEMENT_NDCG10],
                            (.5 + 1 / log2_3 + 1. / 6 + .25 / log2(5)) / ideal, 1e-12);
    ck_assert(a.figure[EK_AGREEMENT_TOP1] == 0);
    a = compare(turned, teacher, 4);
    ck_assert_double_eq_tol(a.figure[EK_AGREEMENT_TAU], -1, 1e-12);
    ck_assert(a.figure[EK_AGREEMENT_TOP1] == 0);
    teardown();
}
END_TEST

START_TEST(a_student_that_scores_all_alike_gets_no_credit_for_the_order_it_was_given)
{
    static const double teacher[] = {4, 3, 2, 1}, flat[] = {0, 0, 0, 0},
                        lost[] = {NAN, NAN, NAN, NAN};
    double gains = (1 + .5 + 1. / 3 + .25) / 4, discounts = 1 + 1 / log2(3) + .5 + 1 / log2(5),
           ideal = 1 + .5 / log2(3) + 1. / 6 + .25 / log2(5);
    setup();
    for (int i = 0; i < 2; i++) {
        struct ek_agreement a = compare(i ? lost : flat, teacher, 4);
        ck_assert(a.figure[EK_AGREEMENT_TAU] == 0);
        ck_assert_double_eq_tol(a.figure[EK_AGREEMENT_NDCG10], gains * discounts / ideal, 1e-12);
        ck_assert_double_eq_tol(a.figure[EK_AGREEMENT_TOP1], .25, 1e-12);
    }
    teardown();
}
END_TEST

START_TEST(equal_scores_of_the_teacher_are_as_good_as_each_other)
{
    static const double teacher[] = {2, 2, 1}, one[] = {3, 2, 1}, other[] = {2, 3, 1},
                        both[] = {2, 2, 2};
    setup();
    struct ek_agreement a = compare(one, teacher, 3), b = compare(other, teacher, 3);
    ck_assert_mem_eq(&a, &b, sizeof a);
    ck_assert(a.figure[EK_AGREEMENT_TOP1] == 1);
    ck_assert_double_eq_tol(a.figure[EK_AGREEMENT_NDCG10], 1, 1e-12);
    ck_assert_double_eq_tol(a.figure[EK_AGREEMENT_TAU], 2 / sqrt(2. * 3), 1e-12);
    ck_assert_double_eq_tol(compare(both, teacher, 3).figure[EK_AGREEMENT_TOP1], 2. / 3, 1e-12);
    teardown();
}
END_TEST

START_TEST(a_list_without_an_order_says_nothing)
{
    static const double flat[] = {5, 5, 5, 5}, absent[] = {1, 2, NAN, 4},
                        endless[] = {1, 2, 3, INFINITY}, fine[] = {1, 2, 3, 4};
    setup();
    ck_assert(silent(flat, 4));
    ck_assert(silent(absent, 4));
    ck_assert(silent(endless, 4));
    ck_assert(silent(fine, 1));
    ck_assert(silent(fine, 0));
    ck_assert(!silent(fine, 4));
    teardown();
}
END_TEST

/* Kendall's tau-b by definition. */
static double tau_of_pairs(const double *a, const double *b, int n)
{
    double agreement = 0, pairs_a = 0, pairs_b = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            int x = (a[i] > a[j]) - (a[i] < a[j]), y = (b[i] > b[j]) - (b[i] < b[j]);
            agreement += x * y;
            pairs_a += x != 0;
            pairs_b += y != 0;
        }
    return pairs_a > 0 ? agreement / sqrt(pairs_a * pairs_b) : 0;
}

START_TEST(tau_is_that_of_all_pairs_for_lists_of_any_length_and_ties)
{
    struct ek_rng r;
    double student[LONGEST], teacher[LONGEST];
    setup();
    ek_rng_seed(&r, 11);
    for (int i = 0; i < 3000; i++) {
        int n = 2 + (int)ek_rng_uniform_int(&r, LONGEST - 1);
        uint64_t values = 2 + ek_rng_uniform_int(&r, 80);
        for (int k = 0; k < n; k++) {
            student[k] = (double)ek_rng_uniform_int(&r, values);
            teacher[k] = (double)ek_rng_uniform_int(&r, values) + (i % 3) * student[k];
        }
        teacher[0] = -1; /* never all equal */
        double tau = compare(student, teacher, n).figure[EK_AGREEMENT_TAU];
        ck_assert_double_eq_tol(tau, tau_of_pairs(student, teacher, n), 1e-12);
    }
    teardown();
}
END_TEST

/* The statistic equals its mean over random tie-breaks of the model. */
START_TEST(ties_count_what_a_random_order_would)
{
    static const double teacher[] = {5, 1, 4, 4, 2, 6, 3}, student[] = {1, 1, 2, 2, 2, 0, 3};
    enum { ITEMS = 7, DRAWS = 40000 };
    double broken[ITEMS], ndcg = 0, top1 = 0;
    struct ek_rng r;
    setup();
    ek_rng_seed(&r, 12);
    for (int i = 0; i < DRAWS; i++) {
        for (int k = 0; k < ITEMS; k++)
            broken[k] = student[k] + .5 * ek_rng_uniform(&r);
        struct ek_agreement a = compare(broken, teacher, ITEMS);
        ndcg += a.figure[EK_AGREEMENT_NDCG10] / DRAWS;
        top1 += a.figure[EK_AGREEMENT_TOP1] / DRAWS;
    }
    struct ek_agreement a = compare(student, teacher, ITEMS);
    ck_assert_double_eq_tol(a.figure[EK_AGREEMENT_NDCG10], ndcg, .002);
    ck_assert_double_eq_tol(a.figure[EK_AGREEMENT_TOP1], top1, .01);
    teardown();
}
END_TEST

START_TEST(mean_and_deviation_are_those_of_the_lists)
{
    struct ek_agreement_sums s = {0};
    ck_assert_uint_eq(ek_agreement_result(&s).lists, 0);
    for (int i = 0; i < 4; i++)
        ek_agreement_add(&s, &(struct ek_agreement){{i / 4., 1, i == 3}});
    struct ek_model_agreement f = ek_agreement_result(&s);
    ck_assert_uint_eq(f.lists, 4);
    ck_assert_double_eq_tol(f.mean[0], .375, 1e-12);
    ck_assert_double_eq_tol(f.sd[0], sqrt(5. / 64), 1e-12);
    ck_assert(f.mean[1] == 1 && f.sd[1] == 0);
    ck_assert_double_eq_tol(f.mean[2], .25, 1e-12);
}
END_TEST

Suite *suite_agreement(void)
{
    return ek_suite(
        "agreement", figures_by_hand,
        a_student_that_scores_all_alike_gets_no_credit_for_the_order_it_was_given,
        equal_scores_of_the_teacher_are_as_good_as_each_other, a_list_without_an_order_says_nothing,
        tau_is_that_of_all_pairs_for_lists_of_any_length_and_ties,
        ties_count_what_a_random_order_would, mean_and_deviation_are_those_of_the_lists);
}
