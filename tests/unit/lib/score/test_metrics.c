/* Ranking metrics, by hand and against the reference. */
#include "score/metrics.h"
#include "tests/golden.h"

#include <string.h>

enum { LONGEST = 64 };

static double value(const char *name, enum ek_gain gain, const double *scores, const float *labels,
                    int n, double max_label)
{
    struct ek_metric metric;
    struct ek_error e;
    int order[LONGEST];
    double scratch[LONGEST];
    ck_assert_int_eq(ek_metric_parse(name, &metric, &e), EK_OK);
    ek_rank(scores, n, order);
    return ek_metric_compute(metric, gain, order, labels, n, max_label, scratch);
}

/* Ranking of the labels 0 2 1: DCG = 0 + 3 / log2 3 + 1 / 2, ideal 3 + 1 / log2 3. */
static const double SCORES[] = {3, 2, 1};
static const float LABELS[] = {0, 2, 1};

START_TEST(ndcg_by_hand)
{
    double log2_3 = 1.584962500721156;
    double got = value("ndcg", EK_GAIN_EXP, SCORES, LABELS, 3, 2);
    ck_assert_double_eq_tol(got, (3 / log2_3 + 0.5) / (3 + 1 / log2_3), 1e-12);
    got = value("ndcg@2", EK_GAIN_EXP, SCORES, LABELS, 3, 2);
    ck_assert_double_eq_tol(got, (3 / log2_3) / (3 + 1 / log2_3), 1e-12);
    got = value("ndcg@10", EK_GAIN_LINEAR, SCORES, LABELS, 3, 2);
    ck_assert_double_eq_tol(got, (2 / log2_3 + 0.5) / (2 + 1 / log2_3), 1e-12);
    ck_assert(value("ndcg@1", EK_GAIN_EXP, SCORES, LABELS, 3, 2) == 0);
}
END_TEST

START_TEST(the_other_metrics_by_hand)
{
    ck_assert_double_eq_tol(value("map", EK_GAIN_EXP, SCORES, LABELS, 3, 2),
                            (1.0 / 2 + 2.0 / 3) / 2, 1e-12);
    ck_assert_double_eq_tol(value("p@5", EK_GAIN_EXP, SCORES, LABELS, 3, 2), 0.4, 1e-12);
    ck_assert_double_eq_tol(value("mrr", EK_GAIN_EXP, SCORES, LABELS, 3, 2), 0.5, 1e-12);
    ck_assert_double_eq_tol(value("err", EK_GAIN_EXP, SCORES, LABELS, 3, 2),
                            0.75 / 2 + 0.25 * 0.25 / 3, 1e-12);
    ck_assert_double_eq_tol(value("err@2", EK_GAIN_EXP, SCORES, LABELS, 3, 2), 0.375, 1e-12);
}
END_TEST

START_TEST(equal_scores_keep_the_input_order_and_nan_sorts_last)
{
    const double scores[] = {NAN, 1, 2, 1, -INFINITY, 2};
    const int expected[] = {2, 5, 1, 3, 4, 0};
    int order[6];
    ek_rank(scores, 6, order);
    ck_assert_mem_eq(order, expected, sizeof order);
}
END_TEST

START_TEST(an_empty_list_counts_as_asked)
{
    static const float none[] = {0, 0, 0};
    double empty = value("ndcg@10", EK_GAIN_EXP, SCORES, none, 3, 2);
    ck_assert(isnan(empty));
    ck_assert(isnan(value("err", EK_GAIN_EXP, SCORES, none, 3, 2)));
    ck_assert(isnan(value("map", EK_GAIN_EXP, SCORES, none, 0, 2)));
    static const double expected[] = {0.5, 0.25, 0.75};
    for (int rule = EK_EMPTY_SKIP; rule <= EK_EMPTY_1; rule++) {
        struct ek_metric_mean m = {0};
        ek_metric_add(&m, 0.5, (enum ek_empty)rule);
        ek_metric_add(&m, empty, (enum ek_empty)rule);
        ck_assert_double_eq(ek_metric_result(&m), expected[rule]);
        ck_assert_uint_eq(m.lists, 2);
    }
    struct ek_metric_mean nothing = {0};
    ck_assert(isnan(ek_metric_result(&nothing)));
}
END_TEST

