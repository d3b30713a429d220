/* The inlined exponential equals the C library's. */
#include "num/exp.h"
#include "tests/check.h"

#include <math.h>

START_TEST(exp_is_right_to_the_last_digits)
{
    for (double x = -708; x < 709; x += .00371)
        ck_assert_double_le(fabs(ek_exp(x) / exp(x) - 1), 4e-16);
    ck_assert(ek_exp(0) == 1);
}
END_TEST

START_TEST(exp_stays_at_its_ends)
{
    ck_assert(ek_exp(-1e300) == ek_exp(-708) && ek_exp(-INFINITY) == ek_exp(-708));
    ck_assert(ek_exp(1e300) == ek_exp(709) && ek_exp(INFINITY) == ek_exp(709));
    ck_assert(isfinite(ek_exp(NAN)));
}
END_TEST

Suite *suite_exp(void)
{
    return ek_suite("exp", exp_is_right_to_the_last_digits, exp_stays_at_its_ends);
}
