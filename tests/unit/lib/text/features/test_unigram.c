/* Retrieval models against independently calculated values.
 *
 * One text of 6 tokens in a field that 5 documents have, 40 tokens in all (mean 8). The query is
 * "a b b c": a is twice in the text, in 2 documents, 3 times in the collection; b once, 3, 7; c not
 * at all, 1, 1. For instance bm25_atire: K = 0.9 (0.6 + 0.4 6/8) = 0.81;
 * ln(5/2) 2 1.9 / 2.81 + 2 ln(5/3) 1.9 / 1.81 = 2.3115636. prob: 2/6 + 2 1/6 = 2/3.
 */
#include "tests/check.h"
#include "text/features/unigram.h"

#include <math.h>

static const struct ek_text_field FIELD = {5, 40, 6};
static const struct ek_text_term QUERY[] = {{1, 2, 2, 3}, {2, 1, 3, 7}, {1, 0, 1, 1}};

static double score(enum ek_unigram m)
{
    struct ek_unigram_parameters p = ek_unigram_defaults();
    return ek_unigram_score(m, &p, &FIELD, QUERY, 3);
}

START_TEST(every_model_has_the_value_of_its_formula)
{
    static const double want[EK_UNIGRAMS] = {[EK_BM25_ATIRE] = 2.3115636075585786,
                                             [EK_BM25_TREC3] = 0.49763961046498717,
                                             [EK_BM25_TREC3_KMAX] = 0.5569195640626972,
                                             [EK_LMDS_1000] = -9.75130016584055,
                                             [EK_LMDS_1500] = -9.755827141505861,
                                             [EK_LMDS_2500] = -9.759497336934743,
                                             [EK_TFIDF] = 0.6804617656735488,
                                             [EK_PROB] = 2. / 3,
                                             [EK_BE] = 3.193166732042267,
                                             [EK_DPH] = 1.6452266950448218,
                                             [EK_DFR] = 2.7242357466279437,
                                             [EK_PL2] = 2.5765178832562396,
                                             [EK_LMJM_10] = -10.744288594277577,
                                             [EK_LMJM_70] = -9.440861166008785};
    for (int m = 0; m < EK_UNIGRAMS; m++)
        ck_assert_double_eq_tol(score((enum ek_unigram)m), want[m], 1e-12);
}
END_TEST

/* rank_bm25 0.2.2 (Python), BM25Okapi(k1=1.2, b=0.75), on "x y", "x x z", "y z z w", "u v", "u w
 * w", "q", "q r s": the scores of the query "z w" for the third and the fifth, and of "x" for the
 * second. The mean length is 18/7; z is in 2 documents, w in 2, x in 2. */
START_TEST(bm25_is_that_of_a_published_program)
{
    struct ek_unigram_parameters p = ek_unigram_defaults();
    struct ek_text_field third = {7, 18, 4}, fifth = {7, 18, 3}, second = {7, 18, 3};
    struct ek_text_term zw3[] = {{1, 2, 2, 3}, {1, 1, 2, 3}}, zw5[] = {{1, 0, 2, 3}, {1, 2, 2, 3}};
    struct ek_text_term x2[] = {{1, 2, 2, 3}};
    ck_assert_double_eq_tol(ek_unigram_score(EK_BM25_TREC3, &p, &third, zw3, 2), 1.5800717071564256,
                            1e-12);
    ck_assert_double_eq_tol(ek_unigram_score(EK_BM25_TREC3, &p, &fifth, zw5, 2), 1.0355857867471012,
                            1e-12);
    ck_assert_double_eq_tol(ek_unigram_score(EK_BM25_TREC3, &p, &second, x2, 1), 1.0355857867471012,
                            1e-12);
}
END_TEST

START_TEST(a_text_without_tokens_has_no_score)
{
    struct ek_unigram_parameters p = ek_unigram_defaults();
    struct ek_text_field empty = {5, 40, 0}, nowhere = {0, 0, 0};
    for (int m = 0; m < EK_UNIGRAMS; m++) {
        ck_assert(isnan(ek_unigram_score((enum ek_unigram)m, &p, &empty, QUERY, 3)));
        ck_assert(isnan(ek_unigram_score((enum ek_unigram)m, &p, &nowhere, QUERY, 3)));
        ck_assert(isnan(ek_unigram_score((enum ek_unigram)m, &p, &FIELD, QUERY, 0)));
    }
}
END_TEST

START_TEST(a_term_that_nobody_has_adds_nothing)
{
    struct ek_unigram_parameters p = ek_unigram_defaults();
    struct ek_text_term more[] = {QUERY[0], QUERY[1], QUERY[2], {3, 0, 0, 0}};
    for (int m = 0; m < EK_UNIGRAMS; m++)
        ck_assert_double_eq(ek_unigram_score((enum ek_unigram)m, &p, &FIELD, more, 4),
                            score((enum ek_unigram)m));
}
END_TEST

START_TEST(of_unknown_terms_alone_a_language_model_has_no_value_and_others_zero)
{
    struct ek_unigram_parameters p = ek_unigram_defaults();
    struct ek_text_term unknown[] = {{1, 0, 0, 0}};
    for (int m = 0; m < EK_UNIGRAMS; m++) {
        double x = ek_unigram_score((enum ek_unigram)m, &p, &FIELD, unknown, 1);
        bool language = (m >= EK_LMDS_1000 && m <= EK_LMDS_2500) || m >= EK_LMJM_10;
        ck_assert(language ? isnan(x) : x == 0);
    }
}
END_TEST

START_TEST(a_language_model_divides_as_real_numbers_do)
{
    /* With integers cf / C would be 0, and an absent term would have ln 0. */
    struct ek_unigram_parameters p = ek_unigram_defaults();
    struct ek_text_term lacking = {1, 0, 1, 1};
    ck_assert_double_eq_tol(ek_unigram_score(EK_LMDS_1000, &p, &FIELD, &lacking, 1),
                            log(1000. / 40 / 1006), 1e-12);
}
END_TEST

START_TEST(one_document_that_is_one_term_has_finite_scores)
{
    struct ek_unigram_parameters p = ek_unigram_defaults();
    struct ek_text_field alone = {1, 3, 3};
    struct ek_text_term t = {1, 3, 1, 3};
    for (int m = 0; m < EK_UNIGRAMS; m++)
        ck_assert(isfinite(ek_unigram_score((enum ek_unigram)m, &p, &alone, &t, 1)));
}
END_TEST

START_TEST(parameters_change_their_model)
{
    struct ek_unigram_parameters p = ek_unigram_defaults();
    p.bm25[EK_BM25_ATIRE].k1 = 0; /* then the frequency does not count: ln(5/2) + 2 ln(5/3) */
    ck_assert_double_eq_tol(ek_unigram_score(EK_BM25_ATIRE, &p, &FIELD, QUERY, 3),
                            log(2.5) + 2 * log(5. / 3), 1e-12);
}
END_TEST

Suite *suite_unigram(void)
{
    return ek_suite("unigram", every_model_has_the_value_of_its_formula,
                    bm25_is_that_of_a_published_program, a_text_without_tokens_has_no_score,
                    a_term_that_nobody_has_adds_nothing,
                    of_unknown_terms_alone_a_language_model_has_no_value_and_others_zero,
                    a_language_model_divides_as_real_numbers_do,
                    one_document_that_is_one_term_has_finite_scores, parameters_change_their_model);
}
