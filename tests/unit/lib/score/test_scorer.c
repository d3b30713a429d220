/* Scores under routing: against golden files, and the effect of each treatment. */
#include "base/rng.h"
#include "assets/model.h"
#include "score/scorer.h"
#include "tests/golden.h"

#include <float.h>
#include <string.h>

enum { ROOM = 4096 };

static struct ek_model *reference_model(void)
{
    char path[1000];
    struct ek_model *m;
    struct ek_error e;
    if (!golden_reference("model.safetensors", path, sizeof path))
        return NULL;
    ck_assert_int_eq(ek_model_load(&m, path, &e), EK_OK);
    return m;
}

static void fill_query(struct ek_list *q, const struct ek_model *m, const json_t *entry)
{
    const json_t *items = json_object_get(entry, "item_features");
    ck_assert_int_eq(
        ek_list_resize(q, (int)json_array_size(items), m->item_features, m->query_features), EK_OK);
    golden_floats(items, q->x);
    golden_floats(json_object_get(entry, "query_features"), q->query);
}

/* Check all lists of a golden file under all of its masks, to an absolute difference. */
static void check_scores(const struct ek_model *m, json_t *golden, double tolerance)
{
    struct ek_scorer *s;
    struct ek_error e;
    struct ek_list q;
    size_t i;
    json_t *entry, *expected;
    const char *mask;
    ek_list_init(&q);
    ck_assert_int_eq(ek_scorer_new(&s, m, &e), EK_OK);
    json_array_foreach(json_object_get(golden, "lists"), i, entry)
    {
        fill_query(&q, m, entry);
        json_object_foreach(json_object_get(entry, "scores"), mask, expected)
        {
            double scores[ROOM];
            struct ek_treatment t[64] = {{EK_ACT_NONE, 0}};
            json_t *bits = json_object_get(json_object_get(golden, "routing_masks"), mask);
            for (int k = 0; k < m->routable_count; k++)
                if (json_integer_value(json_array_get(bits, (size_t)k)))
                    t[k].action = EK_ACT_ROUTE;
            ck_assert_int_eq(ek_scorer_score(s, &q, t, scores, &e), EK_OK);
            for (int d = 0; d < q.items; d++) {
                double want = json_number_value(json_array_get(expected, (size_t)d));
                ck_assert_msg(fabs(scores[d] - want) < tolerance, "list %zu, %s, item %d: %g, %g",
                              i, mask, d, scores[d], want);
            }
        }
    }
    ck_assert_uint_gt(i, 0);
    ek_scorer_free(s);
    ek_list_release(&q);
}

START_TEST(scores_are_those_of_the_reference)
{
    struct ek_model *m = reference_model();
    if (!m)
        return;
    json_t *golden = golden_load_reference("scores.json");
    check_scores(m, golden, 1e-5);
    json_decref(golden);
    ek_model_free(m);
}
END_TEST

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: chain, index: 2, role: item}\n"
                               "  - {name: distance, index: 3, role: item, routable: true}\n"
                               "  - {name: nights, index: 4, role: query}\n";
enum { F = 3, M = 1, K = 2 };

static void randomise(float *x, size_t count, struct ek_rng *r)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)ek_rng_normal(r) / 2;
}

/* Random weights, statistics that are easy to reason about. */
static struct ek_model *model_of(const struct ek_model_shape *shape)
{
    struct ek_manifest *f;
    struct ek_model *m;
    struct ek_rng r;
    struct ek_error e;
    ek_rng_seed(&r, 21);
    ck_assert_int_eq(ek_manifest_parse(&f, "m", MANIFEST, strlen(MANIFEST), &e), EK_OK);
    ck_assert_int_eq(ek_model_new(&m, f, shape, &e), EK_OK);
    for (int i = 0, below = m->deep_inputs; i <= m->hidden_count; i++) {
        int width = i < m->hidden_count ? m->hidden[i] : 1;
        randomise(m->weight[i], (size_t)width * (size_t)below, &r);
        randomise(m->bias[i], (size_t)width, &r);
        below = width;
    }
    randomise(m->gate_weight, (size_t)m->gate_size * M, &r);
    randomise(m->slope, (size_t)(m->gate_size + 1) * K, &r);
    randomise(m->zero, (size_t)(m->gate_size + 1) * K, &r);
    for (int i = 0; i < F; i++)
        m->item_mean[i] = m->item_sd[i] = 1;
    m->query_sd[0] = 1;
    m->log_sd[0] = m->log_sd[1] = 0.5f;
    ek_manifest_free(f);
    return m;
}

