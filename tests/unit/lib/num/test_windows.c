/* Sketch windows lose no count on a close, and every span equals the sketch of its rows. */
#include "base/rng.h"
#include "num/windows.h"
#include "tests/check.h"

#include <math.h>

enum { FEATURES = 17, KEPT = 3, ROWS = 20 };

static struct ek_windows *windows(void)
{
    struct ek_windows *w = NULL;
    ck_assert_int_eq(ek_windows_new(&w, FEATURES, KEPT, NULL), EK_OK);
    return w;
}

static struct ek_sketch *empty(void)
{
    struct ek_sketch *s = NULL;
    ck_assert_int_eq(ek_sketch_new(&s), EK_OK);
    return s;
}

static void add(struct ek_windows *w, int64_t number, float value)
{
    float x[FEATURES * ROWS];
    for (int i = 0; i < FEATURES * ROWS; i++)
        x[i] = value + (float)(i % FEATURES) * 1000;
    ck_assert_int_eq(ek_windows_add(w, number, x, ROWS), EK_OK);
}

/* Return the items of that value of feature 2 in a span. */
static uint64_t count(struct ek_windows *w, int64_t first, int64_t last, float value)
{
    struct ek_sketch *s = empty();
    uint64_t lists = ek_windows_get(w, 2, first, last, s);
    uint64_t n = ek_sketch_count(s, ek_sketch_key(value + 2000));
    ck_assert_uint_eq(ek_sketch_total(s), lists * ROWS);
    ek_sketch_free(s);
    return n;
}

static uint64_t count_of_life(struct ek_windows *w, float value, uint64_t *lists)
{
    struct ek_sketch *s = empty();
    *lists = ek_windows_life(w, 2, s);
    uint64_t n = ek_sketch_count(s, ek_sketch_key(value + 2000));
    ck_assert_uint_eq(ek_sketch_total(s), *lists * ROWS);
    ek_sketch_free(s);
    return n;
}

START_TEST(a_window_has_what_came_in_it)
{
    struct ek_windows *w = windows();
    add(w, 5, 1);
    add(w, 5, 1);
    add(w, 6, 500);
    ck_assert_uint_eq(count(w, 5, 5, 1), 2 * ROWS);
    ck_assert_uint_eq(count(w, 5, 5, 500), 0);
    ck_assert_uint_eq(count(w, 6, 6, 500), ROWS);
    ck_assert_uint_eq(count(w, 5, 6, 1), 2 * ROWS);
    ck_assert_uint_eq(count(w, 7, 9, 1), 0);
    ek_windows_free(w);
}
END_TEST

START_TEST(the_oldest_window_goes_and_life_keeps_it)
{
    struct ek_windows *w = windows();
    uint64_t lists;
    for (int i = 0; i < 10; i++)
        add(w, i, i < 2 ? 1 : 500);
    ck_assert_uint_eq(count(w, 0, 20, 500), (KEPT + 1) * ROWS);
    ck_assert_uint_eq(count(w, 0, 20, 1), 0);
    ck_assert_uint_eq(count_of_life(w, 1, &lists), 2 * ROWS);
    ck_assert_uint_eq(lists, 10);
    ek_windows_free(w);
}
END_TEST

START_TEST(time_may_jump_ahead_and_back)
{
    struct ek_windows *w = windows();
    uint64_t lists;
    add(w, 1000, 1);
    add(w, 1000000, 500);
    ck_assert_uint_eq(count(w, 999990, 1000000, 1), 0);
    ck_assert_uint_eq(count(w, 999990, 1000000, 500), ROWS);
    add(w, -3, 1);
    ck_assert_uint_eq(count(w, -3, -3, 1), ROWS);
    ck_assert_uint_eq(count(w, 1000000, 1000000, 500), ROWS);
    add(w, 1000000, 500);
    ck_assert_uint_eq(count(w, 1000000, 1000000, 500), 2 * ROWS);
    ck_assert_uint_eq(count_of_life(w, 1, &lists), 2 * ROWS);
    ck_assert_uint_eq(lists, 4);
    ek_windows_free(w);
}
END_TEST

