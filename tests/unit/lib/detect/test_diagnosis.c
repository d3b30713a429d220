/* Alignment and classes on constructed lists. */
#include "base/alloc.h"
#include "base/rng.h"
#include "detect/classify.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { LISTS = 400 };

/* Training: residuals normal with sd 0.4, spreads of lists around ln 0.5. */
struct known {
    struct ek_baseline baseline;
    float density[EK_DENSITY_BINS];
    struct ek_list_stats lists[LISTS];
    float level[LISTS], scratch[LISTS];
    struct ek_rng rng;
};

static void setup(struct known *k, uint64_t seed)
{
    memset(k, 0, sizeof *k);
    ek_rng_seed(&k->rng, seed);
    for (int i = 0; i < EK_DENSITY_BINS; i++) {
        double r = EK_RESIDUAL_LOW + (i + .5) * EK_RESIDUAL_BIN;
        k->density[i] = (float)(exp(-r * r / .32) / sqrt(.32 * M_PI) * (1 - EK_DENSITY_FLOOR) +
                                EK_DENSITY_FLOOR / EK_RESIDUAL_RANGE);
    }
    k->baseline.level = 4.6f;
    k->baseline.sd = .4f;
    for (int c = 0; c < EK_SIZE_CLASSES; c++) {
        k->baseline.spread_mean[c] = logf(.5f);
        k->baseline.spread_sd[c] = .2f;
        k->baseline.spread_hi[c] = logf(.5f) + .55f;
    }
    for (int i = 0; i < LISTS; i++)
        k->lists[i] =
            (struct ek_list_stats){.r = (float)(.4 * ek_rng_normal(&k->rng)),
                                   .spread = (float)(log(.5) + .2 * ek_rng_normal(&k->rng)),
                                   .usable = 10};
}

static struct ek_diagnosis diagnose(struct known *k)
{
    struct ek_window w = {k->lists, k->level, LISTS, 0, k->scratch, {0, 1, 0}, {0, 0}, false};
    struct ek_diagnosis d;
    ek_classify(&k->baseline, k->density, &w, &d);
    return d;
}

static struct ek_alignment align(const float *density, const float *r, int count)
{
    struct ek_residuals h;
    ek_residuals_get(&h, r, count);
    return ek_align(density, &h, &(struct ek_align_known){0, 1, 0});
}

START_TEST(nothing_happened_is_no_class)
{
    struct known k;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        setup(&k, seed);
        ck_assert_int_eq(diagnose(&k).class, EK_CLASS_NONE);
    }
}
END_TEST

/* Lists of one factor, also in a part of them, do not vary; lists of several factors do. Prices
 * that rise by different rates in different markets are no currencies. */
START_TEST(factors_of_their_own_are_not_one_factor)
{
    static const double one[] = {100}, two[] = {100, 1}, rates[] = {1, .8, 1.3, 7.2, 18, 110, 1400},
                        rise[] = {1.1, 1.35, 1.6, 1.95};
    static const struct {
        const double *factor;
        size_t count;
        float sd; /* of the level of a list */
        bool varies;
    } cases[] = {
        {one, 1, .4f, false}, {two, 2, .4f, false}, {rates, 7, .4f, true}, {rise, 4, .04f, false}};
    for (size_t c = 0; c < 4; c++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct known k;
            setup(&k, seed);
            struct ek_window w = {k.lists, k.level, LISTS, 0, k.scratch, {0, 1, 0}, {0, 0}, false};
            k.baseline.sd = cases[c].sd;
            for (int i = 0; i < LISTS; i++) {
                size_t any = ek_rng_uniform_int(&k.rng, (uint64_t)cases[c].count);
                k.lists[i].r = k.lists[i].r * cases[c].sd / .4f + (float)log(cases[c].factor[any]);
            }
            double shift = diagnose(&k).level.shift_ln;
            ck_assert_int_eq(ek_window_varies(&k.baseline, &w, shift), cases[c].varies);
            w.count = 16; /* too few lists that moved far */
            if (c)
                ck_assert(!ek_window_varies(&k.baseline, &w, shift));
        }
}
END_TEST

START_TEST(a_shift_of_a_share_is_measured_with_both)
{
    static const double factor[] = {100, 2, .621371, .01};
    static const double share[] = {1, .5, .2};
    for (size_t f = 0; f < 4; f++)
        for (size_t s = 0; s < 3; s++) {
            struct known k;
            setup(&k, 3);
            int moved = 0;
            for (int i = 0; i < LISTS; i++)
                if (ek_rng_uniform(&k.rng) < share[s]) {
                    k.lists[i].r += (float)log(factor[f]);
                    moved++;
                }
            struct ek_diagnosis d = diagnose(&k);
            ck_assert_int_eq(d.class, EK_SCALE);
            ck_assert_double_eq_tol(d.level.shift_ln, log(factor[f]), 5 * d.level.error_ln + .05);
            /* one sd of the residual resembles a smaller shift of more lists */
            double blur = fabs(log(factor[f])) > 3 * k.baseline.sd ? .05 : .35;
            ck_assert_double_eq_tol(d.level.share, (double)moved / LISTS, blur);
            ck_assert(d.level.error_ln < .2);
        }
}
END_TEST

