/* FDM on features constructed from its definitions, from values and from sketches. */
#include "base/rng.h"
#include "offline/scale/fdm.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 20000 };

/* Classify the same values exactly and from a sketch. */
static void both(const float *x, size_t n, struct ek_fdm *exact, struct ek_fdm *guess)
{
    struct ek_sketch *s;
    struct ek_values v;
    struct ek_error e;
    ck_assert(!ek_values_from_column(&v, x, n, 1, &e));
    ek_fdm(&v, exact);
    ek_values_release(&v);
    ck_assert(!ek_sketch_new(&s));
    for (size_t i = 0; i < n; i++)
        ek_sketch_add(s, x[i], 1);
    ck_assert(!ek_values_from_sketch(&v, s, &e));
    ek_fdm(&v, guess);
    for (size_t i = 1; i < v.entries; i++)
        ck_assert(v.value[i - 1].x <= v.value[i].x);
    ek_values_release(&v);
    ek_sketch_free(s);
}

static void falls_into(const float *x, size_t n, const char *category, const char *scale)
{
    struct ek_fdm f[2];
    both(x, n, &f[0], &f[1]);
    for (int i = 0; i < 2; i++) {
        ck_assert_str_eq(ek_fdm_name(f[i].category), category);
        ck_assert_str_eq(ek_transform_kind_name(f[i].scale), scale);
        ck_assert(f[i].exact == !i);
    }
}

/* Classify integers exactly: for each interval of [0, 100), that many distinct ones. */
static struct ek_fdm of_counts(const int in[10])
{
    float x[200];
    size_t n = 0;
    for (int j = 0; j < 10; j++)
        for (int i = 0; i < in[j]; i++)
            x[n++] = (float)(10 * j) + (float)i / 8;
    x[n++] = 100; /* the end of the range, in the last interval */
    struct ek_values v;
    struct ek_fdm f;
    struct ek_error e;
    ck_assert(!ek_values_from_column(&v, x, n, 1, &e));
    ek_fdm(&v, &f);
    ek_values_release(&v);
    return f;
}

START_TEST(evenly_spread_values_are_c1_and_min_max)
{
    static float x[MOST];
    struct ek_rng r;
    ek_rng_seed(&r, 1);
    for (int i = 0; i < MOST; i++)
        x[i] = (float)(1 + ek_rng_uniform(&r));
    falls_into(x, MOST, "C1", "minmax");
    for (int i = 0; i < MOST; i++) /* of both signs, round zero */
        x[i] = (float)(ek_rng_uniform(&r) - .5);
    falls_into(x, MOST, "C1", "minmax");
}
END_TEST

START_TEST(a_long_tail_upwards_is_c2_and_log)
{
    static float x[MOST];
    struct ek_rng r;
    ek_rng_seed(&r, 2);
    for (int i = 0; i < MOST; i++)
        x[i] = (float)exp(ek_rng_normal(&r));
    falls_into(x, MOST, "C2", "log");
    for (int i = 0; i < MOST; i++) /* counts */
        x[i] = floorf(20 * x[i]);
    falls_into(x, MOST, "C2", "log");
    for (int i = 0; i < MOST; i++) /* prices in cents */
        x[i] = roundf(5 * x[i]) / 100;
    falls_into(x, MOST, "C2", "log");
}
END_TEST

START_TEST(a_long_tail_downwards_is_c3_and_reversed_first)
{
    static float x[MOST];
    struct ek_rng r;
    ek_rng_seed(&r, 3);
    for (int i = 0; i < MOST; i++)
        x[i] = (float)(100 - 3 * exp(ek_rng_normal(&r)));
    falls_into(x, MOST, "C3", "log_reversed");
    for (int i = 0; i < MOST; i++) /* below zero the same */
        x[i] = (float)-exp(ek_rng_normal(&r));
    falls_into(x, MOST, "C3", "log_reversed");
}
END_TEST

START_TEST(fewer_than_three_values_are_c4_however_often_they_come)
{
    static float x[MOST];
    for (int i = 0; i < MOST; i++)
        x[i] = (float)(i % 7 == 0);
    falls_into(x, MOST, "C4", "minmax");
    for (int i = 0; i < MOST; i++)
        x[i] = 17.3F;
    falls_into(x, MOST, "C4", "minmax");
    for (int i = 0; i < MOST; i++)
        x[i] = i % 3 ? NAN : i % 2 ? -4.4F : 1e-5F;
    falls_into(x, MOST, "C4", "minmax");
    falls_into(x, 0, "C4", "minmax");
}
END_TEST

START_TEST(one_crowded_interval_among_others_is_none_of_them)
{
    static float x[MOST];
    struct ek_rng r;
    ek_rng_seed(&r, 4);
    for (int i = 0; i < MOST; i++) /* 30% within the sixth interval */
        x[i] = (float)(i % 10 < 3 ? 1 + .5 + .1 * ek_rng_uniform(&r) : 1 + ek_rng_uniform(&r));
    falls_into(x, MOST, "-", "minmax");
}
END_TEST

START_TEST(values_that_come_often_count_once)
{
    static float x[MOST];
    for (int i = 0; i < MOST; i++) /* nearly all items have 1, values are spread evenly */
        x[i] = i < 100 ? (float)(1 + i % 100) : 1;
    falls_into(x, MOST, "C1", "minmax");
}
END_TEST

