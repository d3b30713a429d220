/* The bound on a fraction never exceeds the shifted lists, however they are placed. For lists
 * spread as in training, it increases with their distance. */
#include "assets/residual_grid.h"
#include "detect/fault_membership.h"

#include "tests/check.h"
#include "tests/windows.h"

enum { LISTS = 4000 };

struct pile {
    double at, width; /* standard deviations of training */
};

/* Draw residuals, a fraction forged at the most effective position. Return the number of forged
 * ones. */
static int forge(struct windows *w, const struct pile *p, double share, struct ek_residuals *h)
{
    static float r[LISTS];
    double sd = w->baseline.sd;
    float level;
    int forged = 0;
    for (int i = 0; i < LISTS; i++) {
        bool here = ek_rng_uniform(&w->rng) < share;
        double own = p->width * ek_rng_normal(&w->rng);
        r[i] = here ? (float)(sd * (p->at + own)) : window_list(w, WINDOW_ITEMS, NULL, 0, &level).r;
        forged += here;
    }
    ek_residuals_get(h, r, LISTS);
    return forged;
}

static double sure_of(const struct windows *w, const struct ek_alignment *a)
{
    return a->share * ek_share_bound(w->density, w->baseline.sd, a->share, a->shift_ln);
}

START_TEST(no_more_lists_are_sure_than_were_forged_where_a_list_counts_most)
{
    static struct windows w;
    struct ek_residuals h;
    int beyond = 0;
    windows_train(&w, 41);
    for (int i = 0; i < 48; i++) {
        const struct pile p = {(i % 2 ? -1 : 1) * (2 + .25 * (i % 12)), .1};
        int forged = forge(&w, &p, .02 + .01 * (i % 4), &h);
        struct ek_alignment a = ek_align(w.density, &h, &(struct ek_align_known){0, 1, 0});
        ck_assert_double_le(LISTS * sure_of(&w, &a), 1.15 * forged + 10);
        beyond += LISTS * a.share > 1.3 * forged;
    }
    ck_assert_int_gt(beyond, 16); /* otherwise the case is trivial */
}
END_TEST

START_TEST(lists_that_moved_far_are_sure)
{
    static struct windows w;
    windows_train(&w, 42);
    for (double share = .05; share < .9; share += .1) {
        ck_assert_double_ge(ek_share_bound(w.density, w.baseline.sd, share, log(100)), .98);
        ck_assert_double_ge(ek_share_bound(w.density, w.baseline.sd, share, -log(100)), .98);
    }
}
END_TEST

START_TEST(the_less_a_share_has_moved_the_less_of_it_is_sure)
{
    static struct windows w;
    windows_train(&w, 43);
    for (double share = .05; share < .9; share += .2)
        for (double by = .1, before = 0; by < 4; by *= 1.5) {
            double now = ek_share_bound(w.density, w.baseline.sd, share, by);
            ck_assert_double_ge(now, before - .005);
            ck_assert_double_le(now, 1);
            before = now;
        }
    ck_assert_double_lt(ek_share_bound(w.density, w.baseline.sd, .05, .1), .05);
    ck_assert_double_eq_tol(ek_share_bound(w.density, w.baseline.sd, .05, 0), 0, 1e-9);
}
END_TEST

/* Computed over all bins of the density. */
static double exact_part(const float *density, double share, double shift)
{
    double moved = 0, usual = 0, all = 0;
    for (int i = 0; i < EK_DENSITY_BINS; i++) {
        double r = EK_RESIDUAL_LOW + (i + .5) * EK_RESIDUAL_BIN;
        moved += density[i] * ek_shift_probability(density, share, shift, r + shift);
        usual += density[i] * ek_shift_probability(density, share, shift, r);
        all += density[i];
    }
    return (moved - usual) / (all - usual);
}

/* Density of two groups, such as two currencies. Return its standard deviation. */
static double two_groups(float *density, double second, double apart, double width)
{
    double mean = second * apart, variance = 0, all = 0;
    for (int i = 0; i < EK_DENSITY_BINS; i++) {
        double r = EK_RESIDUAL_LOW + (i + .5) * EK_RESIDUAL_BIN + mean;
        double at = r / width, from = (r - apart) / width;
        density[i] = (float)((1 - second) * exp(-.5 * at * at) + second * exp(-.5 * from * from));
        all += density[i];
        variance += density[i] * (r - mean) * (r - mean);
    }
    for (int i = 0; i < EK_DENSITY_BINS; i++)
        density[i] = (float)(density[i] / (all * EK_RESIDUAL_BIN) * (1 - EK_DENSITY_FLOOR) +
                             EK_DENSITY_FLOOR / EK_RESIDUAL_RANGE);
    return sqrt(variance / all);
}

START_TEST(lists_of_two_groups_are_as_sure_as_all_bins_say)
{
    static const double seconds[] = {.05, .2, .5}, aparts[] = {1, 3, 4.6, 9.2},
                        widths[] = {.1, .3, .47};
    static float density[EK_DENSITY_BINS];
    for (int i = 0; i < 3 * 4 * 3; i++) {
        double sd = two_groups(density, seconds[i % 3], aparts[i / 3 % 4], widths[i / 12]);
        for (double shift = -5; shift < 5; shift += .23)
            ck_assert_double_eq_tol(ek_share_bound(density, sd, .07, shift),
                                    fmax(exact_part(density, .07, shift), 0), .07);
    }
}
END_TEST

/* A fraction or shift that no fit produces, and a flat density. */
START_TEST(what_says_nothing_is_not_sure)
{
    static float flat[EK_DENSITY_BINS];
    for (int i = 0; i < EK_DENSITY_BINS; i++)
        flat[i] = 1 / (float)EK_RESIDUAL_RANGE;
    ck_assert_double_eq_tol(ek_share_bound(flat, .3, .05, 1), 0, 1e-9);
    ck_assert_double_eq_tol(ek_share_bound(flat, 0, 0, 1), 0, 1e-9);
    ck_assert_double_eq_tol(ek_share_bound(flat, .3, 1, 1), 0, 1e-9);
}
END_TEST

Suite *suite_share_bound(void)
{
    return ek_suite("sure", no_more_lists_are_sure_than_were_forged_where_a_list_counts_most,
                    lists_that_moved_far_are_sure,
                    the_less_a_share_has_moved_the_less_of_it_is_sure,
                    lists_of_two_groups_are_as_sure_as_all_bins_say, what_says_nothing_is_not_sure);
}