static const struct ek_model_shape ALWAYS = {
    2, {8, 4}, 3, true, false, EK_LOG_ALWAYS, EK_TRANSFORM_LOG1P};

/* Score rows of F values under treatments of price and distance; source [n], or NULL. */
static void score_sourced(const struct ek_model *m, const float *x, int n, const uint8_t *source,
                          struct ek_treatment price, struct ek_treatment distance, double *scores)
{
    struct ek_treatment t[K] = {price, distance};
    struct ek_scorer *s;
    struct ek_list q;
    struct ek_error e = {0};
    ek_list_init(&q);
    ck_assert_int_eq(ek_list_resize(&q, n, F, M), EK_OK);
    memcpy(q.x, x, (size_t)n * F * sizeof *x);
    q.query[0] = 2;
    q.sources = source ? 2 : 0;
    for (int i = 0; source && i < n; i++)
        q.source[i] = source[i];
    ck_assert_int_eq(ek_scorer_new(&s, m, &e), EK_OK);
    int code = ek_scorer_score(s, &q, t, scores, &e);
    ck_assert_msg(code == EK_OK, "%s", e.message);
    ek_scorer_free(s);
    ek_list_release(&q);
}

static void score_rows(const struct ek_model *m, const float *x, int n, struct ek_treatment price,
                       struct ek_treatment distance, double *scores)
{
    score_sourced(m, x, n, NULL, price, distance, scores);
}

static void assert_same(const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_msg(fabs(a[i] - b[i]) <= 1e-6 * (1 + fabs(a[i])), "item %d: %.9g, %.9g", i, a[i],
                      b[i]);
}

static const struct ek_treatment NONE = {EK_ACT_NONE, 0}, ALERT = {EK_ACT_ALERT, 0},
                                 ROUTE = {EK_ACT_ROUTE, 0}, SILENCE = {EK_ACT_BLANK, 0},
                                 BY_SOURCE = {EK_ACT_ROUTE_PER_SOURCE, 0};
static const float ROWS[4 * F] = {120, 1, 3, 80, 0, 0.5f, 240, 0, 9, 60, 1, 2};

/* ROWS with the price replaced. */
static void with_prices(float *x, float a, float b, float c, float d)
{
    memcpy(x, ROWS, sizeof ROWS);
    x[0] = a;
    x[F] = b;
    x[2 * F] = c;
    x[3 * F] = d;
}

START_TEST(an_alert_scores_as_nothing)
{
    struct ek_model *m = model_of(&ALWAYS);
    double a[4], b[4];
    score_rows(m, ROWS, 4, NONE, NONE, a);
    score_rows(m, ROWS, 4, ALERT, ALERT, b);
    ck_assert_mem_eq(a, b, sizeof a);
    ek_model_free(m);
}
END_TEST

START_TEST(rescaling_is_division_before_everything)
{
    struct ek_model *m = model_of(&ALWAYS);
    double a[4], b[4], routed[4];
    float x[4 * F];
    with_prices(x, 12000, 8000, 24000, 6000);
    score_rows(m, ROWS, 4, NONE, ROUTE, a);
    score_rows(m, x, 4, (struct ek_treatment){EK_ACT_REPAIR, 100}, ROUTE, b);
    assert_same(a, b, 4);
    score_rows(m, x, 4, ROUTE, ROUTE, routed);
    ck_assert(fabs(routed[0] - a[0]) > 1e-3); /* the deep path contributed */
    ek_model_free(m);
}
END_TEST

START_TEST(a_spread_ratio_undoes_a_power)
{
    struct ek_model *m = model_of(&ALWAYS);
    double a[4], b[4];
    float x[4 * F];
    with_prices(x, 120 * 120, 80 * 80, 240 * 240, 60 * 60);
    score_rows(m, ROWS, 4, ROUTE, NONE, a);
    score_rows(m, x, 4, (struct ek_treatment){EK_ACT_ROUTE_NORMALIZED, 2}, NONE, b);
    assert_same(a, b, 4);
    ek_model_free(m);
}
END_TEST

