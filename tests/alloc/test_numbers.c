/* Allocation failures while sketches, sums and layers are created. Their large tables are mapped,
 * not allocated, and so are outside the sweep. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "num/dense.h"
#include "num/list_moments.h"
#include "num/sketch.h"
#include "num/windows.h"

static int use_sketches(struct ek_error *e)
{
    static const float row[20] = {1, 2, 3};
    struct ek_sketch_set *set = NULL;
    struct ek_sketch *one = NULL;
    struct ek_buf bytes;
    ek_buf_init(&bytes, 0);
    int rc = ek_sketch_set_new(&set, 20, e);
    if (!rc && ek_sketch_new(&one))
        rc = ek_fail(e, EK_ENOMEM, "no memory for a sketch");
    if (!rc) {
        ek_sketch_set_add(set, row, 1);
        ek_sketch_set_get(set, 1, one);
        if (ek_sketch_write(one, &bytes))
            rc = ek_fail(e, EK_ENOMEM, "no memory for bytes");
    }
    if (!rc)
        rc = ek_sketch_read(one, bytes.data, bytes.length, NULL, e);
    ek_buf_release(&bytes);
    ek_sketch_free(one);
    ek_sketch_set_free(set);
    return rc;
}

START_TEST(sketches_without_memory_leave_nothing)
{
    ek_sweep(use_sketches);
}
END_TEST

static int use_windows(struct ek_error *e)
{
    static const float row[20] = {1, 2, 3};
    struct ek_windows *w = NULL;
    int rc = ek_windows_new(&w, 20, 2, e);
    for (int i = 0; i < 4 && !rc; i++)
        if (ek_windows_add(w, i, row, 1))
            rc = ek_fail(e, EK_ENOMEM, "no memory to close a window");
    ek_windows_free(w);
    return rc;
}

START_TEST(windows_without_memory_leave_nothing)
{
    ek_sweep(use_windows);
}
END_TEST

/* A window that failed to close closes with the next list. */
START_TEST(a_window_that_cannot_be_closed_loses_nothing)
{
    static const float row[2] = {1, 2};
    for (long n = 1; n < 30; n++) {
        struct ek_windows *w = NULL;
        struct ek_sketch *one = NULL;
        ck_assert_int_eq(ek_windows_new(&w, 2, 2, NULL), EK_OK);
        ck_assert_int_eq(ek_windows_add(w, 1, row, 1), EK_OK);
        ek_sweep_fail(n);
        int rc = ek_windows_add(w, 2, row, 1);
        ek_sweep_fail(0);
        if (rc)
            ck_assert_int_eq(ek_windows_add(w, 2, row, 1), EK_OK);
        ek_sweep_fail(n);
        rc = ek_windows_pack(w, 2);
        ek_sweep_fail(0);
        ck_assert(rc == EK_OK || rc == EK_ENOMEM);
        ck_assert_int_eq(ek_sketch_new(&one), EK_OK);
        ck_assert_uint_eq(ek_windows_get(w, 1, 1, 1, one), 1);
        ck_assert_uint_eq(ek_windows_life(w, 1, one), 2);
        ck_assert_uint_eq(ek_sketch_count(one, ek_sketch_key(2)), 3);
        ek_sketch_free(one);
        ek_windows_free(w);
    }
}
END_TEST

/* The same number of rows with the same values needs no growth. */
START_TEST(closing_windows_like_those_before_asks_for_no_memory)
{
    enum { KEPT = 3, WARM = 3 * KEPT };
    static const float row[2] = {1, 2};
    struct ek_windows *w = NULL;
    ck_assert_int_eq(ek_windows_new(&w, 2, KEPT, NULL), EK_OK);
    for (int i = 0; i < 2 * WARM; i++) {
        if (i >= WARM)
            ek_sweep_fail(1);
        int rc = ek_windows_add(w, i, row, 1);
        rc |= ek_windows_pack(w, 1);
        ek_sweep_fail(0);
        ck_assert_int_eq(rc, EK_OK);
    }
    ek_windows_free(w);
}
END_TEST

static int use_kernels(struct ek_error *e)
{
    static const float weight[6] = {1, 2, 3, 4, 5, 6};
    struct ek_list_moments *sums = NULL;
    struct ek_dense *layer = NULL;
    int rc = ek_list_moments_new(&sums, 136);
    if (!rc)
        rc = ek_dense_new(&layer, 3, 2, weight, NULL);
    ek_list_moments_free(sums);
    ek_dense_free(layer);
    return rc ? ek_fail(e, (enum ek_code)rc, "no memory for kernels") : EK_OK;
}

START_TEST(sums_and_layers_without_memory_leave_nothing)
{
    ek_sweep(use_kernels);
}
END_TEST

Suite *suite_numbers(void)
{
    return ek_suite("numbers", sketches_without_memory_leave_nothing,
                    windows_without_memory_leave_nothing,
                    a_window_that_cannot_be_closed_loses_nothing,
                    closing_windows_like_those_before_asks_for_no_memory,
                    sums_and_layers_without_memory_leave_nothing);
}