START_TEST(exactly_80_percent_is_not_more_than_80_percent)
{
    /* with the end of the range: 80 of 100, then 81 of 101 (80.2%) */
    struct ek_fdm f = of_counts((int[]){40, 10, 10, 10, 10, 19, 0, 0, 0, 0});
    ck_assert_double_eq(f.first, .8);
    ck_assert_str_eq(ek_fdm_name(f.category), "-");
    f = of_counts((int[]){41, 10, 10, 10, 10, 19, 0, 0, 0, 0});
    ck_assert_str_eq(ek_fdm_name(f.category), "C2");
    f = of_counts((int[]){20, 0, 0, 0, 0, 40, 10, 10, 10, 9});
    ck_assert_double_eq(f.last, .8);
    ck_assert_str_eq(ek_fdm_name(f.category), "-");
    f = of_counts((int[]){20, 0, 0, 0, 0, 41, 10, 10, 10, 9});
    ck_assert_str_eq(ek_fdm_name(f.category), "C3");
}
END_TEST

START_TEST(exactly_20_percent_is_not_more_than_20_percent)
{
    struct ek_fdm f = of_counts((int[]){20, 8, 8, 9, 9, 9, 9, 9, 9, 9});
    ck_assert_double_eq(f.most, .2);
    ck_assert_str_eq(ek_fdm_name(f.category), "C1");
    f = of_counts((int[]){21, 8, 8, 9, 9, 9, 9, 9, 9, 8});
    ck_assert_str_eq(ek_fdm_name(f.category), "-");
}
END_TEST

/* The only case in which the order of the tests matters (fdm.h). */
START_TEST(one_half_evenly_filled_is_c2_though_no_interval_has_more_than_20_percent)
{
    struct ek_fdm f = of_counts((int[]){17, 17, 17, 17, 17, 3, 3, 3, 3, 2});
    ck_assert_double_le(f.most, .2);
    ck_assert_str_eq(ek_fdm_name(f.category), "C2");
}
END_TEST

START_TEST(reasons_have_the_figures_and_no_share_is_rounded_onto_its_limit)
{
    char text[160];
    struct ek_fdm f = {.category = EK_FDM_C2, .first = .8004, .unique = 2499, .exact = true};
    ek_fdm_reason(&f, text, sizeof text);
    ck_assert_str_eq(text, "80.04% of 2499 unique values in the first five of ten intervals");
    f = (struct ek_fdm){.category = EK_FDM_C3, .last = .92, .unique = 811.6};
    ek_fdm_reason(&f, text, sizeof text);
    ck_assert_str_eq(text, "92% of about 812 unique values in the last five of ten intervals");
    ek_fdm_brief(&f, text, sizeof text);
    ck_assert_str_eq(text, "92% of ~812 in upper half");
    f = (struct ek_fdm){.category = EK_FDM_C2, .first = .9998, .unique = 8240, .exact = true};
    ek_fdm_brief(&f, text, sizeof text);
    ck_assert_str_eq(text, ">99% of 8240 in lower half");
    f = (struct ek_fdm){.category = EK_FDM_C4, .unique = 1, .exact = true};
    ek_fdm_reason(&f, text, sizeof text);
    ck_assert_str_eq(text, "1 unique value");
    f = (struct ek_fdm){.category = EK_FDM_C1, .most = .2, .unique = 5, .exact = true};
    ek_fdm_reason(&f, text, sizeof text);
    ck_assert_str_eq(text, "at most 20% of 5 unique values in one of ten intervals");
}
END_TEST

START_TEST(a_sketch_of_whole_numbers_gives_them_back)
{
    struct ek_sketch *s;
    struct ek_values v;
    struct ek_error e;
    ck_assert(!ek_sketch_new(&s));
    for (int i = -40; i <= 90; i++)
        ek_sketch_add(s, (float)i, 100);
    ck_assert(!ek_values_from_sketch(&v, s, &e));
    ck_assert_double_eq(v.step, 1);
    ck_assert_double_eq_tol(v.unique, 131, 1e-6);
    ck_assert_uint_eq(v.entries, 131);
    for (int i = 0; i < 131; i++)
        ck_assert_double_eq((double)v.value[i].x, i - 40);
    ek_values_release(&v);
    ek_sketch_free(s);
}
END_TEST

START_TEST(extremes_of_floats_and_what_is_no_number_do_no_harm)
{
    const float x[] = {-INFINITY, -3.4e38F, -1e-45F, 0,        -0.0F,
                       1e-45F,    1e-38F,   3.4e38F, INFINITY, NAN};
    struct ek_fdm f[2];
    both(x, 10, &f[0], &f[1]);
    ck_assert_double_eq(f[0].unique, 6);
    for (int i = 0; i < 2; i++)
        ck_assert(isfinite(f[i].min) && isfinite(f[i].max) && isfinite(f[i].first + f[i].last));
}
END_TEST

Suite *suite_fdm(void)
{
    return ek_suite(
        "fdm", evenly_spread_values_are_c1_and_min_max, a_long_tail_upwards_is_c2_and_log,
        a_long_tail_downwards_is_c3_and_reversed_first,
        fewer_than_three_values_are_c4_however_often_they_come,
        one_crowded_interval_among_others_is_none_of_them, values_that_come_often_count_once,
        exactly_80_percent_is_not_more_than_80_percent,
        exactly_20_percent_is_not_more_than_20_percent,
        one_half_evenly_filled_is_c2_though_no_interval_has_more_than_20_percent,
        reasons_have_the_figures_and_no_share_is_rounded_onto_its_limit,
        a_sketch_of_whole_numbers_gives_them_back,
        extremes_of_floats_and_what_is_no_number_do_no_harm);
}
