/* Detection of duplicate features. */
#include "tests/check.h"

#include "base/rng.h"
#include "offline/select/nfs.h"

#include <math.h>
#include <string.h>

enum { F = 8, ITEMS = 500 };

/* 0 has ties and missing values, 1 to 3 and 6 derive from it, 4 nearly; 5 is noise; 7 constant. */
static void draw(struct ek_dataset *d)
{
    struct ek_rng r;
    struct ek_list q;
    struct ek_error e;
    ek_rng_seed(&r, 1);
    ek_list_init(&q);
    ck_assert_int_eq(ek_list_resize(&q, ITEMS, F, 0), EK_OK);
    for (int i = 0; i < ITEMS; i++) {
        float *x = q.x + i * F, v = (float)(1 + ek_rng_uniform_int(&r, 200));
        x[0] = ek_rng_uniform_int(&r, 10) ? v : NAN;
        x[1] = 100 * x[0];
        x[2] = logf(x[0]);
        x[3] = -x[0];
        x[4] = i == 7 ? 1000 : x[0];
        x[5] = (float)ek_rng_normal(&r);
        x[6] = isnan(x[0]) ? INFINITY : 1 / x[0];
        x[7] = 3;
    }
    ek_dataset_init(d, F, 0);
    ck_assert_int_eq(ek_dataset_add(d, &q, &e), EK_OK);
    ek_list_release(&q);
}

START_TEST(other_units_logarithms_and_signs_are_copies)
{
    struct ek_dataset d;
    struct ek_error e;
    int copy_of[F], expected[F] = {-1, 0, 0, 0, -1, -1, 0, -1};
    draw(&d);
    ck_assert_int_eq(ek_nfs_duplicates(&d, copy_of, &e), EK_OK);
    ck_assert_mem_eq(copy_of, expected, sizeof copy_of);
    ek_dataset_release(&d);
}
END_TEST

START_TEST(a_value_that_is_missing_elsewhere_makes_no_copy)
{
    struct ek_dataset d;
    struct ek_error e;
    int copy_of[F];
    draw(&d);
    d.x[3 * F + 1] = isnan(d.x[3 * F]) ? 1 : NAN;
    ck_assert_int_eq(ek_nfs_duplicates(&d, copy_of, &e), EK_OK);
    ck_assert_int_eq(copy_of[1], -1);
    ck_assert_int_eq(copy_of[2], 0);
    ek_dataset_release(&d);
}
END_TEST

START_TEST(features_that_never_vary_are_no_copies_of_each_other)
{
    struct ek_dataset d;
    struct ek_error e;
    int copy_of[F];
    draw(&d);
    for (size_t i = 0; i < ITEMS; i++)
        d.x[i * F + 5] = d.x[i * F + 6] = NAN;
    ck_assert_int_eq(ek_nfs_duplicates(&d, copy_of, &e), EK_OK);
    for (int f = 5; f < F; f++)
        ck_assert_int_eq(copy_of[f], -1);
    ek_dataset_release(&d);
}
END_TEST

Suite *suite_nfs_duplicates(void)
{
    return ek_suite("nfs_copies", other_units_logarithms_and_signs_are_copies,
                    a_value_that_is_missing_elsewhere_makes_no_copy,
                    features_that_never_vary_are_no_copies_of_each_other);
}