START_TEST(names_of_metrics_are_read_strictly)
{
    static const char *const bad[] = {"",      "ndcg@",  "ndcg@0", "ndcg@-1", "ndcg@1x", "nd",
                                      "map@5", "mrr@10", "p",      "NDCG@10", "ndcg @5"};
    struct ek_metric m = {EK_MRR, 7};
    struct ek_error e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(ek_metric_parse(bad[i], &m, &e) == EK_EUSAGE, "'%s'", bad[i]);
    ck_assert(m.kind == EK_MRR && m.cutoff == 7);
    ck_assert_int_eq(ek_metric_parse("ndcg@10", &m, &e), EK_OK);
    ck_assert(m.kind == EK_NDCG && m.cutoff == 10);
}
END_TEST

/* Return the metric of a reference name: "ndcg_exp@10", "ndcg_linear@all", "err@5", ... */
static double by_reference_name(const char *name, const double *scores, const float *labels, int n,
                                double max_label)
{
    char ours[32];
    enum ek_gain gain = strstr(name, "linear") ? EK_GAIN_LINEAR : EK_GAIN_EXP;
    const char *at = strchr(name, '@');
    snprintf(ours, sizeof ours, "%.*s%s", (int)strcspn(name, "_@"), name,
             at && strcmp(at, "@all") ? at : "");
    return value(ours, gain, scores, labels, n, max_label);
}

/* Return the mean of one metric over the reference's cases, under one rule for empty lists. */
static double mean_by_reference_name(const char *name, const json_t *cases, enum ek_empty rule)
{
    struct ek_metric_mean mean = {0};
    size_t i;
    json_t *entry;
    json_array_foreach(cases, i, entry)
    {
        double scores[LONGEST];
        float labels[LONGEST];
        int n = (int)golden_doubles(json_object_get(entry, "scores"), scores);
        golden_floats(json_object_get(entry, "labels"), labels);
        double max_label = json_number_value(json_object_get(entry, "max_label"));
        ek_metric_add(&mean, by_reference_name(name, scores, labels, n, max_label), rule);
    }
    return ek_metric_result(&mean);
}

START_TEST(means_agree_with_the_reference_under_each_rule_for_empty_lists)
{
    static const char *const rules[] = {
        [EK_EMPTY_SKIP] = "skip", [EK_EMPTY_0] = "0", [EK_EMPTY_1] = "1"};
    json_t *golden = golden_load_reference("metrics.json");
    if (!golden)
        return;
    const char *name;
    json_t *expected, *means = json_object_get(golden, "means_over_cases_by_value_of_empty_list");
    ck_assert_uint_gt(json_object_size(means), 10);
    json_object_foreach(means, name, expected)
    {
        for (int rule = EK_EMPTY_SKIP; rule <= EK_EMPTY_1; rule++)
            ck_assert_msg(fabs(mean_by_reference_name(name, json_object_get(golden, "cases"),
                                                      (enum ek_empty)rule) -
                               json_number_value(json_object_get(expected, rules[rule]))) < 1e-12,
                          "%s, empty lists %s", name, rules[rule]);
    }
    json_decref(golden);
}
END_TEST

START_TEST(metrics_agree_with_the_reference)
{
    json_t *golden = golden_load_reference("metrics.json");
    if (!golden)
        return;
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(golden, "cases"), i, entry)
    {
        double scores[LONGEST];
        float labels[LONGEST];
        const char *name;
        json_t *expected;
        int n = (int)golden_doubles(json_object_get(entry, "scores"), scores);
        golden_floats(json_object_get(entry, "labels"), labels);
        double max_label = json_number_value(json_object_get(entry, "max_label"));
        json_object_foreach(json_object_get(entry, "metrics"), name, expected)
        {
            double got = by_reference_name(name, scores, labels, n, max_label);
            if (json_is_null(expected))
                ck_assert_msg(isnan(got), "case %zu, %s", i, name);
            else
                ck_assert_msg(fabs(got - json_number_value(expected)) < 1e-12, "case %zu, %s", i,
                              name);
        }
    }
    ck_assert_uint_gt(i, 10);
    json_decref(golden);
}
END_TEST

Suite *suite_metrics(void)
{
    return ek_suite("metrics", ndcg_by_hand, the_other_metrics_by_hand,
                    equal_scores_keep_the_input_order_and_nan_sorts_last,
                    an_empty_list_counts_as_asked, names_of_metrics_are_read_strictly,
                    metrics_agree_with_the_reference,
                    means_agree_with_the_reference_under_each_rule_for_empty_lists);
}
