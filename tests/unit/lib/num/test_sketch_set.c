/* Sketch sets lose no count between buffer, hot and cold counters. */
#include "base/alloc.h"
#include "base/rng.h"
#include "num/sketch_internal.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

static struct ek_sketch_set *set_of(int features)
{
    struct ek_sketch_set *s = NULL;
    ck_assert_int_eq(ek_sketch_set_new(&s, features, NULL), EK_OK);
    return s;
}

static uint64_t count_in(struct ek_sketch_set *s, int feature, float x)
{
    struct ek_sketch *one = NULL;
    ck_assert_int_eq(ek_sketch_new(&one), EK_OK);
    ek_sketch_set_get(s, feature, one);
    ck_assert_uint_eq(ek_sketch_total(one), ek_sketch_set_rows(s));
    uint64_t count = ek_sketch_count(one, ek_sketch_key(x));
    ek_sketch_free(one);
    return count;
}

START_TEST(ten_million_times_the_same_value_are_ten_million)
{
    enum { FEATURES = 17, ROWS = 1000, TIMES = 10000 };
    struct ek_sketch_set *s = set_of(FEATURES);
    float *x = ek_calloc(FEATURES * ROWS, sizeof *x);
    for (int i = 0; i < FEATURES * ROWS; i++)
        x[i] = (float)(i % FEATURES);
    for (int i = 0; i < TIMES; i++)
        ck_assert_int_eq(ek_sketch_set_add(s, x, ROWS), EK_OK);
    ck_assert_uint_eq(ek_sketch_set_rows(s), 10000000);
    for (int f = 0; f < FEATURES; f++)
        ck_assert_uint_eq(count_in(s, f, (float)f), 10000000);
    ek_sketch_set_free(s);
    ek_free(x);
}
END_TEST

START_TEST(a_row_is_seen_at_once)
{
    static const float row[3] = {1.f, -2.f, NAN};
    struct ek_sketch_set *s = set_of(3);
    for (int i = 1; i <= 3; i++) {
        ek_sketch_set_add(s, row, 1);
        for (int f = 0; f < 3; f++)
            ck_assert_uint_eq(count_in(s, f, row[f]), (uint64_t)i);
    }
    ek_sketch_set_free(s);
}
END_TEST

START_TEST(what_comes_after_a_drain_is_not_forgotten)
{
    enum { FEATURES = 24, ROWS = 20 };
    static float rare[FEATURES * ROWS], usual[FEATURES * ROWS];
    struct ek_sketch_set *s = set_of(FEATURES);
    uint64_t rares = 0;
    for (int i = 0; i < FEATURES * ROWS; i++) {
        usual[i] = 3.f;
        rare[i] = -1e30f;
    }
    for (int i = 0; i < 20000; i++) {
        int odd = i % 997 == 0;
        ek_sketch_set_add(s, odd ? rare : usual, ROWS);
        rares += odd ? ROWS : 0;
    }
    for (int f = 0; f < FEATURES; f++)
        ck_assert_uint_eq(count_in(s, f, -1e30f), rares);
    ek_sketch_set_free(s);
}
END_TEST

START_TEST(a_cleared_set_is_empty)
{
    float row[40];
    struct ek_sketch_set *s = set_of(40);
    for (int f = 0; f < 40; f++)
        row[f] = (float)f - 20;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++)
            ek_sketch_set_add(s, row, 1);
        ck_assert_uint_eq(count_in(s, 39, 19.f), 1000);
        ek_sketch_set_add(s, row, 1);
        ek_sketch_set_clear(s);
        ck_assert_uint_eq(ek_sketch_set_rows(s), 0);
        for (int f = 0; f < 40; f++)
            ck_assert_uint_eq(count_in(s, f, row[f]), 0);
    }
    ek_sketch_set_free(s);
}
END_TEST

START_TEST(a_sealed_part_is_apart_from_the_rows_since)
{
    enum { FEATURES = 33 };
    float old[FEATURES], new[FEATURES];
    struct ek_sketch_set *s = set_of(FEATURES), *other = set_of(FEATURES);
    struct ek_sketch *one = NULL;
    ck_assert_int_eq(ek_sketch_new(&one), EK_OK);
    for (int f = 0; f < FEATURES; f++) {
        old[f] = (float)(1 + f);
        new[f] = (float)(1000 + f);
    }
    for (int i = 0; i < 1000; i++)
        ek_sketch_set_add(s, old, 1);
    ck_assert_int_eq(ek_sketch_set_sealed(s), FEATURES);
    ek_sketch_set_seal(s);
    for (int f = 0; f < FEATURES; f++) {
        ck_assert_int_eq(ek_sketch_set_sealed(s), f);
        for (int i = 0; i < 20; i++)
            ek_sketch_set_add(s, new, 1);
        ck_assert_uint_eq(count_in(s, f, new[f]), 20 * ((uint64_t)f + 1));
        ek_sketch_clear(one);
        ek_sketch_set_get_sealed(s, f, one);
        ck_assert_uint_eq(ek_sketch_count(one, ek_sketch_key(old[f])), 1000);
        ck_assert_uint_eq(ek_sketch_total(one), 1000);
        ck_assert_int_eq(ek_sketch_set_merge(s, other), EK_EUSAGE);
        ek_sketch_set_remove_sealed(s);
        ek_sketch_clear(one);
        ek_sketch_set_get_sealed(s, f, one);
        ck_assert_uint_eq(ek_sketch_total(one), 0);
    }
    ck_assert_int_eq(ek_sketch_set_merge(s, other), EK_OK);
    for (int f = 0; f < FEATURES; f++)
        ck_assert_uint_eq(count_in(s, f, new[f]), 20 * FEATURES);
    ek_sketch_free(one);
    ek_sketch_set_free(s);
    ek_sketch_set_free(other);
}
END_TEST

