/* Value repair against the Python reference (file from tests/golden/repair.py), odd values, and the
 * ratios of the built-in units. */
#include "tests/golden.h"

#include "schema/units.h"
#include "score/value_repair.h"

#include <float.h>
#include <string.h>

enum { VALUES_MAX = 64 };

static double number_at(const json_t *j, const char *key)
{
    const json_t *v = json_object_get(j, key);
    return v ? strtod(json_string_value(v), NULL) : 0;
}

static enum ek_value_repair_kind kind_of(const char *word)
{
    static const char *const words[] = {"divide", "power", "offset", "absolute", "negate"};
    int i = 0;
    while (strcmp(words[i], word))
        i++;
    return (enum ek_value_repair_kind)i;
}

static size_t numbers(const json_t *j, const char *key, double *out)
{
    const json_t *a = json_object_get(j, key);
    size_t n = json_array_size(a);
    ck_assert_uint_le(n, VALUES_MAX);
    for (size_t i = 0; i < n; i++)
        out[i] = strtod(json_string_value(json_array_get(a, i)), NULL);
    return n;
}

static void check_case(const json_t *j)
{
    double x[VALUES_MAX], y[VALUES_MAX], known[VALUES_MAX];
    float of_training[VALUES_MAX];
    const char *kind = json_string_value(json_object_get(j, "kind"));
    bool narrow = json_integer_value(json_object_get(j, "width")) == 32;
    struct ek_value_repair r = {.kind = kind_of(kind),
                                .p = number_at(j, "p"),
                                .q = number_at(j, "q"),
                                .factor = number_at(j, "factor"),
                                .exponent = number_at(j, "exponent"),
                                .offset = number_at(j, "offset"),
                                .offset_error = number_at(j, "offset_error"),
                                .exact = json_is_true(json_object_get(j, "exact")),
                                .positive = json_is_true(json_object_get(j, "positive")),
                                .has_zeros = json_is_true(json_object_get(j, "has_zeros")),
                                .known = of_training};
    size_t n = numbers(j, "x", x);
    r.known_count = (int)numbers(j, "known", known);
    for (int i = 0; i < r.known_count; i++)
        of_training[i] = (float)known[i];
    ck_assert_uint_eq(numbers(j, "y", y), n);
    for (size_t i = 0; i < n; i++) {
        double is = ek_value_repair(&r, x[i], narrow ? EK_VALUE_FLOAT32 : EK_VALUE_FLOAT64);
        /* C libraries differ in the last bit of a power. */
        double most = r.kind == EK_VALUE_POWER ? (narrow ? 0x1p-23 : 0x1p-51) * fabs(y[i]) : 0;
        ck_assert_msg(isnan(is) ? isnan(y[i]) : fabs(is - y[i]) <= most, "%s of %a: %a, not %a",
                      kind, x[i], is, y[i]);
    }
}

START_TEST(repaired_values_are_those_of_the_reference)
{
    json_t *j = golden_load("tests/golden/repair.json");
    ck_assert_uint_gt(json_array_size(j), 50);
    for (size_t i = 0; i < json_array_size(j); i++)
        check_case(json_array_get(j, i));
    json_decref(j);
}
END_TEST

START_TEST(a_built_in_unit_is_divided_out_by_its_ratio)
{
    size_t count;
    const struct ek_unit *u = ek_units_built_in(&count);
    for (size_t i = 0; i < count; i++) {
        double p, q;
        ek_ratio_find(u[i].factor, &p, &q);
        ck_assert_msg(fabs(p / q - u[i].factor) <= DBL_EPSILON * u[i].factor, "%s", u[i].id);
        ck_assert_msg(p == floor(p) && q == floor(q), "%s: %.17g / %.17g", u[i].id, p, q);
    }
}
END_TEST

static void check_ratio(double number, double p, double q)
{
    double is_p, is_q;
    ek_ratio_find(number, &is_p, &is_q);
    ck_assert_double_eq(is_p, p);
    ck_assert_double_eq(is_q, q);
}

START_TEST(a_ratio_has_the_smallest_terms)
{
    check_ratio(100, 100, 1);
    check_ratio(.01, 1, 100);
    check_ratio(1. / 60, 1, 60);
    check_ratio(1 / 1.609344, 15625, 25146);
    check_ratio(1.609344, 25146, 15625);
    check_ratio(10.7639, 107639, 10000);
    check_ratio(1e12, 1e12, 1);
    check_ratio(1e-12, 1e-12, 1);
    check_ratio(1 / 0.45359237, 100000000, 45359237); /* equal, not only within an ulp */
}
END_TEST

START_TEST(cents_become_the_double_of_the_decimal)
{
    const struct ek_value_repair r = {.kind = EK_VALUE_DIVIDE, .p = 100, .q = 1, .exact = true};
    ck_assert_double_eq(ek_value_repair(&r, 12999, EK_VALUE_FLOAT64), 129.99);
    ck_assert_double_eq(ek_value_repair(&r, 12999, EK_VALUE_FLOAT32), (double)129.99f);
}
END_TEST

