/* Transforms of item features: their statistics, their values, and routing under each. */
#include "offline/train/evaluate.h"
#include "score/scorer.h"
#include "score/transform.h"
#include "tests/check.h"

#include "base/rng.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: stars, index: 2, role: item}\n"
                               "  - {name: wifi, index: 3, role: item, routable: true}\n"
                               "  - {name: nights, index: 4, role: query}\n";
enum { F = 3, M = 1, K = 2, ITEMS = 256 };

/* price: 1 to 256, each once; stars: 0 or 3, alternately twice the one and twice the other; wifi:
 * 5. */
static void fill_data(struct ek_dataset *d)
{
    struct ek_list q;
    struct ek_error e;
    ek_dataset_init(d, F, M);
    ek_list_init(&q);
    for (int i = 0; i < ITEMS; i += 4) {
        ck_assert_int_eq(ek_list_resize(&q, 4, F, M), EK_OK);
        q.query[0] = (float)i;
        for (int j = 0; j < 4; j++) {
            q.x[j * F] = (float)(i + j + 1);
            q.x[j * F + 1] = j < 2 ? 0 : 3;
            q.x[j * F + 2] = 5;
        }
        ck_assert_int_eq(ek_dataset_add(d, &q, &e), EK_OK);
    }
    ek_list_release(&q);
}

static struct ek_model *model_of(enum ek_transform transform)
{
    const struct ek_model_shape shape = {1, {6}, 1, true, false, EK_LOG_ALWAYS, transform};
    struct ek_manifest *f;
    struct ek_model *m;
    struct ek_dataset d;
    struct ek_rng r;
    struct ek_error e;
    ek_rng_seed(&r, 4);
    ck_assert_int_eq(ek_manifest_parse(&f, "m", MANIFEST, strlen(MANIFEST), &e), EK_OK);
    ck_assert_int_eq(ek_model_new(&m, f, &shape, &e), EK_OK);
    fill_data(&d);
    ck_assert_int_eq(ek_statistics_fit(m, &d, &e), EK_OK);
    for (int i = 0; i < 6 * m->deep_inputs; i++)
        m->weight[0][i] = (float)(0.1 * ek_rng_normal(&r));
    for (int i = 0; i < 6; i++)
        m->weight[1][i] = (float)ek_rng_normal(&r);
    for (int i = 0; i < 2 * K; i++)
        m->slope[i] = m->zero[i] = 0.5f;
    for (int i = 0; m->mixture && i < F * EK_TRANSFORM_PARTS; i++)
        m->mixture[i] = 0.25f;
    ek_dataset_release(&d);
    ek_manifest_free(f);
    return m;
}

static void values_of(const struct ek_model *m, const float *x, float *y)
{
    struct ek_transformer t;
    ck_assert_int_eq(ek_transformer_init(&t, m), EK_OK);
    ek_transform(&t, x, 1, y, F);
    ek_transformer_release(&t);
}

START_TEST(raw_and_standardised_values_are_what_they_say)
{
    struct ek_model *raw = model_of(EK_TRANSFORM_RAW), *z = model_of(EK_TRANSFORM_ZSCORE);
    const float x[F] = {-200.5f, 3, 6};
    float y[F];
    values_of(raw, x, y);
    ck_assert(y[0] == -200.5f && y[1] == 3 && y[2] == 6);
    values_of(z, x, y);
    ck_assert_float_eq_tol(y[0], (float)((-200.5 - 128.5) / sqrt((256.0 * 256 - 1) / 12)), 1e-5f);
    ck_assert_float_eq_tol(y[1], 1, 1e-6f);
    ck_assert(y[2] == 1); /* of a constant feature: the plain difference */
    ek_model_free(raw);
    ek_model_free(z);
}
END_TEST

START_TEST(cdf_is_the_share_of_training_values_strictly_below)
{
    struct ek_model *m = model_of(EK_TRANSFORM_CDF);
    float y[F];
    for (int i = 1; i <= ITEMS; i++) {
        values_of(m, (const float[F]){(float)i, i % 2 ? 0 : 3, 5}, y);
        ck_assert_float_eq_tol(y[0], (float)(i - 1) / (ITEMS - 1), 1e-6f);
        ck_assert_float_eq_tol(y[1], i % 2 ? 0 : 128.0f / 255, 1e-6f);
        ck_assert(y[2] == 0);
    }
    values_of(m, (const float[F]){2.25f, 1.5f, 6}, y);
    ck_assert_float_eq_tol(y[0], 1.25f / 255, 1e-6f);
    ck_assert_float_eq_tol(y[1], 127.5f / 255, 1e-6f);
    ck_assert(y[2] == 1);
    values_of(m, (const float[F]){-1e30f, 1e30f, -5}, y);
    ck_assert(y[0] == 0 && y[1] == 1 && y[2] == 0);
    ek_model_free(m);
}
END_TEST

