/* Repair by the true parameters of a fault gives back the values before the fault. */
#include "tests/check.h"

#include "base/rng.h"
#include "schema/units.h"
#include "score/value_repair.h"

#include <math.h>

enum { ROUNDS = 20000, DIGITS32 = 6, DIGITS64 = 14, POWER_ULPS = 20 };

static double round_to(double x, enum ek_value_width width)
{
    return width == EK_VALUE_FLOAT32 ? (double)(float)x : x;
}

/* Return a decimal of at most `digits` digits, as the number of the type nearest to its text. */
static double decimal(struct ek_rng *r, int digits, enum ek_value_width width)
{
    double most = pow(10, 1 + (double)ek_rng_uniform_int(r, (uint64_t)digits));
    double n = 1 + floor(ek_rng_uniform(r) * (most - 1));
    return round_to(n / pow(10, (double)ek_rng_uniform_int(r, 5)), width);
}

static int digits_of(enum ek_value_width width)
{
    return width == EK_VALUE_FLOAT32 ? DIGITS32 : DIGITS64;
}

static void check_decimal(struct ek_rng *r, const struct ek_value_repair *repair,
                          double (*spoil)(const struct ek_value_repair *r, double x), double most)
{
    for (int w = EK_VALUE_FLOAT32; w <= EK_VALUE_FLOAT64; w++) {
        enum ek_value_width width = (enum ek_value_width)w;
        double x = decimal(r, digits_of(width), width);
        double faulty = round_to(spoil(repair, x), width);
        double is = ek_value_repair(repair, faulty, width);
        double ulp = width == EK_VALUE_FLOAT32 ? 0x1p-23 : 0x1p-51;
        ck_assert_msg(fabs(is - x) <= most * ulp * fabs(x), "%.17g became %.17g and then %.17g", x,
                      faulty, is);
    }
}

static double scale(const struct ek_value_repair *r, double x)
{
    return x * (r->p / r->q);
}

START_TEST(a_unit_divided_out_gives_back_each_decimal_exactly)
{
    size_t count;
    struct ek_rng rng;
    const struct ek_unit *u = ek_units_built_in(&count);
    ek_rng_seed(&rng, 1);
    for (int i = 0; i < ROUNDS; i++) {
        struct ek_value_repair r = {.kind = EK_VALUE_DIVIDE, .exact = true, .positive = true};
        ek_ratio_find(u[ek_rng_uniform_int(&rng, count)].factor, &r.p, &r.q);
        check_decimal(&rng, &r, scale, 0);
    }
}
END_TEST

START_TEST(any_factor_divided_out_gives_back_each_decimal_exactly)
{
    struct ek_rng rng;
    ek_rng_seed(&rng, 2);
    for (int i = 0; i < ROUNDS; i++) {
        struct ek_value_repair r = {.kind = EK_VALUE_DIVIDE, .exact = true};
        ek_ratio_find(exp(4 * ek_rng_normal(&rng)), &r.p, &r.q);
        check_decimal(&rng, &r, scale, 0);
    }
}
END_TEST

static double power(const struct ek_value_repair *r, double x)
{
    return r->factor * pow(x, r->exponent);
}

/* Inverting a root multiplies the rounding of the faulty value, and that of 1 / exponent counts
 * times the logarithm of the value. */
START_TEST(an_inverted_power_is_within_the_rounding_of_the_type)
{
    static const double exponents[] = {1. / 3, .5, 2, 3, 1.7};
    struct ek_rng rng;
    ek_rng_seed(&rng, 3);
    for (int i = 0; i < ROUNDS; i++) {
        double e = exponents[i % 5];
        struct ek_value_repair r = {
            .kind = EK_VALUE_POWER, .factor = exp(ek_rng_normal(&rng)), .exponent = e};
        check_decimal(&rng, &r, power, POWER_ULPS * fmax(1, 1 / e));
    }
}
END_TEST

static double add(const struct ek_value_repair *r, double x)
{
    return x + r->offset;
}

START_TEST(an_offset_taken_off_is_within_the_rounding_of_the_sum)
{
    struct ek_rng rng;
    ek_rng_seed(&rng, 4);
    for (int i = 0; i < ROUNDS; i++) {
        enum ek_value_width width = i % 2 ? EK_VALUE_FLOAT32 : EK_VALUE_FLOAT64;
        const struct ek_value_repair r = {
            .kind = EK_VALUE_OFFSET, .offset = 300 * ek_rng_normal(&rng), .has_zeros = true};
        double x = i % 3 ? decimal(&rng, 5, width) : 0, sum = round_to(add(&r, x), width);
        double is = ek_value_repair(&r, sum, width);
        double rest = 0x1p-22 * fmax(fabs(sum), fabs(r.offset)) + 0x1p-23 * fabs(x);
        ck_assert_double_le(fabs(is - x), rest);
        ck_assert(x != 0 || is == 0);
    }
}
END_TEST

START_TEST(a_sign_turned_back_is_exact)
{
    struct ek_rng rng;
    ek_rng_seed(&rng, 5);
    for (int i = 0; i < ROUNDS; i++) {
        enum ek_value_width width = i % 2 ? EK_VALUE_FLOAT32 : EK_VALUE_FLOAT64;
        const struct ek_value_repair turned = {.kind = EK_VALUE_NEGATE},
                                     positive = {.kind = EK_VALUE_ABSOLUTE, .positive = true};
        double x = decimal(&rng, digits_of(width), width);
        ck_assert_double_eq(ek_value_repair(&turned, -x, width), x);
        ck_assert_double_eq(ek_value_repair(&turned, x, width), -x);
        ck_assert_double_eq(ek_value_repair(&positive, -x, width), x);
    }
}
END_TEST

Suite *suite_value_repair(void)
{
    return ek_suite("value_repair", a_unit_divided_out_gives_back_each_decimal_exactly,
                    any_factor_divided_out_gives_back_each_decimal_exactly,
                    an_inverted_power_is_within_the_rounding_of_the_type,
                    an_offset_taken_off_is_within_the_rounding_of_the_sum,
                    a_sign_turned_back_is_exact);
}
