/* Scalings: their definitions and degenerate cases. */
#include "offline/scale/scaling.h"
#include "tests/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double NEAR = 1e-12;

static struct ek_scaling *fit(enum ek_transform_kind scale, const float *x, size_t n)
{
    struct ek_scaling *s;
    struct ek_values v;
    struct ek_error e;
    ck_assert(!ek_scaling_new(&s, 1, &e));
    ck_assert(!ek_values_from_column(&v, x, n, 1, &e));
    ck_assert(!ek_scaling_fit(s, 0, scale, &v, &e));
    ek_values_release(&v);
    return s;
}

static double once(enum ek_transform_kind scale, const float *train, size_t n, double x)
{
    struct ek_scaling *s = fit(scale, train, n);
    double y = ek_scaling_value(s, 0, 0, x);
    ek_scaling_free(s);
    return y;
}

static const float FIVE[] = {2, 4, 4, 6, 14}; /* mean 6, population sd sqrt(88 / 5) */

START_TEST(each_scaling_is_its_formula)
{
    const struct {
        enum ek_transform_kind scale;
        double x, y;
    } want[] = {
        {EK_SCALE_MINMAX, 5, .25},
        {EK_SCALE_LOG, 5, log(4) / log(13)},
        {EK_SCALE_LOG_REVERSED, 5, log(10) / log(13)},
        {EK_SCALE_ARCTAN, 3, .5},
        {EK_SCALE_ZSCORE, 5, -1 / sqrt(88.0 / 5)},
        {EK_SCALE_CDF, 4, .2},
        {EK_SCALE_CDF, 5, .6},
        {EK_SCALE_CDF, 14, .8},
        {EK_SCALE_LOG1P, 5, log(6)},
        {EK_SCALE_LOG1P, -5, -log(6)},
        {EK_SCALE_NONE, 5, 5},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        ck_assert_double_eq_tol(once(want[i].scale, FIVE, 5, want[i].x), want[i].y, NEAR);
}
END_TEST

START_TEST(training_ends_become_nought_and_one)
{
    for (enum ek_transform_kind s = EK_SCALE_MINMAX; s <= EK_SCALE_LOG_REVERSED; s++) {
        double at_min = s == EK_SCALE_LOG_REVERSED;
        ck_assert_double_eq_tol(once(s, FIVE, 5, 2), at_min, NEAR);
        ck_assert_double_eq_tol(once(s, FIVE, 5, 14), 1 - at_min, NEAR);
    }
}
END_TEST

START_TEST(beyond_the_training_range_scalings_go_on_and_stay_numbers)
{
    ck_assert_double_eq_tol(once(EK_SCALE_MINMAX, FIVE, 5, -10), -1, NEAR);
    ck_assert_double_eq_tol(once(EK_SCALE_LOG, FIVE, 5, -10), -1, NEAR);
    ck_assert_double_eq_tol(once(EK_SCALE_LOG_REVERSED, FIVE, 5, 26), -1, NEAR);
    ck_assert_double_eq(once(EK_SCALE_CDF, FIVE, 5, 1), 0);
    ck_assert_double_eq(once(EK_SCALE_CDF, FIVE, 5, 15), 1);
    for (enum ek_transform_kind s = EK_SCALE_MINMAX; s < EK_SCALE_MERGE; s++) {
        double low = once(s, FIVE, 5, -FLT_MAX), high = once(s, FIVE, 5, FLT_MAX);
        ck_assert_msg(isfinite(low) && isfinite(high), "%s", ek_transform_kind_name(s));
        ck_assert(s == EK_SCALE_LOG_REVERSED ? low > high : low < high);
    }
}
END_TEST

START_TEST(a_constant_feature_becomes_nought_wherever_it_moves_to)
{
    const float same[] = {7, 7, NAN, 7};
    static const enum ek_transform_kind scales[] = {EK_SCALE_MINMAX, EK_SCALE_LOG,
                                                    EK_SCALE_LOG_REVERSED, EK_SCALE_ZSCORE};
    for (size_t i = 0; i < 4; i++)
        for (double x = 6; x < 9; x++)
            ck_assert_double_eq(once(scales[i], same, 4, x), 0);
    ck_assert_double_eq(once(EK_SCALE_CDF, same, 4, 7), 0);
    ck_assert_double_eq(once(EK_SCALE_CDF, same, 4, 8), 1);
}
END_TEST

START_TEST(a_feature_without_values_has_scalings_all_the_same)
{
    const float none[] = {NAN, NAN, INFINITY};
    for (enum ek_transform_kind s = EK_SCALE_MINMAX; s < EK_SCALE_LOG1P; s++)
        ck_assert_double_eq(once(s, none, 3, 3), 0);
    ck_assert_double_eq(once(EK_SCALE_CDF, none, 0, 3), 0);
}
END_TEST

START_TEST(missing_values_are_left_out_of_fits_and_become_what_was_asked)
{
    const float with[] = {NAN, 2, 4, INFINITY, 4, 6, -INFINITY, 14};
    struct ek_scaling *s = fit(EK_SCALE_ZSCORE, with, 8);
    float y[8];
    ck_assert_double_eq_tol(ek_scaling_value(s, 0, 0, 6), 0, NEAR);
    ek_scaling_apply(s, with, 8, -3, y);
    ck_assert(y[0] == -3 && y[3] == -3 && y[6] == -3);
    ck_assert(y[5] == 0 && y[7] > 0);
    ek_scaling_apply(s, with, 8, NAN, y);
    ck_assert(isnan(y[0]) && isnan(y[3]));
    ek_scaling_free(s);
}
END_TEST

START_TEST(merge_makes_three_columns_and_leaves_the_others_where_they_belong)
{
    const float x[] = {2, 2, 8, 4, 14, 6}; /* rows of two features */
    struct ek_dataset d = {.items = 3, .item_features = 2, .x = (float *)(uintptr_t)x};
    const enum ek_transform_kind scale[] = {EK_SCALE_MERGE, EK_SCALE_MINMAX};
    struct ek_scaling *s;
    struct ek_error e;
    float y[12];
    ck_assert(!ek_scaling_get(&s, &d, scale, &e));
    ck_assert_uint_eq(ek_scaling_columns(s), 4);
    ek_scaling_apply(s, x, 3, 0, y);
    const double want[] = {.5, log(7) / log(13), 2 / acos(-1) * atan(6), .5};
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol((double)y[4 + i], want[i], 1e-7);
    ck_assert(ek_scaling_part(EK_SCALE_MERGE, 1) == EK_SCALE_LOG);
    ek_scaling_free(s);
}
END_TEST

/* More distinct values than are kept: n of them, rarer with larger n. */
START_TEST(the_share_below_is_near_where_values_are_too_many_to_keep)
{
    enum { N = 50000 };
    float *x = calloc(N, sizeof *x);
    ck_assert_ptr_nonnull(x);
    for (int i = 0; i < N; i++)
        x[i] = (float)exp(i * 8.0 / N);
    struct ek_scaling *s = fit(EK_SCALE_CDF, x, N);
    double worst = 0, last = 0;
    for (int i = 0; i < N; i++) {
        double y = ek_scaling_value(s, 0, 0, (double)x[i]);
        worst = fmax(worst, fabs(y - (double)i / N));
        ck_assert_double_ge(y, last);
        last = y;
    }
    ck_assert_double_le(worst, 1.0 / EK_SCALING_KNOTS);
    ek_scaling_free(s);
    free(x);
}
END_TEST

START_TEST(values_are_sorted_counted_and_told_apart)
{
    const float x[] = {3, -2, 0, 3, -0.0F, NAN, -2, -INFINITY, 1e-40F, 3};
    struct ek_values v;
    struct ek_error e;
    ck_assert(!ek_values_from_column(&v, x, 10, 1, &e));
    ck_assert_uint_eq(v.entries, 4);
    ck_assert_double_eq(v.unique, 4);
    ck_assert_uint_eq(v.missing, 2);
    const double at[] = {-2, 0, (double)1e-40F, 3}, n[] = {2, 2, 1, 3};
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq((double)v.value[i].x, at[i]);
        ck_assert_double_eq(v.value[i].count, n[i]);
    }
    ek_values_release(&v);
}
END_TEST