START_TEST(a_span_is_the_sketch_of_all_its_rows_in_any_order)
{
    enum { LISTS = 3000 };
    struct ek_windows *w = NULL, *shuffled = NULL;
    struct ek_sketch *all = empty(), *got = empty();
    static float x[LISTS][FEATURES * ROWS];
    struct ek_rng r;
    ck_assert_int_eq(ek_windows_new(&w, FEATURES, 12, NULL), EK_OK);
    ck_assert_int_eq(ek_windows_new(&shuffled, FEATURES, 12, NULL), EK_OK);
    ek_rng_seed(&r, 9);
    for (int i = 0; i < LISTS; i++) {
        for (int k = 0; k < FEATURES * ROWS; k++)
            x[i][k] = ek_rng_uniform_int(&r, 20) ? (float)exp(3 * ek_rng_normal(&r)) : (float)NAN;
        for (int k = 0; k < ROWS; k++)
            ek_sketch_add(all, x[i][k * FEATURES + 16], 1);
        ck_assert_int_eq(ek_windows_add(w, i / 300, x[i], ROWS), EK_OK);
    }
    for (int i = LISTS - 1; i >= 0; i--)
        ck_assert_int_eq(ek_windows_add(shuffled, i / 300, x[i], ROWS), EK_OK);
    struct ek_windows *both[] = {w, shuffled};
    for (int i = 0; i < 4; i++) {
        ek_sketch_clear(got);
        uint64_t lists = i < 2 ? ek_windows_get(both[i % 2], 16, 0, 9, got)
                               : ek_windows_life(both[i % 2], 16, got);
        ck_assert_uint_eq(lists, LISTS);
        for (int key = 0; key < EK_SKETCH_KEYS; key++)
            ck_assert_uint_eq(ek_sketch_count(got, (uint16_t)key),
                              ek_sketch_count(all, (uint16_t)key));
    }
    ek_windows_free(w);
    ek_windows_free(shuffled);
    ek_sketch_free(all);
    ek_sketch_free(got);
}
END_TEST

START_TEST(a_closed_window_is_packed_as_far_as_asked_for)
{
    struct ek_windows *w = windows();
    add(w, 1, 1);
    ck_assert_int_eq(ek_windows_unpacked(w), 0);
    add(w, 2, 500);
    ck_assert_int_eq(ek_windows_unpacked(w), FEATURES);
    ck_assert_int_eq(ek_windows_pack(w, 3), EK_OK);
    ck_assert_int_eq(ek_windows_unpacked(w), FEATURES - 3);
    add(w, 2, 500);
    ck_assert_int_eq(ek_windows_unpacked(w), FEATURES - 3);
    ck_assert_uint_eq(count(w, 1, 1, 1), ROWS);
    ck_assert_int_eq(ek_windows_pack(w, FEATURES), EK_OK);
    ck_assert_int_eq(ek_windows_unpacked(w), 0);
    ck_assert_uint_eq(count(w, 1, 1, 1), ROWS);
    ck_assert_uint_eq(count(w, 2, 2, 500), 2 * ROWS);
    ek_windows_free(w);
}
END_TEST

/* Add lists to a window; each fourth has the second value. */
static void add_mixed(struct ek_windows *w, int64_t number, int lists)
{
    for (int i = 0; i < lists; i++)
        add(w, number, i % 4 ? 1 : 500);
}

/* Check a window of `lists` lists of add_mixed, of which the sample may leave out its last ones. */
static void check_mixed(struct ek_windows *w, int64_t number, double lists)
{
    struct ek_sketch *s = empty();
    ck_assert_uint_eq(ek_windows_get(w, 2, number, number, s), (uint64_t)lists);
    ck_assert_double_eq_tol((double)ek_sketch_total(s), lists * ROWS, 4 * ROWS);
    double other = (double)ek_sketch_count(s, ek_sketch_key(500 + 2000));
    ck_assert_double_eq_tol(other, lists / 4 * ROWS, lists / 4 * ROWS * .06);
    ek_sketch_free(s);
}

enum { LARGE = 20000 };

START_TEST(a_window_after_a_large_one_is_a_sample)
{
    struct ek_windows *w = windows();
    struct ek_sketch *life = empty();
    add_mixed(w, 1, LARGE);
    check_mixed(w, 1, LARGE);
    add_mixed(w, 2, LARGE + 2);
    check_mixed(w, 2, LARGE + 2);
    add(w, 3, 1);
    ck_assert_int_eq(ek_windows_unpacked(w), FEATURES);
    check_mixed(w, 2, LARGE + 2);
    ck_assert_int_eq(ek_windows_pack(w, FEATURES), EK_OK);
    check_mixed(w, 2, LARGE + 2);
    ck_assert_uint_eq(ek_windows_life(w, 2, life), 2 * LARGE + 3);
    ck_assert_double_eq_tol((double)ek_sketch_total(life), (2 * LARGE + 3) * ROWS, 8 * ROWS);
    add(w, 4, 500); /* after a window of one list */
    ck_assert_uint_eq(count(w, 4, 4, 500), ROWS);
    ek_sketch_free(life);
    ek_windows_free(w);
}
END_TEST

START_TEST(each_list_counts_after_a_split)
{
    struct ek_windows *w = windows();
    struct ek_sketch *s = empty();
    uint64_t since;
    add_mixed(w, 1, LARGE);
    add_mixed(w, 2, LARGE);
    ck_assert_int_eq(ek_windows_split(w, &since), EK_OK);
    add(w, 2, 7);
    ck_assert_uint_eq(ek_windows_get_since(w, 2, since, 2, 2, s), 1);
    ck_assert_uint_eq(ek_sketch_total(s), ROWS);
    ek_sketch_free(s);
    ek_windows_free(w);
}
END_TEST

