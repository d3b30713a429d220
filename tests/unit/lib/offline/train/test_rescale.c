/* Division by an estimated factor, and imputation of a constant. */
#include "offline/train/rescale.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

/* Four lists of two items, with two features. */
static float X[16];
static size_t OFFSET[] = {0, 2, 4, 6, 8};

static struct ek_dataset lists(const float *feature)
{
    for (int i = 0; i < 8; i++) {
        X[2 * i] = feature[i];
        X[2 * i + 1] = -1;
    }
    return (struct ek_dataset){
        .lists = 4, .items = 8, .item_features = 2, .offset = OFFSET, .x = X};
}

START_TEST(the_median_of_logs_is_over_what_is_finite_and_not_zero)
{
    struct ek_dataset d = lists((const float[]){0, NAN, -1, 10, 1000, INFINITY, 100, 0});
    double median;
    ck_assert_int_eq(ek_ln_median(&d, 0, &median, NULL), EK_OK);
    ck_assert_double_eq_tol(median, 1.5 * log(10), 1e-12);
    d = lists((const float[]){0, 0, 0, 0, NAN, NAN, NAN, 0});
    ck_assert_int_eq(ek_ln_median(&d, 0, &median, NULL), EK_OK);
    ck_assert(isnan(median));
}
END_TEST

START_TEST(one_factor_takes_the_median_back)
{
    double factor;
    struct ek_dataset d = lists((const float[]){100, 200, 0, -400, 300, NAN, 500, 600});
    ck_assert_int_eq(ek_rescale_fit(&d, 0, log(7), NULL, 1, &factor, NULL), EK_OK);
    double median = sqrt(300.0 * 400);
    ck_assert_double_eq_tol(factor, median / 7, 1e-6);
    ck_assert_float_eq_tol(X[0], (float)(700 / median), 1e-5F);
    ck_assert_float_eq(X[4], 0);
    ck_assert_float_eq_tol(X[6], (float)(-2800 / median), 1e-5F);
    ck_assert_float_nan(X[10]);
    for (int i = 0; i < 8; i++)
        ck_assert_float_eq(X[2 * i + 1], -1);
}
END_TEST

START_TEST(each_arm_has_a_factor_of_its_own)
{
    static const int arm[] = {0, 2, 0, 2};
    double factor[3];
    struct ek_dataset d = lists((const float[]){1, 3, 100, 300, 1, 3, 100, 300});
    ck_assert_int_eq(ek_rescale_fit(&d, 0, log(sqrt(3)), arm, 3, factor, NULL), EK_OK);
    ck_assert_double_eq_tol(factor[0], 1, 1e-12);
    ck_assert_double_eq(factor[1], 1);
    ck_assert_double_eq_tol(factor[2], 100, 1e-9);
    for (int i = 0; i < 8; i++)
        ck_assert_float_eq_tol(X[2 * i], i % 2 ? 3 : 1, 1e-5F);
}
END_TEST

START_TEST(a_reference_without_values_divides_nothing)
{
    double factor;
    struct ek_dataset d = lists((const float[]){1, 3, 1, 3, 1, 3, 1, 3});
    ck_assert_int_eq(ek_rescale_fit(&d, 0, NAN, NULL, 1, &factor, NULL), EK_OK);
    ck_assert_double_eq(factor, 1);
    ck_assert_float_eq(X[2], 3);
}
END_TEST

START_TEST(filling_takes_missing_values_too)
{
    struct ek_dataset d = lists((const float[]){1, NAN, 3, 4, 5, 6, 7, 8});
    ek_impute(&d, 0, 2.5F);
    for (int i = 0; i < 8; i++) {
        ck_assert_float_eq(X[2 * i], 2.5F);
        ck_assert_float_eq(X[2 * i + 1], -1);
    }
}
END_TEST

Suite *suite_rescale(void)
{
    return ek_suite("repair", the_median_of_logs_is_over_what_is_finite_and_not_zero,
                    one_factor_takes_the_median_back, each_arm_has_a_factor_of_its_own,
                    a_reference_without_values_divides_nothing, filling_takes_missing_values_too);
}
