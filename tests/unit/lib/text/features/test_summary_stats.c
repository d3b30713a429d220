/* Sums, quartiles and means against known values, and against sorting. */
#include "tests/check.h"
#include "text/features/summary_stats.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(a_spread_is_that_of_its_numbers)
{
    const double x[] = {3, 1, 4, 1, 5};
    struct ek_summary_stats s = ek_summary_stats_compute(x, 5);
    ck_assert_double_eq(s.sum, 14);
    ck_assert_double_eq(s.min, 1);
    ck_assert_double_eq(s.max, 5);
    ck_assert_double_eq_tol(s.mean, 2.8, 1e-15);
    ck_assert_double_eq_tol(s.variance, 2.56, 1e-12);
}
END_TEST

START_TEST(nothing_has_no_spread)
{
    double none[1] = {0};
    struct ek_summary_stats s = ek_summary_stats_compute(none, 0);
    struct ek_quartiles q = ek_quartiles_compute(none, 0);
    ck_assert(isnan(s.sum) && isnan(s.min) && isnan(s.max) && isnan(s.mean) && isnan(s.variance));
    ck_assert(isnan(q.q1) && isnan(q.median) && isnan(q.q3));
    ck_assert(isnan(ek_harmonic_mean(none, 0)) && isnan(ek_geometric_mean(none, 0)));
}
END_TEST

/* numpy.percentile([1, 2, 3, 4], [25, 50, 75]) is 1.75, 2.5, 3.25. */
START_TEST(quartiles_lie_between_numbers)
{
    double x[] = {4, 1, 3, 2};
    struct ek_quartiles q = ek_quartiles_compute(x, 4);
    ck_assert_double_eq(q.q1, 1.75);
    ck_assert_double_eq(q.median, 2.5);
    ck_assert_double_eq(q.q3, 3.25);
}
END_TEST

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_quantile(const double *x, size_t n, double share)
{
    double place = share * (double)(n - 1);
    size_t k = (size_t)place;
    return k + 1 < n ? x[k] + (place - (double)k) * (x[k + 1] - x[k]) : x[k];
}

START_TEST(quartiles_are_those_of_the_sorted_numbers)
{
    struct ek_rng r;
    ek_rng_seed(&r, 5);
    for (int round = 0; round < 3000; round++) {
        double x[60], sorted[60];
        size_t n = 1 + (size_t)ek_rng_uniform_int(&r, 60), kinds = 1 + ek_rng_uniform_int(&r, 70);
        for (size_t i = 0; i < n; i++)
            sorted[i] = x[i] = (double)ek_rng_uniform_int(&r, kinds);
        qsort(sorted, n, sizeof *sorted, by_value);
        if (round % 3 == 1)
            memcpy(x, sorted, sizeof x);
        struct ek_quartiles q = ek_quartiles_compute(x, n);
        ck_assert_double_eq(q.q1, sorted_quantile(sorted, n, 0.25));
        ck_assert_double_eq(q.median, sorted_quantile(sorted, n, 0.5));
        ck_assert_double_eq(q.q3, sorted_quantile(sorted, n, 0.75));
    }
}
END_TEST

START_TEST(means_of_other_kinds_need_one_sign)
{
    const double good[] = {1, 2, 4}, negative[] = {-1, -2, -4}, mixed[] = {1, -2}, zero[] = {1, 0};
    ck_assert_double_eq_tol(ek_harmonic_mean(good, 3), 3 / 1.75, 1e-15);
    ck_assert_double_eq_tol(ek_geometric_mean(good, 3), 2, 1e-15);
    ck_assert_double_eq_tol(ek_harmonic_mean(negative, 3), -3 / 1.75, 1e-15);
    ck_assert(isnan(ek_geometric_mean(negative, 3)));
    ck_assert(isnan(ek_harmonic_mean(mixed, 2)) && isnan(ek_harmonic_mean(zero, 2)));
    ck_assert(isnan(ek_geometric_mean(zero, 2)));
}
END_TEST

Suite *suite_summary_stats(void)
{
    return ek_suite("spread", a_spread_is_that_of_its_numbers, nothing_has_no_spread,
                    quartiles_lie_between_numbers, quartiles_are_those_of_the_sorted_numbers,
                    means_of_other_kinds_need_one_sign);
}
