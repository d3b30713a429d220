/* Sums over a list: equal to the definition, and bit-identical on every instruction set. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"
#include "num/list_moments_isa.h"
#include "tests/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS_MAX = 50 };

/* Return special values among ordinary ones of all magnitudes. */
static float any_float(struct ek_rng *r)
{
    static const float special[] = {0.f,     -0.f,     INFINITY, -INFINITY, NAN,  1e-45f, -1e-40f,
                                    FLT_MIN, -FLT_MIN, FLT_MAX,  -FLT_MAX,  -NAN, 1.f,    1.f};
    uint32_t bits = (uint32_t)ek_rng_u64(r);
    float x;
    switch (ek_rng_uniform_int(r, 4)) {
    case 0:
        return special[ek_rng_uniform_int(r, sizeof special / sizeof *special)];
    case 1:
        memcpy(&x, &bits, sizeof x);
        return x;
    default:
        return (float)exp(3 + 1.5 * ek_rng_normal(r));
    }
}

static void same_bits(const struct ek_list_moments *a, const struct ek_list_moments *b)
{
    ck_assert_mem_eq(a->memory, b->memory, (size_t)a->padded * 7 * sizeof(float));
}

static void compare(enum ek_isa isa, int features, int rows, struct ek_rng *r)
{
    struct ek_list_moments *want, *got;
    float *x = ek_calloc((size_t)(features * rows), sizeof *x);
    float *pivot = ek_calloc((size_t)features + 16, sizeof *pivot);
    ck_assert_int_eq(ek_list_moments_new(&want, features), 0);
    ck_assert_int_eq(ek_list_moments_new(&got, features), 0);
    for (int i = 0; i < features * rows; i++)
        x[i] = any_float(r);
    for (int f = 0; f < features; f++)
        pivot[f] = (float)(5 * ek_rng_normal(r));
    ek_list_moments_scalar(want, x, rows, pivot);
    ek_list_moments_fn_get(isa)(got, x, rows, pivot);
    same_bits(want, got);
    ek_list_moments_compute(got, x, rows, pivot);
    same_bits(want, got);
    ek_list_moments_free(want);
    ek_list_moments_free(got);
    ek_free(x);
    ek_free(pivot);
}

START_TEST(every_instruction_set_gives_the_same_bits)
{
    static const int features[] = {1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 46, 136, 137, 600};
    struct ek_rng r;
    ek_rng_seed(&r, 1);
    for (enum ek_isa isa = 0; isa < EK_ISAS; isa++)
        for (size_t i = 0; ek_isa_has(isa) && i < sizeof features / sizeof *features; i++)
            for (int rows = 0; rows <= ROWS_MAX; rows += rows < 3 ? 1 : 47)
                compare(isa, features[i], rows, &r);
}
END_TEST

START_TEST(a_value_is_counted_as_what_it_is)
{
    static const float x[] = {2.f, -2.f, 0.f, -0.f, 1e-40f, NAN, -NAN, INFINITY, -INFINITY};
    float pivot[16] = {0};
    struct ek_list_moments *s;
    ck_assert_int_eq(ek_list_moments_new(&s, 1), 0);
    ek_list_moments_compute(s, x, sizeof x / sizeof *x, pivot);
    ck_assert(s->usable[0] == 2);
    ck_assert(s->negative[0] == 1);
    ck_assert(s->zero[0] == 3);
    ck_assert(s->missing[0] == 4);
    ck_assert(s->tied[0] == 0);
    ck_assert(fabs(s->ln[0] - 2 * log(2)) < 2e-6);
    ek_list_moments_free(s);
}
END_TEST

START_TEST(ties_are_equal_pairs_in_any_order)
{
    static const float x[] = {7.f, NAN, 5.f, 7.f, 6.f, 6.f, 6.f, NAN, -5.f, 7.f, -5.f, 7.f};
    float turned[sizeof x / sizeof *x], pivot[16] = {0};
    enum { ROWS = sizeof x / sizeof *x };
    struct ek_list_moments *s;
    ck_assert_int_eq(ek_list_moments_new(&s, 1), 0);
    for (int shift = 0; shift < ROWS; shift++) {
        for (int i = 0; i < ROWS; i++)
            turned[i] = x[(i + shift) % ROWS];
        ek_list_moments_compute(s, turned, ROWS, pivot);
        ck_assert(s->tied[0] == 2);
    }
    ek_list_moments_free(s);
}
END_TEST

START_TEST(ties_do_not_depend_on_the_number_of_rows)
{
    enum { ROWS = 400, LISTS = 2000 };
    static float x[ROWS];
    float pivot[16] = {0};
    struct ek_rng rng;
    struct ek_list_moments *s;
    ek_rng_seed(&rng, 7);
    ck_assert_int_eq(ek_list_moments_new(&s, 1), 0);
    static const int rows[] = {4, 8, 24, 60, ROWS};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double sum = 0;
        for (int list = 0; list < LISTS; list++) {
            for (int i = 0; i < rows[k]; i++)
                x[i] = 1 + (float)ek_rng_uniform_int(&rng, 5);
            ek_list_moments_compute(s, x, rows[k], pivot);
            sum += (double)s->tied[0] / (rows[k] - 1);
        }
        ck_assert_float_eq_tol((float)(sum / LISTS), .2f, .012f);
    }
    ek_list_moments_free(s);
}
END_TEST