/* Feature 0 is useful only through its logarithm: large raw values mask the order of small ones.
 * Feature 1 works as well with min-max. */
static void fill_list(struct ek_dataset *d, size_t list)
{
    for (size_t i = d->offset[list]; i < d->offset[list + 1]; i++) {
        double t = (double)(i * 7919 % 101) / 100, u = (double)(i * 104729 % 97) / 96;
        d->x[2 * i] = (float)exp(12 * t);
        d->x[2 * i + 1] = (float)u;
        d->label[i] = t + u > 1;
    }
}

enum { OSM_LISTS = 40, OSM_EACH = 10, OSM_ITEMS = OSM_LISTS * OSM_EACH };

/* The labels follow the logarithm of the first of two features. */
static struct ek_dataset logarithm_helps(void)
{
    static float x[OSM_ITEMS * 2], label[OSM_ITEMS];
    static size_t offset[OSM_LISTS + 1];
    struct ek_dataset d = {.lists = OSM_LISTS,
                           .items = OSM_ITEMS,
                           .item_features = 2,
                           .offset = offset,
                           .x = x,
                           .label = label};
    for (size_t i = 0; i <= OSM_LISTS; i++)
        offset[i] = i * OSM_EACH;
    for (size_t i = 0; i < OSM_LISTS; i++)
        fill_list(&d, i);
    return d;
}

