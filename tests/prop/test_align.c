/* Alignment: the interval covers the shift at its nominal rate, and binned counts lose no
 * information. */
#include "tests/check.h"
#include "tests/windows.h"

enum { TRIALS = 400 };
/* 95% of 400 trials have a standard error of 1.1%: nominal rate plus or minus three of them. */
static const double LEAST = .88, MOST = .99;

static void scale(float *x, int items, double by, struct ek_rng *rng)
{
    (void)rng;
    for (int i = 0; i < items; i++)
        x[i] *= (float)by;
}

static int residuals(const struct ek_window *w, double level_error, struct ek_rng *rng, float *r)
{
    float off = (float)(level_error * ek_rng_normal(rng));
    for (int i = 0; i < w->count; i++)
        r[i] = w->record[i].r + off;
    return w->count;
}

static void ck_coverage(double factor, double share, int lists, double level_error, uint64_t seed)
{
    static struct windows w;
    float r[WINDOW_LISTS];
    struct ek_residuals h;
    int held = 0;
    windows_train(&w, seed);
    for (int t = 0; t < TRIALS; t++) {
        struct ek_window window = windows_next(&w, lists, WINDOW_ITEMS, scale, factor, share);
        ek_residuals_get(&h, r, residuals(&window, level_error, &w.rng, r));
        struct ek_alignment a =
            ek_align(w.density, &h, &(struct ek_align_known){level_error, 1, 0});
        held += a.low_ln <= log(factor) && log(factor) <= a.high_ln;
    }
    ck_assert_msg(held >= LEAST * TRIALS && held <= MOST * TRIALS, "x%g of %g: %d of %d", factor,
                  share, held, TRIALS);
}

START_TEST(an_interval_holds_the_shift_of_all_lists)
{
    ck_coverage(2, 1, 80, 0, 11);
    ck_coverage(100, 1, 64, .02, 12);
    ck_coverage(1.2, 1, 320, .02, 13);
}
END_TEST

START_TEST(an_interval_holds_the_shift_of_some_lists)
{
    ck_coverage(2, .5, 200, .02, 14);
    ck_coverage(100, .2, 200, .02, 15);
    ck_coverage(2.5, .25, 400, .02, 16);
}
END_TEST

/* Return how often the estimated fraction is below .9, with a prior shift of all by up to 1.25. */
static int shares_found(double factor, double share, int lists, uint64_t seed)
{
    static struct windows w;
    float r[WINDOW_LISTS];
    struct ek_residuals h;
    int found = 0;
    windows_train(&w, seed);
    for (int t = 0; t < TRIALS; t++) {
        struct ek_window window = windows_next(&w, lists, WINDOW_ITEMS, scale, factor, share);
        ek_residuals_get(&h, r, residuals(&window, .02, &w.rng, r));
        found += ek_align(w.density, &h, &(struct ek_align_known){.02, 1, log(1.25)}).share < .9;
    }
    return found;
}

START_TEST(a_small_shift_of_all_lists_is_no_larger_one_of_some)
{
    ck_assert_int_le(shares_found(1.08, 1, 320, 18), TRIALS / 100);
    ck_assert_int_le(shares_found(1.17, 1, 320, 19), TRIALS / 100);
    ck_assert_int_ge(shares_found(2, .2, 320, 20), TRIALS * 95 / 100);
    ck_assert_int_ge(shares_found(100, .02, 320, 21), TRIALS * 95 / 100);
}
END_TEST

START_TEST(lists_that_say_the_same_widen_the_interval)
{
    static struct windows w;
    float r[WINDOW_LISTS];
    struct ek_residuals h;
    windows_train(&w, 17);
    struct ek_window window = windows_next(&w, 200, WINDOW_ITEMS, scale, 2, 1);
    ek_residuals_get(&h, r, residuals(&window, 0, &w.rng, r));
    double one = ek_align(w.density, &h, &(struct ek_align_known){0, 1, 0}).error_ln;
    double four = ek_align(w.density, &h, &(struct ek_align_known){0, 4, 0}).error_ln;
    ck_assert_double_eq_tol(four / one, 2, .25);
}
END_TEST