START_TEST(a_sealed_part_holds_only_so_many_rows)
{
    static const float row[3] = {1.f, -2.f, NAN};
    struct ek_sketch_set *s = set_of(3);
    ek_sketch_set_add(s, row, 1);
    ek_sketch_set_seal(s);
    for (int i = 0; i < EK_SKETCH_SEALED_ROWS; i++)
        ck_assert_int_eq(ek_sketch_set_add(s, row, 1), EK_OK);
    ck_assert_int_eq(ek_sketch_set_add(s, row, 1), EK_EUSAGE);
    for (int f = 0; f < 3; f++)
        ek_sketch_set_remove_sealed(s);
    ck_assert_int_eq(ek_sketch_set_add(s, row, 1), EK_OK);
    for (int f = 0; f < 3; f++)
        ck_assert_uint_eq(count_in(s, f, row[f]), EK_SKETCH_SEALED_ROWS + 1);
    ek_sketch_set_free(s);
}
END_TEST

START_TEST(senseless_sizes_are_refused)
{
    struct ek_sketch_set *s = NULL;
    struct ek_error e;
    ck_assert_int_eq(ek_sketch_set_new(&s, 0, &e), EK_ELIMIT);
    ck_assert_int_eq(ek_sketch_set_new(&s, EK_SKETCH_FEATURES_MAX + 1, &e), EK_ELIMIT);
    ck_assert_ptr_null(s);
    for (int features = EK_SKETCH_FEATURES_MAX - 1; features <= EK_SKETCH_FEATURES_MAX;
         features++) {
        ck_assert_int_eq(ek_sketch_set_new(&s, features, &e), EK_OK);
        ek_sketch_set_free(s);
    }
    s = set_of(1);
    ck_assert_int_eq(ek_sketch_set_add(s, NULL, -1), EK_EUSAGE);
    ck_assert_int_eq(ek_sketch_set_add(s, NULL, 0), EK_OK);
    ek_sketch_set_free(s);
}
END_TEST

START_TEST(every_instruction_set_gives_the_same_keys)
{
    enum { STRIDE = 21, ROWS = 3000 };
    static float x[STRIDE * ROWS];
    static uint16_t want[ROWS * EK_KEY_LANES], got[ROWS * EK_KEY_LANES];
    struct ek_rng r;
    ek_rng_seed(&r, 3);
    for (int i = 0; i < STRIDE * ROWS; i++) {
        uint32_t bits = (uint32_t)ek_rng_u64(&r);
        bits |= ek_rng_uniform_int(&r, 4) ? 0 : 0x7f800000; /* often infinite or NaN */
        memcpy(x + i, &bits, sizeof bits);
    }
    for (enum ek_isa isa = 0; isa < EK_ISAS; isa++) {
        uint32_t chunks[EK_KEY_LANES] = {0}, chunks_got[EK_KEY_LANES] = {0};
        if (!ek_isa_has(isa))
            continue;
        ek_sketch_keys_scalar(x, STRIDE, ROWS, want, chunks);
        ek_sketch_kernels_get(isa).keys(x, STRIDE, ROWS, got, chunks_got);
        ck_assert_mem_eq(want, got, sizeof want);
        ck_assert_mem_eq(chunks, chunks_got, sizeof chunks);
    }
}
END_TEST

START_TEST(every_instruction_set_adds_the_same)
{
    uint64_t from[EK_SKETCH_BLOCK], start[EK_SKETCH_BLOCK], want[EK_SKETCH_BLOCK];
    uint64_t got[EK_SKETCH_BLOCK];
    uint16_t hot[EK_SKETCH_BLOCK];
    struct ek_rng r;
    ek_rng_seed(&r, 4);
    for (int i = 0; i < EK_SKETCH_BLOCK; i++) {
        from[i] = ek_rng_u64(&r);
        start[i] = ek_rng_u64(&r);
        hot[i] = (uint16_t)ek_rng_u64(&r);
    }
    for (enum ek_isa isa = 0; isa < EK_ISAS; isa++) {
        if (!ek_isa_has(isa))
            continue;
        for (int kind = 0; kind < 2; kind++) {
            memcpy(got, start, sizeof got);
            for (int i = 0; i < EK_SKETCH_BLOCK; i++)
                want[i] = start[i] + (kind ? hot[i] : from[i]);
            if (kind)
                ek_sketch_kernels_get(isa).add_hot(got, hot);
            else
                ek_sketch_kernels_get(isa).add_wide(got, from);
            ck_assert_mem_eq(got, want, sizeof want);
        }
    }
}
END_TEST

Suite *suite_sketch_set(void)
{
    return ek_suite("sketch_set", ten_million_times_the_same_value_are_ten_million,
                    a_row_is_seen_at_once, what_comes_after_a_drain_is_not_forgotten,
                    a_cleared_set_is_empty, a_sealed_part_is_apart_from_the_rows_since,
                    a_sealed_part_holds_only_so_many_rows, senseless_sizes_are_refused,
                    every_instruction_set_gives_the_same_keys, every_instruction_set_adds_the_same);
}
