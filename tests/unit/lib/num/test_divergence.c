/* Drift statistics: the published formulas, on bins finer than those of equal width. */
#include "base/rng.h"
#include "num/divergence.h"
#include "tests/check.h"

#include <math.h>

enum { TRAINING = 200000 };

static struct ek_sketch *empty(void)
{
    struct ek_sketch *s = NULL;
    ck_assert_int_eq(ek_sketch_new(&s), EK_OK);
    return s;
}

/* Return log-normal values with this mean and sd of ln x. */
static struct ek_sketch *heavy_tail(uint64_t seed, int values, double mean, double sd)
{
    struct ek_rng r;
    struct ek_sketch *s = empty();
    ek_rng_seed(&r, seed);
    for (int i = 0; i < values; i++)
        ek_sketch_add(s, (float)exp(mean + sd * ek_rng_normal(&r)), 1);
    return s;
}

static struct ek_divergence compare(const struct ek_sketch *reference, const struct ek_sketch *s)
{
    struct ek_bins bins;
    struct ek_divergence d;
    ek_bins_fill(&bins, reference);
    ek_divergence_compute(&bins, reference, s, &d);
    return d;
}

START_TEST(equal_sketches_differ_by_nothing)
{
    struct ek_sketch *a = heavy_tail(1, 10000, 3, 1.5), *many = empty();
    ek_sketch_add(a, NAN, 300);
    ek_sketch_add(a, 0.f, 700);
    ek_sketch_add(a, -5.f, 70);
    ek_sketch_add(a, -INFINITY, 7);
    for (int i = 0; i < 5; i++)
        ek_sketch_merge(many, a);
    struct ek_divergence d = compare(a, many);
    ck_assert_double_eq_tol(d.psi, 0, 1e-12);
    ck_assert_double_eq_tol(d.jensenshannon, 0, 1e-7);
    ck_assert_double_eq_tol(d.hellinger, 0, 1e-7);
    ck_assert_double_eq_tol(d.ks, 0, 1e-12);
    ck_assert_double_eq_tol(d.wasserstein, 0, 1e-9);
    ck_assert_double_eq_tol(d.wasserstein_ln, 0, 1e-12);
    ek_sketch_free(a);
    ek_sketch_free(many);
}
END_TEST

/* scipy 1.17 (ks_2samp, wasserstein_distance, jensenshannon with base 2) and numpy on the bucket
 * midpoints of these values. */
START_TEST(the_figures_are_those_of_scipy)
{
    struct ek_sketch *reference = empty(), *s = empty();
    struct ek_bins bins;
    for (int i = 0; i < 700; i++)
        ek_sketch_add(reference, (float)pow(1.01, i), 1);
    for (int i = 0; i < 500; i++)
        ek_sketch_add(s, (float)(2 * pow(1.013, i)), 1);
    struct ek_divergence d = compare(reference, s);
    ck_assert_double_eq_tol(d.ks, 0.1, 1e-12);
    ck_assert_double_eq_tol(d.wasserstein, 44.74203125000001, 1e-9);
    ck_assert_double_eq_tol(d.wasserstein_ln, 0.43813788955141725, 1e-12);
    ck_assert_double_eq_tol(d.jensenshannon, 0.23018427091152732, 1e-12);
    ck_assert_double_eq_tol(d.hellinger, 0.2281930246744371, 1e-12);
    ck_assert_double_eq_tol(d.psi, 0.399980047383884, 1e-12);
    ck_assert_double_eq_tol(d.psi_expected, 0.06171428571428571, 1e-12);
    ek_bins_fill(&bins, reference);
    ck_assert_int_eq(bins.count, 3 + 19);
    ek_sketch_free(reference);
    ek_sketch_free(s);
}
END_TEST