/* At whole bins, binned counts equal the lists. */
START_TEST(counts_in_bins_have_the_likelihood_of_the_lists)
{
    static struct windows w;
    float r[WINDOW_LISTS];
    struct ek_residuals h;
    windows_train(&w, 18);
    for (int t = 0; t < 50; t++) {
        struct ek_window window = windows_next(&w, 300, WINDOW_ITEMS, scale, 3, .3);
        ek_residuals_get(&h, r, residuals(&window, 0, &w.rng, r));
        int shift = (int)ek_rng_uniform_int(&w.rng, 200) - 100;
        double q = ek_rng_uniform(&w.rng), sum = 0;
        for (int i = 0; i < window.count; i++) {
            int bin = ek_residual_bin(r[i]);
            sum += log(1 - q + q * w.density[bin - shift] / w.density[bin]);
        }
        double ours = ek_align_gain(w.density, &h, shift * EK_RESIDUAL_BIN, q, 0, 0);
        ck_assert_double_eq_tol(ours, sum, 1e-3 * (1 + fabs(sum)));
    }
}
END_TEST

START_TEST(no_place_near_the_one_found_is_likelier)
{
    static struct windows w;
    float r[WINDOW_LISTS];
    struct ek_residuals h;
    windows_train(&w, 19);
    for (int t = 0; t < 50; t++) {
        struct ek_window window = windows_next(&w, 300, WINDOW_ITEMS, scale, 2 + t, .4);
        ek_residuals_get(&h, r, residuals(&window, 0, &w.rng, r));
        struct ek_alignment a = ek_align(w.density, &h, &(struct ek_align_known){0, 1, 0});
        for (double s = -.2; s <= .2; s += .02)
            for (double q = .05; q <= 1; q += .05)
                ck_assert(ek_align_gain(w.density, &h, a.shift_ln + s, q, 0, 0) < a.gain_ln + .05);
    }
}
END_TEST

START_TEST(the_level_before_a_change_is_found_with_its_error)
{
    static struct windows w;
    float r[WINDOW_LISTS];
    struct ek_residuals h;
    double error;
    int held = 0;
    windows_train(&w, 20);
    for (int t = 0; t < TRIALS; t++) {
        struct ek_window window = windows_next(&w, 400, WINDOW_ITEMS, NULL, 0, 0);
        double truth = .05 * ek_rng_normal(&w.rng);
        for (int i = 0; i < window.count; i++)
            r[i] = window.record[i].r + (float)truth;
        ek_residuals_get(&h, r, window.count);
        held += fabs(ek_align_level(w.density, &h, .05, &error) - truth) < 1.96 * error;
    }
    ck_assert_int_ge(held, LEAST * TRIALS);
    ck_assert_int_le(held, MOST * TRIALS);
}
END_TEST

/* Prices that depend on nothing but the item leave no residuals: all lists are in one bin. */
START_TEST(lists_that_are_all_equal_narrow_the_interval_and_the_level)
{
    static struct windows w;
    float r[WINDOW_LISTS];
    struct ek_residuals h;
    windows_train(&w, 17);
    double last = 1, error;
    for (int lists = 25; lists <= WINDOW_LISTS; lists *= 2) {
        for (int i = 0; i < lists; i++)
            r[i] = (float)log(100);
        ek_residuals_get(&h, r, lists);
        struct ek_alignment a =
            ek_align(w.density, &h, &(struct ek_align_known){.01, 1, log(1.25)});
        double width = (a.high_ln - a.low_ln) / 2;
        ck_assert_msg(width >= .0196 && width < 1.02 * last, "%d lists: %g after %g", lists, width,
                      last);
        last = width;
        for (int i = 0; i < lists; i++)
            r[i] = 0;
        ek_residuals_get(&h, r, lists);
        ck_assert_double_eq_tol(ek_align_level(w.density, &h, 1, &error), 0, .02);
        ck_assert_double_lt(error, 2.5 * (double)w.baseline.sd / sqrt(lists));
    }
    ck_assert_double_lt(last, .06);
}
END_TEST

Suite *suite_align(void)
{
    return ek_suite(
        "align", lists_that_are_all_equal_narrow_the_interval_and_the_level,
        an_interval_holds_the_shift_of_all_lists, an_interval_holds_the_shift_of_some_lists,
        a_small_shift_of_all_lists_is_no_larger_one_of_some,
        lists_that_say_the_same_widen_the_interval, counts_in_bins_have_the_likelihood_of_the_lists,
        no_place_near_the_one_found_is_likelier, the_level_before_a_change_is_found_with_its_error);
}