START_TEST(a_float32_in_a_float64_is_divided_as_one)
{
    struct ek_value_repair r = {.kind = EK_VALUE_DIVIDE, .p = 100, .q = 1, .exact = true};
    float faulty = 207.978f * 100;
    r.of_float32 = true;
    ck_assert_double_eq(ek_value_repair(&r, 20797.799, EK_VALUE_FLOAT64), 207.978);
    ck_assert_double_eq(ek_value_repair(&r, 8209.101, EK_VALUE_FLOAT64), 82.091);
    ck_assert_double_eq(ek_value_repair(&r, 12999, EK_VALUE_FLOAT64), 129.99);
    ck_assert_double_eq(ek_value_repair(&r, (double)faulty, EK_VALUE_FLOAT64), (double)207.978f);
    ck_assert_double_eq(ek_value_repair(&r, 10000001, EK_VALUE_FLOAT64), 100000.01);
    ck_assert_double_eq(ek_value_repair(&r, 16777217, EK_VALUE_FLOAT64), 167772.17);
}
END_TEST

START_TEST(only_many_digits_show_the_origin_of_a_value)
{
    ck_assert_int_eq(ek_value_origin(129.99), EK_ORIGIN_UNKNOWN);
    ck_assert_int_eq(ek_value_origin(12345.67), EK_ORIGIN_UNKNOWN);
    ck_assert_int_eq(ek_value_origin(20797.799), EK_ORIGIN_FLOAT32);
    ck_assert_int_eq(ek_value_origin((double)207.978f), EK_ORIGIN_FLOAT32);
    ck_assert_int_eq(ek_value_origin(20797.8001), EK_ORIGIN_FLOAT64);
    ck_assert_int_eq(ek_value_origin(1. / 3), EK_ORIGIN_FLOAT64);
    ck_assert_int_eq(ek_value_origin(0), EK_ORIGIN_UNKNOWN);
    ck_assert_int_eq(ek_value_origin(NAN), EK_ORIGIN_UNKNOWN);
    ck_assert_int_eq(ek_value_origin(1e300), EK_ORIGIN_UNKNOWN);
}
END_TEST

START_TEST(a_fill_replaces_what_is_lost_and_nothing_else)
{
    struct ek_value_repair r = {.kind = EK_VALUE_FILL, .fill = 42};
    ck_assert_double_eq(ek_value_repair(&r, NAN, EK_VALUE_FLOAT64), 42);
    ck_assert_double_eq(ek_value_repair(&r, -INFINITY, EK_VALUE_FLOAT64), 42);
    ck_assert_double_eq(ek_value_repair(&r, 0, EK_VALUE_FLOAT64), 0);
    ck_assert_double_eq(ek_value_repair(&r, 7, EK_VALUE_FLOAT64), 7);
    r.kind = EK_VALUE_FILL_ZERO;
    ck_assert_double_eq(ek_value_repair(&r, -0., EK_VALUE_FLOAT64), 42);
    ck_assert_double_eq(ek_value_repair(&r, 7, EK_VALUE_FLOAT64), 7);
    r.kind = EK_VALUE_FILL_ALL;
    ck_assert_double_eq(ek_value_repair(&r, 7, EK_VALUE_FLOAT64), 42);
    r.kind = EK_VALUE_BLANK;
    ck_assert(isnan(ek_value_repair(&r, 7, EK_VALUE_FLOAT32)));
}
END_TEST

START_TEST(a_missing_value_that_stays_missing_has_not_changed)
{
    ck_assert(!ek_value_changed(NAN, NAN));
    ck_assert(!ek_value_changed(-0., 0));
    ck_assert(ek_value_changed(1, NAN));
    ck_assert(ek_value_changed(NAN, 1));
    ck_assert(ek_value_changed(100, 1));
}
END_TEST

START_TEST(values_snap_to_training_values_within_a_tenth)
{
    static const float stars[] = {1, 2, 3};
    ck_assert_double_eq(ek_value_snap(2.5, stars, 3), 2.5);
    ck_assert_double_eq(ek_value_snap(2.9, stars, 3), 3);
    ck_assert_double_eq(ek_value_snap(3.3, stars, 3), 3.3 - 3 <= .3 ? 3 : 3.3);
    ck_assert_double_eq(ek_value_snap(9, stars, 3), 9);
    ck_assert(isnan(ek_value_snap(NAN, stars, 3)));
}
END_TEST

Suite *suite_value_repair(void)
{
    return ek_suite(
        "value_repair", repaired_values_are_those_of_the_reference,
        a_built_in_unit_is_divided_out_by_its_ratio, a_ratio_has_the_smallest_terms,
        cents_become_the_double_of_the_decimal, a_float32_in_a_float64_is_divided_as_one,
        only_many_digits_show_the_origin_of_a_value, a_fill_replaces_what_is_lost_and_nothing_else,
        a_missing_value_that_stays_missing_has_not_changed,
        values_snap_to_training_values_within_a_tenth);
}