START_TEST(intervals_hold_the_factor_nineteen_times_in_twenty_when_lists_are_independent)
{
    int held = 0, trials = 200;
    for (int t = 0; t < trials; t++) {
        struct known k;
        setup(&k, 1000 + (uint64_t)t);
        for (int i = 0; i < LISTS; i++)
            k.lists[i].r += logf(2);
        struct ek_diagnosis d = diagnose(&k);
        held += d.level.low_ln < log(2) && log(2) < d.level.high_ln;
    }
    ck_assert_int_ge(held, trials * 88 / 100);
    ck_assert_int_le(held, trials * 99 / 100 + 1);
}
END_TEST

START_TEST(lists_of_a_size_that_training_hardly_had_still_tell_a_scale)
{
    struct known k;
    setup(&k, 7);
    for (int c = 0; c < EK_SIZE_CLASSES; c++) { /* as the fit leaves them */
        k.baseline.spread_mean[c] = 0;
        k.baseline.spread_sd[c] = 1;
        k.baseline.spread_hi[c] = EK_SPREAD_UNKNOWN;
    }
    ck_assert_int_eq(diagnose(&k).class, EK_CLASS_NONE);
    for (int i = 0; i < LISTS; i++)
        k.lists[i].r += logf(100);
    struct ek_diagnosis d = diagnose(&k);
    ck_assert_int_eq(d.class, EK_SCALE);
    ck_assert(d.spread_ratio == 1);
}
END_TEST

START_TEST(shares_come_before_levels)
{
    static const enum ek_class expected[] = {EK_MISSING, EK_ZERO, EK_SIGN, EK_STUCK};
    for (int which = 0; which < EK_SHARES; which++) {
        struct known k;
        setup(&k, 6);
        for (int i = 0; i < LISTS; i++) {
            k.lists[i].r += 1;
            k.lists[i].share[which] = 60;
        }
        ck_assert_int_eq(diagnose(&k).class, expected[which]);
    }
}
END_TEST

START_TEST(a_factor_known_per_list_beats_one_number)
{
    struct known k;
    float r[LISTS], right[LISTS], wrong[LISTS];
    setup(&k, 7);
    for (int i = 0; i < LISTS; i++) {
        right[i] = logf((float)(1 + ek_rng_uniform_int(&k.rng, 14)));
        wrong[i] = logf((float)(1 + ek_rng_uniform_int(&k.rng, 14)));
        r[i] = k.lists[i].r + right[i];
    }
    double one = align(k.density, r, LISTS).gain_ln;
    ck_assert(ek_align_by_list(k.density, r, right, LISTS) > one + 50);
    ck_assert(ek_align_by_list(k.density, r, wrong, LISTS) < one);
}
END_TEST

/* A third of the items costs 8% more; one item in fifty is in cents. */
START_TEST(a_change_is_small_unless_level_spread_or_some_items_moved_far)
{
    static const struct {
        double mean_ln, spread_ratio, incoherent;
        bool small;
    } cases[] = {{.03, 1.01, .005, true},
                 {-.2, 1.01, .005, false},
                 {.03, .8, 0, false},
                 {.09, 1.06, .2, false}};
    for (size_t i = 0; i < 4; i++) {
        struct ek_diagnosis d = {.class = EK_ITEMS,
                                 .mean_ln = cases[i].mean_ln,
                                 .spread_ratio = cases[i].spread_ratio,
                                 .incoherent = cases[i].incoherent};
        ck_assert_int_eq(ek_diagnosis_is_small(&d, log(1.1)), cases[i].small);
    }
}
END_TEST

START_TEST(no_lists_are_no_shift)
{
    struct known k;
    setup(&k, 8);
    struct ek_alignment a = align(k.density, NULL, 0);
    ck_assert(a.shift_ln == 0 && a.gain_ln == 0 && a.error_ln > 1);
    struct ek_window w = {k.lists, k.level, 0, 0, k.scratch, {0, 1, 0}, {0, 0}, false};
    struct ek_diagnosis d;
    ek_classify(&k.baseline, k.density, &w, &d);
    ck_assert_int_eq(d.class, EK_CLASS_NONE);
}
END_TEST

Suite *suite_diagnosis(void)
{
    return ek_suite(
        "diagnosis", nothing_happened_is_no_class, factors_of_their_own_are_not_one_factor,
        a_shift_of_a_share_is_measured_with_both,
        intervals_hold_the_factor_nineteen_times_in_twenty_when_lists_are_independent,
        lists_of_a_size_that_training_hardly_had_still_tell_a_scale, shares_come_before_levels,
        a_factor_known_per_list_beats_one_number,
        a_change_is_small_unless_level_spread_or_some_items_moved_far, no_lists_are_no_shift);
}