START_TEST(a_silenced_feature_has_no_say)
{
    struct ek_model *m = model_of(&ALWAYS);
    double a[4], b[4], equal[4];
    float x[4 * F];
    with_prices(x, -7, 0, NAN, 1e30f);
    score_rows(m, ROWS, 4, SILENCE, NONE, a);
    score_rows(m, x, 4, SILENCE, NONE, b);
    assert_same(a, b, 4);
    with_prices(x, 5, 5, 5, 5); /* z is 0 for all, and no value is 0 */
    score_rows(m, x, 4, ROUTE, NONE, equal);
    assert_same(a, equal, 4);
    ek_model_free(m);
}
END_TEST

START_TEST(a_missing_value_is_left_out_of_the_mean)
{
    struct ek_model *m = model_of(&ALWAYS);
    double three[3], four[4];
    float x[4 * F];
    for (int gone = 0; gone < 3; gone++) {
        static const float values[] = {NAN, INFINITY, -INFINITY};
        with_prices(x, 120, 80, 240, values[gone]);
        x[3 * F + 2] = values[gone];
        score_rows(m, ROWS, 3, ROUTE, NONE, three);
        score_rows(m, x, 4, ROUTE, NONE, four);
        assert_same(three, four, 3);
        ck_assert(isfinite(four[3]));
    }
    ek_model_free(m);
}
END_TEST

/* One layer of weight 1 on a single input returns that input. */
static double input_of(int input, const float *x, int n, int item, struct ek_treatment price)
{
    const struct ek_model_shape plain = {0, {0}, 0, true, false, EK_LOG_ALWAYS, EK_TRANSFORM_LOG1P};
    struct ek_model *m = model_of(&plain);
    double scores[8];
    memset(m->weight[0], 0, (size_t)m->deep_inputs * sizeof(float));
    memset(m->slope, 0, K * sizeof(float));
    memset(m->zero, 0, K * sizeof(float));
    m->bias[0][0] = 0;
    m->weight[0][input] = 1;
    score_rows(m, x, n, price, NONE, scores);
    ek_model_free(m);
    return scores[item];
}

/* Inputs: u 0..2, query 3, mask 4..5, z 6..7, zero 8..9. */
START_TEST(inputs_are_the_transforms_of_the_design)
{
    float x[4 * F];
    with_prices(x, -8, 0, NAN, 2);
    double mean = (log(8) + log(2)) / 2;
    ck_assert_double_eq_tol(input_of(0, x, 4, 0, NONE), -log(9) - 1, 1e-6);
    ck_assert_double_eq_tol(input_of(0, x, 4, 1, NONE), -1, 1e-6);
    ck_assert(input_of(0, x, 4, 2, NONE) == 0);
    ck_assert(input_of(0, x, 4, 0, ROUTE) == 0);
    ck_assert_double_eq_tol(input_of(3, x, 4, 0, NONE), log(3), 1e-6);
    ck_assert(input_of(4, x, 4, 0, NONE) == 0 && input_of(4, x, 4, 0, ROUTE) == 1);
    ck_assert_double_eq_tol(input_of(6, x, 4, 0, NONE), -(log(8) - mean) / 0.5, 1e-6);
    ck_assert_double_eq_tol(input_of(6, x, 4, 3, ROUTE), (log(2) - mean) / 0.5, 1e-6);
    ck_assert(input_of(6, x, 4, 1, NONE) == 0 && input_of(6, x, 4, 2, NONE) == 0);
    ck_assert(input_of(8, x, 4, 1, NONE) == 1 && input_of(8, x, 4, 2, NONE) == 0);
    ck_assert(input_of(8, x, 4, 1, SILENCE) == 0);
}
END_TEST

