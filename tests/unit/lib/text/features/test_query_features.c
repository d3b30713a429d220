/* Query features. Ten documents of 100 tokens; the query "x x y z": x is in 2 documents, 4 times; y
 * in 5, 20 times, and a stop word; z nowhere. */
#include "tests/check.h"
#include "text/features/query_features.h"

#include <math.h>

static void of(const struct ek_text_term *t, const bool *stop, size_t terms, double reached,
               double *out)
{
    double scratch[8];
    struct ek_query_numbers q = {t, stop, terms, 10, 100, reached};
    ek_query_features(&q, scratch, out);
}

static const struct ek_text_term TERMS[] = {{2, 0, 2, 4}, {1, 0, 5, 20}, {1, 0, 0, 0}};
static const bool STOP[] = {false, true, false};

START_TEST(lengths_count_every_term)
{
    double out[EK_QUERY_KINDS];
    of(TERMS, STOP, 3, 6, out);
    ck_assert_double_eq(out[EK_QUERY_LENGTH], 4);
    ck_assert_double_eq(out[EK_QUERY_LENGTH_CONTENT], 3);
    ck_assert_double_eq(out[EK_QUERY_UNKNOWN], 1);
}
END_TEST

START_TEST(predictors_are_those_of_their_papers)
{
    double out[EK_QUERY_KINDS];
    of(TERMS, STOP, 3, 6, out);
    double x = log2(10.5 / 2) / log2(11), y = log2(10.5 / 5) / log2(11);
    double deviation = (x - y) / 2; /* of two numbers */
    ck_assert_double_eq_tol(out[EK_QUERY_SCS], 0.5 * log2(0.5 / 0.04) + 0.25 * log2(0.25 / 0.2),
                            1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_SCOPE], -log(0.6), 1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_IDF_MEAN], (x + y) / 2, 1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_IDF_MEAN_CONTENT], x, 1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_IDF_DEVIATION], deviation, 1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_IDF_VARIANCE], deviation * deviation, 1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_IDF_CONFIDENCE], 1.96 * deviation / sqrt(2), 1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_GAMMA2], x / y, 1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_ICTF_MEAN], (log2(25) + log2(5)) / 2, 1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_ICTF_MEAN_CONTENT], log2(25), 1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_CF_HARMONIC], 2 / (1. / 4 + 1. / 20), 1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_CF_GEOMETRIC], sqrt(80), 1e-12);
    ck_assert_double_eq_tol(out[EK_QUERY_SCQ_MAX],
                            fmax((1 + log(4)) * log(6), (1 + log(20)) * log(3)), 1e-12);
}
END_TEST

START_TEST(a_query_without_terms_has_lengths_alone)
{
    double out[EK_QUERY_KINDS];
    of(TERMS, STOP, 0, NAN, out);
    for (int k = 0; k < EK_QUERY_KINDS; k++) {
        bool length = k == EK_QUERY_LENGTH || k == EK_QUERY_LENGTH_CONTENT || k == EK_QUERY_UNKNOWN;
        ck_assert(length ? out[k] == 0 : isnan(out[k]));
    }
}
END_TEST

START_TEST(a_query_that_nobody_knows_has_no_scope)
{
    double out[EK_QUERY_KINDS];
    of(TERMS + 2, STOP, 1, 0, out);
    ck_assert(isnan(out[EK_QUERY_SCOPE]) && isnan(out[EK_QUERY_SCS]));
    ck_assert(isnan(out[EK_QUERY_GAMMA2]) && isnan(out[EK_QUERY_IDF_MEAN]));
    ck_assert_double_eq(out[EK_QUERY_LENGTH], 1);
}
END_TEST

Suite *suite_query_features(void)
{
    return ek_suite("query_features", lengths_count_every_term,
                    predictors_are_those_of_their_papers, a_query_without_terms_has_lengths_alone,
                    a_query_that_nobody_knows_has_no_scope);
}