START_TEST(by_hand_where_a_bin_is_empty)
{
    struct ek_sketch *reference = empty(), *s = empty();
    ek_sketch_add(reference, 1.f, 50);
    ek_sketch_add(reference, 2.f, 50);
    ek_sketch_add(s, 1.f, 10);
    struct ek_divergence d = compare(reference, s);
    /* half an item of 10 in the empty bin */
    ck_assert_double_eq_tol(d.psi, (1 - .5) * log(1 / .5) + (.05 - .5) * log(.05 / .5), 1e-12);
    ck_assert_double_eq_tol(d.psi_expected, 1 / 10. + 1 / 100., 1e-12);
    ck_assert_double_eq_tol(d.ks, .5, 1e-12);
    ck_assert_double_eq_tol(d.hellinger, sqrt(1 - sqrt(.5)), 1e-12);
    ck_assert_double_eq_tol(d.jensenshannon,
                            sqrt(.5 * (.5 * log2(.5 / .75) + .5 * log2(2)) + .5 * log2(1 / .75)),
                            1e-12);
    ck_assert_double_eq_tol(
        d.wasserstein_ln,
        .5 * (ek_sketch_ln(ek_sketch_key(2.f)) - ek_sketch_ln(ek_sketch_key(1.f))), 1e-12);
    ek_sketch_free(reference);
    ek_sketch_free(s);
}
END_TEST

/* Return the stability index on bins of equal width over the reference's range, the common
 * definition. */
static double psi_of_equal_width(const struct ek_sketch *reference, const struct ek_sketch *s)
{
    enum { BINS = 20 };
    struct ek_sketch_summary sum;
    double p[BINS] = {0}, q[BINS] = {0}, psi = 0;
    ek_sketch_summarize(reference, &sum);
    for (int key = 0; key < EK_SKETCH_INF; key++) {
        double at = (ek_sketch_value((uint16_t)key) - sum.low) / (sum.high - sum.low) * BINS;
        int bin = at < 0 ? 0 : at >= BINS ? BINS - 1 : (int)at;
        p[bin] += (double)ek_sketch_count(reference, (uint16_t)key);
        q[bin] += (double)ek_sketch_count(s, (uint16_t)key);
    }
    for (int i = 0; i < BINS; i++) {
        double from = fmax(p[i] / (double)ek_sketch_total(reference), EK_PSI_FLOOR);
        double to = fmax(q[i] / (double)ek_sketch_total(s), EK_PSI_FLOOR);
        psi += (to - from) * log(to / from);
    }
    return psi;
}

START_TEST(a_heavy_tail_is_seen_where_equal_width_is_blind)
{
    struct ek_sketch *reference = heavy_tail(2, TRAINING, 5, 2.5);
    struct ek_sketch *up = heavy_tail(3, 20000, 5 + log(100), 2.5);
    struct ek_sketch *down = heavy_tail(4, 20000, 5 - log(100), 2.5);
    ck_assert(compare(reference, up).psi > 2);
    ck_assert(compare(reference, down).psi > 2);
    ck_assert(psi_of_equal_width(reference, down) < .1);
    ck_assert(psi_of_equal_width(reference, up) < compare(reference, up).psi / 2);
    ck_assert_double_eq_tol(compare(reference, down).wasserstein_ln, log(100), .05);
    ck_assert_double_eq_tol(compare(reference, up).wasserstein_ln, log(100), .05);
    ck_assert_double_eq_tol(compare(reference, reference).psi, 0, 1e-12);
    ek_sketch_free(reference);
    ek_sketch_free(up);
    ek_sketch_free(down);
}
END_TEST

START_TEST(what_became_missing_zero_or_negative_is_seen)
{
    struct ek_sketch *reference = heavy_tail(5, TRAINING, 3, 1), *s = heavy_tail(6, 5000, 3, 1);
    ek_sketch_add(s, NAN, 2500);
    ck_assert(compare(reference, s).psi > .5);
    ck_assert(compare(reference, s).ks < .05);
    ek_sketch_free(s);
    s = heavy_tail(7, 5000, 3, 1);
    ek_sketch_add(s, -0.f, 2500);
    ck_assert(compare(reference, s).psi > .5);
    ek_sketch_free(s);
    s = empty();
    for (int key = 0; key < EK_SKETCH_INF; key++)
        ek_sketch_add(s, (float)-ek_sketch_value((uint16_t)key),
                      ek_sketch_count(reference, (uint16_t)key));
    ck_assert(compare(reference, s).psi > 5);
    ck_assert_double_eq_tol(compare(reference, s).ks, 1, 1e-12);
    ck_assert_double_eq_tol(compare(reference, s).wasserstein_ln, 0, 1e-12);
    ek_sketch_free(reference);
    ek_sketch_free(s);
}
END_TEST