START_TEST(a_list_free_model_scores_items_one_by_one)
{
    const struct ek_model_shape free_form = {
        1, {8}, 3, true, true, EK_LOG_NONE, EK_TRANSFORM_LOG1P};
    struct ek_model *m = model_of(&free_form);
    double all[4], one;
    score_rows(m, ROWS, 4, ROUTE, NONE, all);
    for (int i = 0; i < 4; i++) {
        score_rows(m, ROWS + i * F, 1, ROUTE, NONE, &one);
        ck_assert_double_eq(one, all[i]);
    }
    ek_model_free(m);
}
END_TEST

START_TEST(an_item_scores_the_same_wherever_it_stands_in_a_long_list)
{
    enum { MANY = 1000 };
    struct ek_model *m = model_of(&ALWAYS);
    static float x[MANY * F], turned[MANY * F];
    static double a[MANY], b[MANY];
    for (int i = 0; i < MANY; i++) {
        for (int f = 0; f < F; f++)
            x[i * F + f] = (float)(1 + (i * 7 + f * 3) % 101);
        memcpy(turned + (MANY - 1 - i) * F, x + i * F, F * sizeof *x);
    }
    score_rows(m, x, MANY, ROUTE, NONE, a);
    score_rows(m, turned, MANY, ROUTE, NONE, b);
    for (int i = 0; i < MANY; i++)
        ck_assert_double_eq_tol(a[i], b[MANY - 1 - i], 1e-6);
    ek_model_free(m);
}
END_TEST

/* ROWS with the prices multiplied. */
static void with_factor(float *x, double c)
{
    memcpy(x, ROWS, sizeof ROWS);
    for (int i = 0; i < 4; i++)
        x[i * F] = (float)((double)x[i * F] * c);
}

START_TEST(sources_that_differ_in_scale_are_centred_each_on_its_own)
{
    static const uint8_t source[] = {0, 1, 1, 0}, one[4] = {0};
    struct ek_model *m = model_of(&ALWAYS);
    double want[4], got[4], routed[4];
    float x[4 * F];
    score_sourced(m, ROWS, 4, source, BY_SOURCE, ROUTE, want);
    with_prices(x, 120, 80 * 64, 240 * 64, 60); /* the second source in other units */
    score_sourced(m, x, 4, source, BY_SOURCE, ROUTE, got);
    ck_assert_mem_eq(got, want, sizeof got);
    with_prices(x, 120, 8000, 24000, 60);
    score_sourced(m, x, 4, source, BY_SOURCE, ROUTE, got);
    assert_same(want, got, 4);
    score_rows(m, x, 4, ROUTE, ROUTE, routed); /* one mean for all is insufficient */
    score_rows(m, ROWS, 4, ROUTE, ROUTE, want);
    ck_assert(fabs(routed[1] - want[1]) > 1e-2);
    score_sourced(m, ROWS, 4, one, BY_SOURCE, ROUTE, got); /* a single source: as routed */
    assert_same(want, got, 4);
    ek_model_free(m);
}
END_TEST

START_TEST(only_what_is_routed_by_source_heeds_the_sources)
{
    static const uint8_t source[] = {0, 1, 1, 0};
    struct ek_model *m = model_of(&ALWAYS);
    double with[4], without[4];
    score_sourced(m, ROWS, 4, source, ROUTE, NONE, with);
    score_rows(m, ROWS, 4, ROUTE, NONE, without);
    ck_assert_mem_eq(with, without, sizeof with);
    ek_model_free(m);
}
END_TEST

START_TEST(values_beyond_the_range_of_a_float_count_as_missing)
{
    struct ek_model *m = model_of(&ALWAYS);
    double got[4], want[4];
    float x[4 * F];
    with_factor(x, 2e36); /* 240 becomes infinite, the others do not */
    ck_assert(isinf(x[2 * F]) && isfinite(x[0]));
    score_rows(m, x, 4, ROUTE, NONE, got);
    with_prices(x, 120, 80, NAN, 60);
    score_rows(m, x, 4, ROUTE, NONE, want);
    assert_same(want, got, 4);
    with_factor(x, 1e38);
    score_rows(m, x, 4, ROUTE, NONE, got);
    score_rows(m, x, 4, SILENCE, NONE, want); /* no value is left: no contribution */
    assert_same(want, got, 4);
    ek_model_free(m);
}
END_TEST

