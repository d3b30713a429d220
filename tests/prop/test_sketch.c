/* Sketches of any data have bounded errors and merge in any order; sets equal single sketches. */
#include "base/alloc.h"
#include "base/rng.h"
#include "num/sketch_io.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 20 };

static struct ek_sketch *empty(void)
{
    struct ek_sketch *s = NULL;
    ck_assert_int_eq(ek_sketch_new(&s), EK_OK);
    return s;
}

static float any_value(struct ek_rng *r)
{
    uint32_t bits = (uint32_t)ek_rng_u64(r);
    float x;
    memcpy(&x, &bits, sizeof x);
    return ek_rng_uniform_int(r, 3) ? (float)exp(3 + 1.5 * ek_rng_normal(r)) : x;
}

static void ck_same(const struct ek_sketch *a, const struct ek_sketch *b)
{
    ck_assert_uint_eq(ek_sketch_total(a), ek_sketch_total(b));
    for (int key = 0; key < EK_SKETCH_KEYS; key++)
        ck_assert_uint_eq(ek_sketch_count(a, (uint16_t)key), ek_sketch_count(b, (uint16_t)key));
}

static int rising(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

START_TEST(a_quantile_is_never_further_off_than_promised)
{
    enum { VALUES = 20000 };
    float *x = ek_calloc(VALUES, sizeof *x);
    struct ek_sketch *s = empty();
    struct ek_rng r;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ek_rng_seed(&r, seed);
        ek_sketch_clear(s);
        for (int i = 0; i < VALUES; i++) {
            x[i] = (float)exp(3 + 1.5 * ek_rng_normal(&r)) * (seed % 4 ? 1.f : -1.f);
            ek_sketch_add(s, x[i], 1);
        }
        qsort(x, VALUES, sizeof *x, rising);
        for (int i = 1; i <= 1000; i++) {
            int rank = (int)ceil(VALUES * (i / 1000.0));
            double want = (double)x[rank - 1], got = ek_sketch_quantile(s, i / 1000.0);
            ck_assert(fabs(got - want) <= ek_sketch_max_rel_error() * fabs(want));
        }
    }
    ek_sketch_free(s);
    ek_free(x);
}
END_TEST

START_TEST(moments_of_the_logarithm_are_those_of_the_data)
{
    enum { VALUES = 100000 };
    struct ek_sketch *s = empty();
    struct ek_sketch_summary sum;
    struct ek_rng r;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double mean = 0, squares = 0, sd = 0.1 + (double)seed / 5;
        ek_rng_seed(&r, seed);
        ek_sketch_clear(s);
        for (int i = 0; i < VALUES; i++) {
            float x = (float)exp((double)seed - 10 + sd * ek_rng_normal(&r));
            double ln = log((double)x);
            mean += ln / VALUES;
            squares += ln * ln / VALUES;
            ek_sketch_add(s, ek_rng_uniform_int(&r, 2) ? x : -x, 1);
        }
        ek_sketch_summarize(s, &sum);
        ck_assert_double_eq_tol(sum.log_mean, mean, 1e-4);
        ck_assert_double_eq_tol(sum.log_sd, sqrt(squares - mean * mean), 1e-3);
    }
    ek_sketch_free(s);
}
END_TEST

START_TEST(merging_in_any_order_gives_the_same)
{
    enum { PARTS = 6, VALUES = 3000 };
    struct ek_rng r;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct ek_sketch *part[PARTS], *all = empty(), *forth = empty(), *tree = empty();
        int order[PARTS] = {0, 1, 2, 3, 4, 5};
        ek_rng_seed(&r, seed);
        for (int p = 0; p < PARTS; p++) {
            part[p] = empty();
            for (int i = 0; i < VALUES; i++) {
                float x = any_value(&r);
                ek_sketch_add(part[p], x, 1 + (uint64_t)p);
                ek_sketch_add(all, x, 1 + (uint64_t)p);
            }
        }
        ek_rng_shuffle(&r, order, PARTS);
        for (int p = 0; p < PARTS; p++)
            ek_sketch_merge(forth, part[order[p]]);
        ck_same(all, forth);
        for (int p = 0; p < PARTS; p += 2)
            ek_sketch_merge(part[p], part[p + 1]);
        for (int p = PARTS - 2; p >= 0; p -= 2)
            ek_sketch_merge(tree, part[p]);
        ck_same(all, tree);
        for (int p = 0; p < PARTS; p++)
            ek_sketch_free(part[p]);
        ek_sketch_free(all);
        ek_sketch_free(forth);
        ek_sketch_free(tree);
    }
}
END_TEST