START_TEST(osm_switches_the_feature_that_a_logarithm_helps_and_no_other)
{
    struct ek_dataset d = logarithm_helps();
    struct ek_osm_options o;
    enum ek_transform_kind scale[2];
    double map[3];
    struct ek_error e;
    ek_osm_defaults(&o);
    o.svm.c = 100;
    int rc = ek_osm(&d, &d, &o, scale, map, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert_str_eq(ek_transform_kind_name(scale[0]), "log");
    ck_assert_str_eq(ek_transform_kind_name(scale[1]), "minmax");
    ck_assert_double_gt(map[0], map[2]);
    ck_assert_double_le(map[1], map[0]);
}
END_TEST

static int count_trainings(void *context, int done, int of, double map)
{
    int *trainings = context;
    (void)map;
    *trainings = done;
    ck_assert_int_le(done, of);
    return 0;
}

START_TEST(what_is_not_scaled_is_dropped_for_a_linear_ranker)
{
    enum ek_transform_kind scale[3] = {EK_SCALE_MERGE, EK_SCALE_NONE, EK_SCALE_MINMAX};
    float x[6] = {1, 1e6f, 3, 2, 2e6f, 5}, y[10];
    size_t offset[2] = {0, 2};
    struct ek_dataset d = {.lists = 1, .items = 2, .item_features = 3, .offset = offset, .x = x};
    struct ek_scaling *s;
    struct ek_error e;
    ck_assert_int_eq(ek_scaling_get(&s, &d, scale, &e), EK_OK);
    ck_assert_uint_eq(ek_scaling_columns(s), 5);
    ek_scaling_apply(s, x, 2, 0, y);
    ck_assert_float_eq(y[3], 1e6f);
    ek_scaling_clear_unscaled(s, scale, 3, 2, y);
    ck_assert(y[3] == 0 && y[8] == 0);
    ck_assert(y[5] == 1 && y[9] == 1);
    ek_scaling_free(s);
}
END_TEST

START_TEST(a_category_keeps_its_values_whatever_the_method)
{
    static const bool category[2] = {false, true};
    struct ek_dataset d = logarithm_helps();
    struct ek_osm_options o;
    enum ek_transform_kind scale[2];
    struct ek_error e;
    double map[3];
    int trainings = 0;
    ek_osm_defaults(&o);
    o.category = category;
    o.progress = count_trainings;
    o.context = &trainings;
    for (int m = 0; m < EK_METHOD_COUNT; m++) {
        scale[1] = EK_SCALE_MERGE;
        int rc = ek_method_scales((enum ek_method)m, &d, &d, &o, scale, &e);
        ck_assert_msg(!rc, "%s", e.message);
        ck_assert_int_eq(scale[1], EK_SCALE_NONE);
        ck_assert_int_ne(scale[0], EK_SCALE_NONE);
    }
    ck_assert_int_eq(ek_osm(&d, &d, &o, scale, map, &e), EK_OK);
    ck_assert_int_eq(trainings, 2);
    ck_assert_double_eq(map[1], fmax(map[0], map[2]));
}
END_TEST

Suite *suite_scaling(void)
{
    return ek_suite("scaling", each_scaling_is_its_formula, training_ends_become_nought_and_one,
                    beyond_the_training_range_scalings_go_on_and_stay_numbers,
                    a_constant_feature_becomes_nought_wherever_it_moves_to,
                    a_feature_without_values_has_scalings_all_the_same,
                    missing_values_are_left_out_of_fits_and_become_what_was_asked,
                    merge_makes_three_columns_and_leaves_the_others_where_they_belong,
                    the_share_below_is_near_where_values_are_too_many_to_keep,
                    values_are_sorted_counted_and_told_apart,
                    osm_switches_the_feature_that_a_logarithm_helps_and_no_other,
                    what_is_not_scaled_is_dropped_for_a_linear_ranker,
                    a_category_keeps_its_values_whatever_the_method);
}