START_TEST(both_zeros_are_one_value)
{
    struct ek_sketch *a = empty(), *b = empty();
    ek_sketch_add(a, 0.f, 10);
    ek_sketch_add(b, -0.f, 10);
    ck_assert_double_eq_tol(compare(a, b).ks, 0, 1e-12);
    ck_assert_double_eq_tol(compare(a, b).psi, 0, 1e-12);
    ck_assert_double_eq_tol(compare(a, b).wasserstein, 0, 1e-12);
    ck_assert(isnan(compare(a, b).wasserstein_ln));
    ek_sketch_free(a);
    ek_sketch_free(b);
}
END_TEST

START_TEST(an_empty_side_has_no_figures)
{
    struct ek_sketch *none = empty(), *some = empty();
    ek_sketch_add(some, 3.f, 10);
    ck_assert(isnan(compare(none, some).psi) && isnan(compare(some, none).psi));
    ck_assert(isnan(compare(some, none).ks) && isnan(compare(none, none).wasserstein_ln));
    ek_sketch_add(none, NAN, 4);
    ck_assert(compare(some, none).psi > 1 && isnan(compare(some, none).ks));
    ek_sketch_free(none);
    ek_sketch_free(some);
}
END_TEST

START_TEST(a_heavy_value_has_a_bin_of_its_own)
{
    struct ek_sketch *s = empty();
    struct ek_bins b;
    for (int i = 0; i < 100; i++)
        ek_sketch_add(s, (float)exp(i / 20.), 1);
    ek_sketch_add(s, 20.f, 60);
    ek_sketch_add(s, NAN, 40);
    ek_bins_fill(&b, s);
    double sum = 0;
    int heavy = 0;
    for (int i = 0; i < b.count; i++) {
        sum += b.share[i];
        heavy += fabs(b.share[i] - 60 / 200.) < .006;
    }
    ck_assert_double_eq_tol(sum, 1, 1e-12);
    ck_assert_int_eq(heavy, 1);
    ck_assert_double_eq_tol(b.share[0], .2, 1e-12);
    ck_assert(b.share[1] == 0);
    ek_sketch_free(s);
}
END_TEST

START_TEST(every_key_as_heavy_as_a_bin_still_fits)
{
    struct ek_sketch *s = empty();
    struct ek_bins b;
    for (int i = 1; i <= EK_BINS / 2 - 1; i++)
        for (int sign = -1; sign < 2; sign += 2) {
            ek_sketch_add(s, (float)(sign * 10 * i), 100);
            ek_sketch_add(s, (float)(sign * (10 * i + 5)), 1);
        }
    ek_bins_fill(&b, s);
    ck_assert_int_le(b.count, EK_BINS_MAX);
    struct ek_divergence d;
    ek_divergence_compute(&b, s, s, &d);
    ck_assert_double_eq_tol(d.psi, 0, 1e-12);
    ek_sketch_free(s);
}
END_TEST

/* The reported expected value equals the statistic without a change. */
START_TEST(small_samples_have_the_index_that_is_announced)
{
    enum { SAMPLES = 400, ITEMS = 400 };
    struct ek_sketch *reference = heavy_tail(8, TRAINING, 3, 1);
    double sum = 0, expected = 0;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        struct ek_sketch *s = heavy_tail(100 + i, ITEMS, 3, 1);
        struct ek_divergence d = compare(reference, s);
        sum += d.psi / SAMPLES;
        expected = d.psi_expected;
        ek_sketch_free(s);
    }
    ck_assert_double_eq_tol(sum / expected, 1, .1);
    ek_sketch_free(reference);
}
END_TEST

Suite *suite_divergence(void)
{
    return ek_suite("divergence", equal_sketches_differ_by_nothing, the_figures_are_those_of_scipy,
                    by_hand_where_a_bin_is_empty, a_heavy_tail_is_seen_where_equal_width_is_blind,
                    what_became_missing_zero_or_negative_is_seen, both_zeros_are_one_value,
                    an_empty_side_has_no_figures, a_heavy_value_has_a_bin_of_its_own,
                    every_key_as_heavy_as_a_bin_still_fits,
                    small_samples_have_the_index_that_is_announced);
}
