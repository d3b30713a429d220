/* Memory of live sketches with many segments and many features, as documented in docs/sizing.md. */
#include "base/alloc.h"
#include "base/rng.h"
#include "num/windows.h"
#include "tests/check.h"
#include "tests/measure.h"

#include <math.h>

enum { CELLS = 100, USUAL = 136, MANY = 2048, ROWS = 3000, LIST_ROWS = 20, MIB = 1 << 20 };

/* Sanitizer shadow memory counts toward the process. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEASURED = 0 };
#else
enum { MEASURED = 1 };
#endif

/* Wide features, a tenth of the values zero. */
static float *some_rows(int features)
{
    float *x = ek_calloc((size_t)ROWS * (size_t)features, sizeof *x);
    struct ek_rng r;
    ek_rng_seed(&r, 8);
    ck_assert_ptr_nonnull(x);
    for (int i = 0; i < ROWS * features; i++)
        x[i] = i % 10 ? (float)exp(3 + 1.5 * ek_rng_normal(&r)) : 0;
    return x;
}

static void add_all(struct ek_windows *w, int64_t number, const float *x, int features)
{
    for (int r = 0; r < ROWS; r += LIST_ROWS)
        ck_assert_int_eq(ek_windows_add(w, number, x + (size_t)r * (size_t)features, LIST_ROWS),
                         EK_OK);
}

/* A closed and packed window followed by an open one: buffers, hot and cold counters are in use. */
static struct ek_windows *busy_cell(const float *x, int features)
{
    struct ek_windows *w = NULL;
    ck_assert_int_eq(ek_windows_new(&w, features, 12, NULL), EK_OK);
    add_all(w, 1, x, features);
    add_all(w, 2, x, features);
    ck_assert_int_eq(ek_windows_pack(w, features), EK_OK);
    return w;
}

START_TEST(a_hundred_cells_of_136_features_take_300_mib)
{
    static struct ek_windows *w[CELLS];
    float *x = some_rows(USUAL);
    double before = ek_measure_resident(), packed = 0;
    for (int c = 0; c < CELLS; c++) {
        w[c] = busy_cell(x, USUAL);
        packed += (double)ek_windows_packed_bytes(w[c]);
    }
    double bytes = ek_measure_resident() - before - packed;
    if (MEASURED)
        ck_assert_double_lt(bytes, 300. * MIB);
    for (int c = 0; c < CELLS; c++)
        ek_windows_free(w[c]);
    ek_free(x);
}
END_TEST

START_TEST(two_thousand_features_are_counted_and_take_as_much_each)
{
    float *x = some_rows(MANY);
    struct ek_sketch *want = NULL, *got = NULL;
    ck_assert_int_eq(ek_sketch_new(&want), EK_OK);
    ck_assert_int_eq(ek_sketch_new(&got), EK_OK);
    double before = ek_measure_resident();
    struct ek_windows *w = busy_cell(x, MANY);
    double bytes = ek_measure_resident() - before - (double)ek_windows_packed_bytes(w);
    if (MEASURED)
        ck_assert_double_lt(bytes, 3. * MIB * MANY / USUAL);
    for (int f = 0; f < MANY; f += 31) {
        ek_sketch_clear(want);
        ek_sketch_clear(got);
        for (int r = 0; r < ROWS; r++)
            ek_sketch_add(want, x[(size_t)r * MANY + (size_t)f], 1);
        ck_assert_uint_eq(ek_windows_get(w, f, 1, 1, got), ROWS / LIST_ROWS);
        for (int key = 0; key < EK_SKETCH_KEYS; key++)
            ck_assert_uint_eq(ek_sketch_count(got, (uint16_t)key),
                              ek_sketch_count(want, (uint16_t)key));
    }
    ek_windows_free(w);
    ek_sketch_free(want);
    ek_sketch_free(got);
    ek_free(x);
}
END_TEST

Suite *suite_windows_memory(void)
{
    return ek_suite("windows_memory", a_hundred_cells_of_136_features_take_300_mib,
                    two_thousand_features_are_counted_and_take_as_much_each);
}