START_TEST(ties_of_a_long_list_do_not_depend_on_the_order_of_its_rows)
{
    enum { ROWS = 150, FEATURES = 3 };
    float x[ROWS][FEATURES], turned[ROWS][FEATURES], tied[FEATURES], pivot[16] = {0};
    int order[ROWS];
    struct ek_rng rng;
    struct ek_list_moments *s;
    ek_rng_seed(&rng, 11);
    ck_assert_int_eq(ek_list_moments_new(&s, FEATURES), 0);
    for (int i = 0; i < ROWS; i++) {
        order[i] = i;
        for (int f = 0; f < FEATURES; f++)
            x[i][f] = (float)ek_rng_uniform_int(&rng, f == 2 ? 1000 : 4);
    }
    for (int times = 0; times < 50; times++) {
        for (int i = 0; i < ROWS; i++)
            memcpy(turned[i], x[order[i]], sizeof turned[i]);
        ek_list_moments_compute(s, turned[0], ROWS, pivot);
        if (!times)
            memcpy(tied, s->tied, sizeof tied);
        ck_assert(!memcmp(tied, s->tied, sizeof tied));
        ek_rng_shuffle(&rng, order, ROWS);
    }
    ek_list_moments_free(s);
}
END_TEST

START_TEST(a_tie_looks_through_missing_values)
{
    static const float x[] = {NAN, 5.f, NAN, 5.f, 5.f, 5.f, 5.f, -0.f, -0.f, 3.f};
    float pivot[16] = {0};
    struct ek_list_moments *s;
    ck_assert_int_eq(ek_list_moments_new(&s, 1), 0);
    ek_list_moments_compute(s, x, sizeof x / sizeof *x, pivot);
    ck_assert(s->tied[0] == 2.75);
    ek_list_moments_free(s);
}
END_TEST

START_TEST(logarithms_are_right_over_the_whole_range)
{
    enum { FEATURES = 256, STEPS = 400 };
    float x[FEATURES], pivot[FEATURES];
    struct ek_list_moments *s;
    struct ek_rng r;
    ek_rng_seed(&r, 2);
    ck_assert_int_eq(ek_list_moments_new(&s, FEATURES), 0);
    for (int i = 0; i < STEPS; i++) {
        for (int f = 0; f < FEATURES; f++) {
            float magnitude = (float)exp(-87 + 175.5 * ek_rng_uniform(&r));
            x[f] = ek_rng_uniform_int(&r, 2) ? magnitude : -magnitude;
            pivot[f] = (float)(log(fabs(x[f])) + 3 * ek_rng_normal(&r));
        }
        ek_list_moments_compute(s, x, 1, pivot);
        for (int f = 0; f < FEATURES; f++) {
            double want = log(fabs((double)x[f])) - (double)pivot[f];
            ck_assert_double_eq_tol(s->ln[f], want, 1e-6 + 1e-7 * fabs(want));
            ck_assert_double_eq_tol(s->ln2[f], want * want, 3e-6 * (1 + want * want));
        }
    }
    ek_list_moments_free(s);
}
END_TEST

START_TEST(what_is_beyond_the_features_stays_zero)
{
    float x[2 * 17], pivot[32];
    struct ek_list_moments *s;
    ck_assert_int_eq(ek_list_moments_new(&s, 17), 0);
    ck_assert_int_eq(s->padded, 32);
    for (int i = 0; i < 34; i++)
        x[i] = 3;
    for (int i = 0; i < 32; i++)
        pivot[i] = 1;
    ek_list_moments_compute(s, x, 2, pivot);
    for (int f = 17; f < 32; f++)
        ck_assert(s->ln[f] == 0 && s->usable[f] == 0 && s->zero[f] == 0 && s->tied[f] == 0);
    ck_assert(s->tied[16] == 1 && s->usable[16] == 2);
    ek_list_moments_free(s);
}
END_TEST

START_TEST(a_senseless_number_of_features_is_refused)
{
    struct ek_list_moments *s = NULL;
    ck_assert_int_eq(ek_list_moments_new(&s, 0), EK_ELIMIT);
    ck_assert_int_eq(ek_list_moments_new(&s, -1), EK_ELIMIT);
    ck_assert_int_eq(ek_list_moments_new(&s, 0x7fffffff), EK_ELIMIT);
    ck_assert_ptr_null(s);
}
END_TEST

Suite *suite_list_moments(void)
{
    return ek_suite(
        "list_moments", every_instruction_set_gives_the_same_bits, a_value_is_counted_as_what_it_is,
        a_tie_looks_through_missing_values, ties_are_equal_pairs_in_any_order,
        ties_of_a_long_list_do_not_depend_on_the_order_of_its_rows,
        ties_do_not_depend_on_the_number_of_rows, logarithms_are_right_over_the_whole_range,
        what_is_beyond_the_features_stays_zero, a_senseless_number_of_features_is_refused);
}
