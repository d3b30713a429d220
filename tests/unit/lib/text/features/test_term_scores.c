/* Statistics of a term's scores over its documents, and over a query's terms. */
#include "tests/check.h"
#include "text/features/term_scores.h"

#include <math.h>
#include <string.h>

static const uint32_t TF[] = {1, 4, 2}, LENGTH[] = {4, 8, 10};
static const struct ek_text_field COLLECTION = {6, 60, 0};

static struct ek_term_scores scores(void)
{
    struct ek_unigram_parameters p = ek_unigram_defaults();
    struct ek_term_documents d = {TF, LENGTH, 3, 7};
    struct ek_term_scores s;
    double scratch[3];
    ek_term_scores_compute(&p, &COLLECTION, &d, scratch, &s);
    return s;
}

static int figure(const char *name)
{
    char made[64];
    for (int k = 0; k < EK_TERM_STATISTICS; k++) {
        ek_term_statistic_name(k, "terms", made, sizeof made);
        if (!strcmp(made, name))
            return k;
    }
    ck_abort_msg("no figure %s", name);
}

/* prob: tf / len is 0.25, 0.5, 0.2. Smallest of two terms with other numbers. */
START_TEST(figures_are_over_documents_then_over_terms)
{
    struct ek_term_scores a = scores(), b = a;
    const struct ek_term_scores *both[] = {&a, &b};
    double out[EK_TERM_STATISTICS], scratch[2];
    for (int m = 0; m < EK_SPREAD_MODELS; m++)
        for (int k = 0; k < EK_SPREAD_STATS; k++)
            b.stat[m][k] *= 2;
    b.documents = 5;
    ek_term_statistics_list(both, 2, scratch, out);
    ck_assert_double_eq(out[figure("terms_known")], 2);
    ck_assert_double_eq(out[figure("terms_df_mean")], 4);
    ck_assert_double_eq(out[figure("terms_df_min")], 3);
    ck_assert_double_eq(out[figure("terms_df_max")], 5);
    ck_assert_double_eq_tol(out[figure("terms_tf_gmean_mean")], 2, 1e-12);
    ck_assert_double_eq(out[figure("terms_prob_max_min")], 0.5);
    ck_assert_double_eq(out[figure("terms_prob_max_max")], 1);
    ck_assert_double_eq(out[figure("terms_prob_max_mean")], 0.75);
    ck_assert_double_eq(out[figure("terms_prob_median_min")], 0.25);
    ck_assert_double_eq_tol(out[figure("terms_prob_q1_min")], 0.225, 1e-15);
    ck_assert_double_eq_tol(out[figure("terms_prob_q3_max")], 0.75, 1e-15);
    ck_assert_double_eq_tol(out[figure("terms_prob_iqr_mean")], 0.15 * 1.5, 1e-15);
    ck_assert_double_eq_tol(out[figure("terms_prob_hmean_min")], 3 / 11., 1e-12);
    ck_assert_double_eq_tol(out[figure("terms_prob_mean_min")], 0.95 / 3, 1e-12);
}
END_TEST

START_TEST(a_score_is_that_of_the_model)
{
    struct ek_unigram_parameters p = ek_unigram_defaults();
    struct ek_term_scores s = scores();
    const struct ek_term_scores *one[] = {&s};
    double out[EK_TERM_STATISTICS], scratch[1];
    ek_term_statistics_list(one, 1, scratch, out);
    double lm = -INFINITY, be = -INFINITY;
    for (int i = 0; i < 3; i++) {
        struct ek_text_field text = {6, 60, LENGTH[i]};
        struct ek_text_term t = {1, TF[i], 3, 7};
        lm = fmax(lm, ek_unigram_term(EK_LMDS_2500, &p, &text, &t));
        be = fmax(be, ek_unigram_term(EK_BE, &p, &text, &t));
    }
    ck_assert_double_eq(out[figure("terms_lmds_2500_max_max")], lm);
    ck_assert_double_eq(out[figure("terms_be_max_max")], be);
}
END_TEST

START_TEST(a_geometric_mean_is_of_logarithms)
{
    /* The n-th root of a sum would be 7^(1/3). */
    ck_assert_double_eq_tol(scores().tf_gmean, 2, 1e-12);
}
END_TEST

START_TEST(without_terms_only_their_number_is_known)
{
    double out[EK_TERM_STATISTICS], scratch[1];
    ek_term_statistics_list(NULL, 0, scratch, out);
    ck_assert_double_eq(out[0], 0);
    for (int k = 1; k < EK_TERM_STATISTICS; k++)
        ck_assert(isnan(out[k]));
}
END_TEST

Suite *suite_term_scores(void)
{
    return ek_suite("term_scores", figures_are_over_documents_then_over_terms,
                    a_score_is_that_of_the_model, a_geometric_mean_is_of_logarithms,
                    without_terms_only_their_number_is_known);
}
