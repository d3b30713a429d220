/* Single linkage, against trees worked out by hand. */
#include "tests/check.h"

#include "offline/select/greedy_select.h"

#include <math.h>

/* Points on a line at 0, 1, 3, 7, 7.5: distances are differences. */
static void line(const double *at, int n, double *distance)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            distance[i * n + j] = fabs(at[i] - at[j]);
}

START_TEST(nearest_merge_first)
{
    double at[] = {0, 1, 3, 7, 7.5}, distance[25];
    struct ek_merge m[4];
    struct ek_error e;
    line(at, 5, distance);
    ck_assert_int_eq(ek_single_linkage(distance, 5, m, &e), EK_OK);
    int a[] = {3, 0, 2, 5}, b[] = {4, 1, 6, 7}, size[] = {2, 2, 3, 5};
    double far[] = {.5, 1, 2, 4};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(m[i].a, a[i]);
        ck_assert_int_eq(m[i].b, b[i]);
        ck_assert_int_eq(m[i].size, size[i]);
        ck_assert_double_eq(m[i].distance, far[i]);
    }
}
END_TEST

START_TEST(a_cut_gives_as_many_clusters_as_asked)
{
    double at[] = {7, 0, 7.5, 1, 3}, distance[25];
    struct ek_merge m[4];
    struct ek_error e;
    int of[5], two[] = {0, 1, 0, 1, 1}, three[] = {0, 1, 0, 1, 2};
    line(at, 5, distance);
    ck_assert_int_eq(ek_single_linkage(distance, 5, m, &e), EK_OK);
    ck_assert_int_eq(ek_linkage_cut(m, 5, 2, of, &e), EK_OK);
    ck_assert_mem_eq(of, two, sizeof of);
    ck_assert_int_eq(ek_linkage_cut(m, 5, 3, of, &e), EK_OK);
    ck_assert_mem_eq(of, three, sizeof of);
    ck_assert_int_eq(ek_linkage_cut(m, 5, 5, of, &e), EK_OK);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(of[i], i);
}
END_TEST

START_TEST(one_thing_is_one_cluster_and_nan_is_far)
{
    double alone = 0, distance[] = {0, NAN, 1, NAN, 0, NAN, 1, NAN, 0};
    struct ek_merge m[2];
    struct ek_error e;
    int of[3];
    ck_assert_int_eq(ek_single_linkage(&alone, 1, m, &e), EK_OK);
    ck_assert_int_eq(ek_linkage_cut(m, 1, 1, of, &e), EK_OK);
    ck_assert_int_eq(of[0], 0);
    ck_assert_int_eq(ek_single_linkage(distance, 3, m, &e), EK_OK);
    ck_assert_int_eq(m[0].b, 2);
    ck_assert(isinf(m[1].distance));
}
END_TEST

Suite *suite_linkage(void)
{
    return ek_suite("linkage", nearest_merge_first, a_cut_gives_as_many_clusters_as_asked,
                    one_thing_is_one_cluster_and_nan_is_far);
}