START_TEST(a_mixture_is_the_weighted_sum_of_the_others)
{
    static const enum ek_transform OF_PART[] = {EK_TRANSFORM_RAW, EK_TRANSFORM_ZSCORE,
                                                EK_TRANSFORM_CDF, EK_TRANSFORM_LOG1P};
    struct ek_model *m = model_of(EK_TRANSFORM_MIXTURE);
    const float x[F] = {17.5f, 1, -2};
    float all[F], one[F];
    double sum[F] = {0};
    for (int i = 0; i < EK_TRANSFORM_PARTS; i++) {
        struct ek_model *single = model_of(OF_PART[i]);
        values_of(single, x, one);
        for (int f = 0; f < F; f++) {
            m->mixture[f * EK_TRANSFORM_PARTS + i] = 0.125f * (float)(1 + i) * (float)(f + 1);
            sum[f] += (double)one[f] * 0.125 * (1 + i) * (f + 1);
        }
        ek_model_free(single);
    }
    values_of(m, x, all);
    for (int f = 0; f < F; f++)
        ck_assert_float_eq_tol(all[f], (float)sum[f], 1e-5f);
    ek_model_free(m);
}
END_TEST

START_TEST(missing_values_give_0_and_huge_ones_stay_finite)
{
    for (int t = 0; t <= EK_TRANSFORM_MIXTURE; t++) {
        struct ek_model *m = model_of((enum ek_transform)t);
        float y[F];
        values_of(m, (const float[F]){NAN, INFINITY, -INFINITY}, y);
        ck_assert(y[0] == 0 && y[1] == 0 && y[2] == 0);
        values_of(m, (const float[F]){FLT_MAX, -FLT_MAX, 3e38f}, y);
        for (int f = 0; f < F; f++)
            ck_assert(isfinite(y[f]) && fabsf(y[f]) <= 1.01e18f);
        ek_model_free(m);
    }
}
END_TEST

static void score(const struct ek_model *m, const float *x, enum ek_action price, double *scores)
{
    struct ek_scorer *s;
    struct ek_list q;
    struct ek_error e;
    const struct ek_treatment t[K] = {{price, 0}, {EK_ACT_NONE, 0}};
    ek_list_init(&q);
    ck_assert_int_eq(ek_list_resize(&q, 2, F, M), EK_OK);
    memcpy(q.x, x, 2 * F * sizeof *x);
    q.query[0] = 3;
    ck_assert_int_eq(ek_scorer_new(&s, m, &e), EK_OK);
    ck_assert_int_eq(ek_scorer_score(s, &q, t, scores, &e), EK_OK);
    ek_scorer_free(s);
    ek_list_release(&q);
}

START_TEST(a_factor_on_a_routed_feature_does_nothing_under_any_transform)
{
    static const float clean[2 * F] = {30, 3, 5, 90, 0, 4};
    static const float faulty[2 * F] = {30 * 64, 3, 5, 90 * 64, 0, 4};
    for (int t = 0; t <= EK_TRANSFORM_MIXTURE; t++) {
        struct ek_model *m = model_of((enum ek_transform)t);
        double a[2], b[2];
        score(m, clean, EK_ACT_ROUTE, a);
        score(m, faulty, EK_ACT_ROUTE, b);
        ck_assert_double_eq_tol(a[0], b[0], 1e-6);
        ck_assert_double_eq_tol(a[1], b[1], 1e-6);
        score(m, clean, EK_ACT_NONE, a);
        score(m, faulty, EK_ACT_NONE, b);
        ck_assert_msg(fabs(a[0] - b[0]) > 1e-3, "%s", ek_transform_name((enum ek_transform)t));
        ek_model_free(m);
    }
}
END_TEST

Suite *suite_transform(void)
{
    return ek_suite("transform", raw_and_standardised_values_are_what_they_say,
                    cdf_is_the_share_of_training_values_strictly_below,
                    a_mixture_is_the_weighted_sum_of_the_others,
                    missing_values_give_0_and_huge_ones_stay_finite,
                    a_factor_on_a_routed_feature_does_nothing_under_any_transform);
}