START_TEST(samples_are_merged_by_their_weights)
{
    for (int64_t number = 1; number <= 3; number++) {
        struct ek_windows *into = windows(), *from = windows();
        add_mixed(into, 1, LARGE);
        add_mixed(into, 2, LARGE);
        if (number > 1)
            add_mixed(from, number - 1, 2 * LARGE);
        add_mixed(from, number, LARGE);
        ck_assert_int_eq(ek_windows_merge(into, from, false), EK_OK);
        check_mixed(into, 1, (number == 1 ? 2 : 1) * LARGE + (number == 2 ? 2 * LARGE : 0));
        check_mixed(into, 2, (number == 2 ? 2 : 1) * LARGE + (number == 3 ? 2 * LARGE : 0));
        add_mixed(into, 3, LARGE);
        check_mixed(into, 3, (number == 3 ? 2 : 1) * LARGE);
        ek_windows_free(into);
        ek_windows_free(from);
    }
}
END_TEST

START_TEST(a_sample_is_stored_with_its_weight)
{
    struct ek_windows *w = windows(), *read = windows();
    struct ek_buf bytes;
    struct ek_serialize s = {.out = &bytes};
    ek_buf_init(&bytes, 0);
    add_mixed(w, 1, LARGE);
    add_mixed(w, 2, LARGE);
    ck_assert_int_eq(ek_windows_pack(w, FEATURES), EK_OK);
    ek_windows_now_serialize(w, &s);
    ck_assert_int_eq(s.rc, EK_OK);
    s = (struct ek_serialize){.at = bytes.data, .end = bytes.data + bytes.length};
    ek_windows_now_serialize(read, &s);
    ck_assert_int_eq(s.rc, EK_OK);
    check_mixed(read, 2, LARGE);
    add_mixed(read, 2, LARGE);
    check_mixed(read, 2, 2 * LARGE);
    ek_buf_release(&bytes);
    ek_windows_free(w);
    ek_windows_free(read);
}
END_TEST

START_TEST(lists_without_items_are_counted_as_lists)
{
    struct ek_windows *w = windows();
    uint64_t lists;
    ck_assert_int_eq(ek_windows_add(w, 1, NULL, 0), EK_OK);
    struct ek_sketch *s = empty();
    lists = ek_windows_get(w, 0, 1, 1, s);
    ck_assert_uint_eq(lists, 1);
    ck_assert_uint_eq(ek_sketch_total(s), 0);
    ek_sketch_free(s);
    ek_windows_free(w);
}
END_TEST

START_TEST(cleared_windows_are_empty_and_can_be_used_again)
{
    struct ek_windows *w = windows();
    uint64_t lists;
    for (int i = 0; i < 5; i++)
        add(w, i, 1);
    ck_assert(ek_windows_packed_bytes(w) > 0);
    ek_windows_clear(w);
    ck_assert_uint_eq(ek_windows_packed_bytes(w), 0);
    ck_assert_uint_eq(count(w, 0, 10, 1), 0);
    ck_assert_uint_eq(count_of_life(w, 1, &lists), 0);
    ck_assert_uint_eq(lists, 0);
    add(w, 3, 500);
    ck_assert_uint_eq(count(w, 0, 10, 500), ROWS);
    ek_windows_free(w);
}
END_TEST

START_TEST(senseless_numbers_are_refused)
{
    struct ek_windows *w = NULL;
    ck_assert_int_eq(ek_windows_new(&w, 0, 1, NULL), EK_ELIMIT);
    ck_assert_int_eq(ek_windows_new(&w, 1, 0, NULL), EK_ELIMIT);
    ck_assert_int_eq(ek_windows_new(&w, 1, EK_WINDOWS_KEPT_MAX + 1, NULL), EK_ELIMIT);
    ck_assert_ptr_null(w);
    for (int kept = EK_WINDOWS_KEPT_MAX - 1; kept <= EK_WINDOWS_KEPT_MAX; kept++) {
        ck_assert_int_eq(ek_windows_new(&w, 1, kept, NULL), EK_OK);
        ek_windows_free(w);
    }
}
END_TEST

Suite *suite_windows(void)
{
    return ek_suite(
        "windows", a_window_has_what_came_in_it, the_oldest_window_goes_and_life_keeps_it,
        time_may_jump_ahead_and_back, a_span_is_the_sketch_of_all_its_rows_in_any_order,
        a_closed_window_is_packed_as_far_as_asked_for, a_window_after_a_large_one_is_a_sample,
        each_list_counts_after_a_split, samples_are_merged_by_their_weights,
        a_sample_is_stored_with_its_weight, lists_without_items_are_counted_as_lists,
        cleared_windows_are_empty_and_can_be_used_again, senseless_numbers_are_refused);
}
