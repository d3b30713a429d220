/* Relevance of one feature and similarity of two, against values worked out by hand. */
#include "offline/select/relevance.h"
#include "tests/check.h"

#include <math.h>

/* Two lists of three items with four features; the label is 1 for the first of each. */
static float X[24] = {
    3, 9, 5, 1, /**/ 2, 9, 6, 1, /**/ 1, 9, 7, 0, /* first list */
    6, 9, 1, 1, /**/ 5, 9, 2, 1, /**/ 4, 9, 3, 0, /* second */
};
static float LABEL[6] = {1, 0, 0, 1, 0, 0};
static size_t OFFSET[3] = {0, 3, 6};

static struct ek_dataset lists(void)
{
    return (struct ek_dataset){
        .lists = 2, .items = 6, .item_features = 4, .offset = OFFSET, .x = X, .label = LABEL};
}

START_TEST(a_feature_is_as_relevant_as_its_ranking_and_a_reversed_one_as_much)
{
    struct ek_dataset d = lists();
    struct ek_relevance r[4];
    ck_assert_int_eq(ek_relevance_measure(&d, 10, r, NULL), EK_OK);
    ck_assert_double_eq_tol(r[0].ndcg, 1, 1e-12);
    ck_assert(!r[0].falling && !r[0].constant);
    ck_assert_double_eq_tol(r[2].ndcg, 1, 1e-12);
    ck_assert(r[2].falling && !r[2].constant);
}
END_TEST

START_TEST(equal_values_count_as_all_their_orders_do)
{
    struct ek_dataset d = lists();
    struct ek_relevance r[4];
    double discounts = 1 + 1 / log2(3) + 1 / log2(4);
    ck_assert_int_eq(ek_relevance_measure(&d, 10, r, NULL), EK_OK);
    ck_assert_double_eq_tol(r[1].ndcg, discounts / 3, 1e-12);
    ck_assert(r[1].constant);
    ck_assert_double_eq_tol(r[3].ndcg, (1 + 1 / log2(3)) / 2, 1e-12);
    ck_assert_int_eq(ek_relevance_measure(&d, 1, r, NULL), EK_OK);
    ck_assert_double_eq_tol(r[1].ndcg, 1.0 / 3, 1e-12);
    ck_assert_double_eq_tol(r[3].ndcg, 1.0 / 2, 1e-12);
}
END_TEST

START_TEST(missing_values_rank_last_in_both_directions)
{
    struct ek_dataset d = lists();
    struct ek_relevance r[4];
    float was = X[0];
    X[0] = NAN;
    ck_assert_int_eq(ek_relevance_measure(&d, 0, r, NULL), EK_OK);
    X[0] = was;
    ck_assert_double_eq_tol(r[0].ndcg, (0.5 + 1) / 2, 1e-12);
    ck_assert(!r[0].falling);
}
END_TEST

START_TEST(lists_without_a_positive_label_are_left_out)
{
    struct ek_dataset d = lists();
    struct ek_relevance r[4];
    LABEL[3] = 0;
    ck_assert_int_eq(ek_relevance_measure(&d, 10, r, NULL), EK_OK);
    ck_assert_double_eq_tol(r[0].ndcg, 1, 1e-12);
    LABEL[0] = 0;
    ck_assert_int_eq(ek_relevance_measure(&d, 10, r, NULL), EK_OK);
    ck_assert(isnan(r[0].ndcg));
    ck_assert(r[1].constant && !r[0].constant);
    LABEL[0] = LABEL[3] = 1;
}
END_TEST

START_TEST(a_list_of_one_item_says_nothing_and_harms_nothing)
{
    float x[] = {5, NAN}, label[] = {1};
    size_t offset[] = {0, 1};
    struct ek_dataset d = {
        .lists = 1, .items = 1, .item_features = 2, .offset = offset, .x = x, .label = label};
    struct ek_relevance r[2];
    double like[4];
    ck_assert_int_eq(ek_relevance_measure(&d, 10, r, NULL), EK_OK);
    ck_assert_double_eq(r[0].ndcg, 1);
    ck_assert(r[0].constant && r[1].constant);
    for (int how = EK_SPEARMAN_ITEMS; how <= EK_SPEARMAN_LISTS; how++) {
        ck_assert_int_eq(ek_similarity_measure(&d, (enum ek_spearman)how, like, NULL), EK_OK);
        ck_assert_double_eq(like[1], 0);
    }
}
END_TEST

START_TEST(a_label_too_large_for_the_gain_is_refused)
{
    struct ek_dataset d = lists();
    struct ek_relevance r[4];
    struct ek_error e;
    LABEL[0] = 2000;
    ck_assert_int_eq(ek_relevance_measure(&d, 10, r, &e), EK_EUSAGE);
    LABEL[0] = 1;
    ck_assert_str_eq(e.message, "label 2000 is above 1000, too large for a gain of 2^y - 1");
}
END_TEST

START_TEST(likeness_is_the_size_of_spearmans_rho_with_middle_ranks)
{
    /* By hand: ranks of the first 1 2.5 2.5 4, of the second 4 2 3 1. */
    float x[] = {1, 40, 7, /**/ 2, 20, 7, /**/ 2, 30, 7, /**/ 9, -5, NAN};
    float label[4] = {0};
    size_t offset[] = {0, 4};
    struct ek_dataset d = {
        .lists = 1, .items = 4, .item_features = 3, .offset = offset, .x = x, .label = label};
    double like[9];
    ck_assert_int_eq(ek_similarity_measure(&d, EK_SPEARMAN_ITEMS, like, NULL), EK_OK);
    ck_assert_double_eq_tol(like[1], 4.5 / sqrt(4.5 * 5), 1e-6);
    ck_assert_double_eq(like[1], like[3]);
    ck_assert_double_eq(like[4], 1);
    ck_assert_double_eq(like[2], 0);
}
END_TEST

START_TEST(likeness_over_lists_leaves_their_levels_out)
{
    /* Within lists the correlation is negative, over all items positive. */
    float x[] = {1, 2, /**/ 2, 1, /**/ 101, 102, /**/ 102, 101};
    float label[4] = {0};
    size_t offset[] = {0, 2, 4};
    struct ek_dataset d = {
        .lists = 2, .items = 4, .item_features = 2, .offset = offset, .x = x, .label = label};
    double like[4];
    ck_assert_int_eq(ek_similarity_measure(&d, EK_SPEARMAN_ITEMS, like, NULL), EK_OK);
    ck_assert_double_eq_tol(like[1], 0.6, 1e-6);
    ck_assert_int_eq(ek_similarity_measure(&d, EK_SPEARMAN_LISTS, like, NULL), EK_OK);
    ck_assert_double_eq_tol(like[1], 1, 1e-6);
}
END_TEST

Suite *suite_relevance(void)
{
    return ek_suite("relevance", a_feature_is_as_relevant_as_its_ranking_and_a_reversed_one_as_much,
                    equal_values_count_as_all_their_orders_do,
                    missing_values_rank_last_in_both_directions,
                    lists_without_a_positive_label_are_left_out,
                    a_list_of_one_item_says_nothing_and_harms_nothing,
                    a_label_too_large_for_the_gain_is_refused,
                    likeness_is_the_size_of_spearmans_rho_with_middle_ranks,
                    likeness_over_lists_leaves_their_levels_out);
}
