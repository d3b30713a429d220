/* List statistics: correct, and bit-identical on every instruction set. */
#include "base/alloc.h"
#include "base/rng.h"
#include "num/list_stats_isa.h"
#include "tests/check.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { FEATURES_MAX = 70, PADDED = FEATURES_MAX + 16 };
/* Without the padding at the end. */
enum { RECORD_BYTES = offsetof(struct ek_list_stats, usable) + sizeof(uint16_t) };

/* Draw sums of lists with many, few or no values, equal values, and counts above the maximum. */
static void draw(struct ek_list_moments *s, int rows, struct ek_rng *r)
{
    for (int f = 0; f < s->features; f++) {
        int missing = ek_rng_uniform_int(r, 3) ? 0 : (int)ek_rng_uniform_int(r, (uint32_t)rows + 1);
        int zero = ek_rng_uniform_int(r, 3)
                       ? 0
                       : (int)ek_rng_uniform_int(r, (uint32_t)(rows - missing) + 1);
        int k = rows - missing - zero;
        double mean = 3 * ek_rng_normal(r),
               sd = ek_rng_uniform_int(r, 4) ? exp(ek_rng_normal(r)) : 0;
        s->missing[f] = (float)missing;
        s->zero[f] = (float)zero;
        s->usable[f] = (float)k;
        s->negative[f] = (float)ek_rng_uniform_int(r, (uint32_t)k + 1);
        s->tied[f] = rows > missing ? (float)ek_rng_uniform_int(r, (uint32_t)(rows - missing)) : 0;
        s->ln[f] = (float)(k * mean);
        s->ln2[f] = (float)(k * (mean * mean + sd * sd));
    }
}

START_TEST(every_instruction_set_gives_the_same_bits)
{
    static const int sizes[] = {1, 2, 5, 20, 63, 64, 65, 1000, 100000};
    static struct ek_list_stats want[FEATURES_MAX], got[FEATURES_MAX + 1];
    float pivot[PADDED];
    struct ek_rng r;
    ek_rng_seed(&r, 3);
    for (int f = 0; f < PADDED; f++)
        pivot[f] = (float)ek_rng_normal(&r);
    for (int features = 1; features <= FEATURES_MAX; features++) {
        struct ek_list_moments *s;
        ck_assert_int_eq(ek_list_moments_new(&s, features), 0);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            draw(s, sizes[i], &r);
            ek_list_stats_scalar(s, sizes[i], pivot, want);
            for (int isa = 0; isa < EK_ISAS; isa++) {
                if (!ek_isa_has((enum ek_isa)isa))
                    continue;
                memset(got, 1, sizeof got);
                ek_list_stats_fn_get((enum ek_isa)isa)(s, sizes[i], pivot, got);
                for (int f = 0; f < features; f++)
                    ck_assert_mem_eq(&got[f], &want[f], RECORD_BYTES);
                ck_assert_msg(got[features].usable == 0x101, "nothing is written behind the end");
            }
        }
        ek_list_moments_free(s);
    }
}
END_TEST

/* Return the record of one list of one feature. */
static struct ek_list_stats of(const float *x, int rows)
{
    float pivot[16] = {0};
    struct ek_list_stats record;
    struct ek_list_moments *s;
    ck_assert_int_eq(ek_list_moments_new(&s, 1), 0);
    ek_list_moments_compute(s, x, rows, pivot);
    ek_list_stats_compute(s, rows, pivot, &record);
    ek_list_moments_free(s);
    return record;
}

START_TEST(a_record_says_level_spread_and_shares)
{
    struct ek_list_stats o = of((float[]){2, -8, 0, NAN, 8, 8, INFINITY, 2}, 8);
    double mean = (2 * log(2) + 3 * log(8)) / 5;
    double squares = 2 * pow(log(2) - mean, 2) + 3 * pow(log(8) - mean, 2);
    ck_assert_int_eq(o.usable, 5);
    ck_assert_float_eq_tol(o.r, (float)mean, 1e-5);
    ck_assert_float_eq_tol(o.spread, (float)log(sqrt(squares / 4)), 1e-5);
    ck_assert_int_eq(o.share[EK_SHARE_MISSING], 64 * 2 / 8);
    ck_assert_int_eq(o.share[EK_SHARE_ZERO], 64 / 6);
    ck_assert_int_eq(o.share[EK_SHARE_NEGATIVE], 64 / 5);
    ck_assert_int_eq(o.share[EK_SHARE_TIED], 64 * 2 / 15);
    ck_assert_int_eq(of((float[]){3, 5, 3, NAN, 4}, 5).share[EK_SHARE_TIED], 64 / 6);
}
END_TEST

START_TEST(what_a_list_cannot_say_is_marked)
{
    struct ek_list_stats none = of((float[]){NAN, NAN}, 2), one = of((float[]){NAN, 3}, 2);
    ck_assert(isnan(none.r) && isnan(none.spread) && none.usable == 0);
    ck_assert_int_eq(none.share[EK_SHARE_MISSING], EK_SHARE_WHOLE);
    for (int share = EK_SHARE_ZERO; share <= EK_SHARE_TIED; share++)
        ck_assert_int_eq(none.share[share], EK_SHARE_UNKNOWN);
    ck_assert_float_eq_tol(one.r, logf(3), 1e-5);
    ck_assert(isnan(one.spread));
    ck_assert_int_eq(one.share[EK_SHARE_TIED], EK_SHARE_UNKNOWN);
    ck_assert_float_eq_tol(of((float[]){5, 5, 5}, 3).spread, EK_SPREAD_MIN, 1e-6);
}
END_TEST

START_TEST(a_single_value_has_the_statistics_of_a_list_of_one_item)
{
    static const float values[] = {3,         -2,     0,      -0.F,  NAN,     INFINITY,
                                   -INFINITY, 1e-40F, 1e-30F, 7e30F, -1e-40F, 1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct ek_list_stats want = of(&values[i], 1), got;
        ek_list_stats_compute_value(values[i], &got);
        ck_assert_int_eq(got.usable, want.usable);
        ck_assert_mem_eq(got.share, want.share, sizeof want.share);
        ck_assert_int_eq(isnan(got.r), isnan(want.r));
        ck_assert(isnan(got.spread) && isnan(want.spread));
        if (want.usable)
            ck_assert_float_eq_tol(got.r, want.r, 2e-5);
    }
}
END_TEST

Suite *suite_list_stats(void)
{
    return ek_suite("list_stats", every_instruction_set_gives_the_same_bits,
                    a_record_says_level_spread_and_shares, what_a_list_cannot_say_is_marked,
                    a_single_value_has_the_statistics_of_a_list_of_one_item);
}