START_TEST(bytes_give_the_same_sketch_and_the_same_bytes)
{
    struct ek_rng r;
    struct ek_buf bytes, again;
    struct ek_sketch *s = empty(), *back = empty();
    ek_buf_init(&bytes, 0);
    ek_buf_init(&again, 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        size_t used = 0;
        ek_rng_seed(&r, seed);
        ek_sketch_clear(s);
        ek_buf_clear(&bytes);
        ek_buf_clear(&again);
        for (uint64_t i = 0; i < seed * 100; i++)
            ek_sketch_add(s, any_value(&r), ek_rng_u64(&r) >> (16 + ek_rng_uniform_int(&r, 48)));
        ck_assert_int_eq(ek_sketch_write(s, &bytes), EK_OK);
        size_t length = bytes.length;
        ck_assert_int_eq(ek_buf_text(&bytes, "what follows"), EK_OK);
        ck_assert_int_eq(ek_sketch_read(back, bytes.data, bytes.length, &used, NULL), EK_OK);
        ck_assert_uint_eq(used, length);
        ck_same(s, back);
        ck_assert_int_eq(ek_sketch_write(back, &again), EK_OK);
        ck_assert_uint_eq(again.length, length);
        ck_assert_mem_eq(again.data, bytes.data, length);
    }
    ek_buf_release(&bytes);
    ek_buf_release(&again);
    ek_sketch_free(s);
    ek_sketch_free(back);
}
END_TEST

START_TEST(what_is_packed_and_added_again_is_twice_as_much)
{
    struct ek_rng r;
    struct ek_buf bytes;
    struct ek_sketch *s = empty(), *twice = empty();
    ek_buf_init(&bytes, 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ek_rng_seed(&r, seed);
        ek_sketch_clear(s);
        ek_sketch_clear(twice);
        ek_buf_clear(&bytes);
        for (uint64_t i = 0; i < seed * 300; i++)
            ek_sketch_add(s, any_value(&r), ek_rng_u64(&r) >> (16 + ek_rng_uniform_int(&r, 48)));
        ck_assert_int_eq(ek_sketch_pack(s, &bytes), EK_OK);
        ek_sketch_unpack(twice, bytes.data, bytes.length);
        ck_same(s, twice);
        ek_sketch_unpack(twice, bytes.data, bytes.length);
        ek_sketch_merge(s, s);
        ck_same(s, twice);
    }
    ek_buf_release(&bytes);
    ek_sketch_free(s);
    ek_sketch_free(twice);
}
END_TEST

START_TEST(random_bytes_are_no_sketch_and_do_no_harm)
{
    struct ek_rng r;
    struct ek_sketch *s = empty();
    ek_rng_seed(&r, 1);
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[80] = {'E', 'K', 'S', '1'};
        size_t used, length = 4 + ek_rng_uniform_int(&r, 76);
        for (size_t k = 4; k < length; k++)
            bytes[k] = (uint8_t)(ek_rng_u64(&r) >> (56 + ek_rng_uniform_int(&r, 8)));
        ck_assert_int_eq(ek_sketch_read(s, bytes, length, &used, NULL), EK_EFORMAT);
    }
    ek_sketch_free(s);
}
END_TEST

/* Random adds, reads and merges, compared with single sketches. */
static void compare_set(int features, uint64_t seed)
{
    enum { ROWS_MAX = 700 };
    struct ek_rng r;
    struct ek_sketch_set *set = NULL, *other = NULL;
    struct ek_sketch **want = ek_calloc((size_t)features, sizeof *want), *got = empty();
    float *x = ek_calloc((size_t)features * ROWS_MAX, sizeof *x);
    ek_rng_seed(&r, seed);
    ck_assert_int_eq(ek_sketch_set_new(&set, features, NULL), EK_OK);
    ck_assert_int_eq(ek_sketch_set_new(&other, features, NULL), EK_OK);
    for (int f = 0; f < features; f++)
        want[f] = empty();
    for (int step = 0; step < 12; step++) {
        int rows = (int)ek_rng_uniform_int(&r, ek_rng_uniform_int(&r, 2) ? 30 : ROWS_MAX);
        for (int i = 0; i < rows * features; i++) {
            x[i] = any_value(&r);
            ek_sketch_add(want[i % features], x[i], 1);
        }
        ck_assert_int_eq(ek_sketch_set_add(step % 3 ? set : other, x, rows), EK_OK);
        if (step % 5 == 0)
            ek_sketch_set_get(set, (int)ek_rng_uniform_int(&r, (uint64_t)features), got);
    }
    ck_assert_int_eq(ek_sketch_set_merge(set, other), EK_OK);
    for (int f = 0; f < features; f++) {
        ek_sketch_clear(got);
        ek_sketch_set_get(set, f, got);
        ck_same(want[f], got);
        ek_sketch_free(want[f]);
    }
    ek_sketch_set_free(set);
    ek_sketch_set_free(other);
    ek_sketch_free(got);
    ek_free(want);
    ek_free(x);
}

START_TEST(a_set_is_the_sum_of_single_sketches)
{
    static const int features[] = {1, 7, 8, 15, 16, 17, 24, 31, 46, 136, 200};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        compare_set(features[i], i);
}
END_TEST

Suite *suite_sketch(void)
{
    return ek_suite("sketch", a_quantile_is_never_further_off_than_promised,
                    moments_of_the_logarithm_are_those_of_the_data,
                    merging_in_any_order_gives_the_same,
                    bytes_give_the_same_sketch_and_the_same_bytes,
                    what_is_packed_and_added_again_is_twice_as_much,
                    random_bytes_are_no_sketch_and_do_no_harm, a_set_is_the_sum_of_single_sketches);
}