START_TEST(denormal_values_say_what_their_digits_still_hold)
{
    struct ek_model *m = model_of(&ALWAYS);
    double want[4], got[4];
    float x[4 * F];
    score_rows(m, ROWS, 4, ROUTE, NONE, want);
    with_factor(x, 0x1p-145); /* multiples of the smallest float: exact */
    ck_assert(x[0] > 0 && x[0] < FLT_MIN);
    score_rows(m, x, 4, ROUTE, NONE, got);
    ck_assert_mem_eq(got, want, sizeof got);
    with_factor(x, 1.23e-46); /* 7 to 21 steps of the smallest float */
    score_rows(m, x, 4, ROUTE, NONE, got);
    ck_assert(fabs(got[1] - want[1]) > 1e-4 && fabs(got[1] - want[1]) < 1);
    with_factor(x, 1e-50); /* underflow to zero */
    score_rows(m, x, 4, ROUTE, NONE, got);
    with_prices(x, 0, 0, 0, 0);
    score_rows(m, x, 4, ROUTE, NONE, want);
    ck_assert_mem_eq(got, want, sizeof got);
    ek_model_free(m);
}
END_TEST

START_TEST(what_cannot_be_scored_is_refused)
{
    struct ek_model *m = model_of(&ALWAYS);
    struct ek_scorer *s;
    struct ek_list q;
    struct ek_error e;
    double scores[4] = {7, 7, 7, 7};
    struct ek_treatment t[K] = {{EK_ACT_REPAIR, 0}, {EK_ACT_NONE, 0}};
    ek_list_init(&q);
    ck_assert_int_eq(ek_scorer_new(&s, m, &e), EK_OK);
    ck_assert_int_eq(ek_list_resize(&q, 2, F + 1, M), EK_OK);
    ck_assert_int_eq(ek_scorer_score(s, &q, NULL, scores, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "list has 4 item and 1 query features, the model 3 and 1");
    ck_assert_int_eq(ek_list_resize(&q, 2, F, M), EK_OK);
    ck_assert_int_eq(ek_scorer_score(s, &q, t, scores, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "'repair' of feature 'price' needs a positive value");
    t[0] = BY_SOURCE;
    ck_assert_int_eq(ek_scorer_score(s, &q, t, scores, &e), EK_ESTATE);
    ck_assert_str_eq(e.message,
                     "'route_per_source' of feature 'price' needs a whole list whose items "
                     "all have a source, of at most 16, and a model of lists");
    ck_assert(scores[0] == 7);
    ck_assert_int_eq(ek_list_resize(&q, 0, F, M), EK_OK);
    ck_assert_int_eq(ek_scorer_score(s, &q, NULL, scores, &e), EK_OK);
    ek_scorer_free(s);
    ek_list_release(&q);
    ek_model_free(m);
}
END_TEST

START_TEST(scores_are_those_of_our_own_golden_files)
{
    static const char *const files[][2] = {
        {"tests/golden/model.safetensors", "tests/golden/scores.json"},
        {"tests/golden/mixture.safetensors", "tests/golden/mixture_scores.json"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct ek_model *m;
        struct ek_error e;
        ck_assert_int_eq(ek_model_load(&m, files[i][0], &e), EK_OK);
        json_t *golden = golden_load(files[i][1]);
        check_scores(m, golden, 1e-5);
        json_decref(golden);
        ek_model_free(m);
    }
}
END_TEST

Suite *suite_scorer(void)
{
    return ek_suite(
        "scorer", scores_are_those_of_the_reference, scores_are_those_of_our_own_golden_files,
        an_alert_scores_as_nothing, rescaling_is_division_before_everything,
        a_spread_ratio_undoes_a_power, a_silenced_feature_has_no_say,
        a_missing_value_is_left_out_of_the_mean, inputs_are_the_transforms_of_the_design,
        a_list_free_model_scores_items_one_by_one,
        an_item_scores_the_same_wherever_it_stands_in_a_long_list,
        sources_that_differ_in_scale_are_centred_each_on_its_own,
        only_what_is_routed_by_source_heeds_the_sources,
        values_beyond_the_range_of_a_float_count_as_missing,
        denormal_values_say_what_their_digits_still_hold, what_cannot_be_scored_is_refused);
}
