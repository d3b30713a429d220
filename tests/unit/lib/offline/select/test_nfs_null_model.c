/* Chance groups of features: the null model against its own draws, and against a planted group. */
#include "tests/check.h"

#include "base/rng.h"
#include "offline/select/nfs.h"
#include "offline/select/nfs_saliency.h"

#include <math.h>
#include <string.h>

static double choose(int n, int k)
{
    double c = 1;
    for (int i = 0; i < k; i++)
        c = c * (n - i) / (i + 1);
    return c;
}

START_TEST(all_groups_together_have_probability_1)
{
    for (int features = 2; features <= 200; features += 33) {
        double sum = 0;
        for (int g = 1; g < features; g++)
            sum += choose(features, g) *
                   exp(ek_nfs_ln_probability((uint64_t)features, (uint64_t)g, .95));
        ck_assert_double_eq_tol(sum, 1, 1e-9);
    }
    ck_assert(isinf(ek_nfs_ln_probability(5, 0, .95)));
    ck_assert(isinf(ek_nfs_ln_probability(5, 5, .95)));
}
END_TEST

START_TEST(the_tail_of_a_binomial_is_the_sum_of_its_terms)
{
    for (int n = 1; n <= 60; n += 7)
        for (double p = .01; p < 1; p += .13)
            for (int c = 0; c <= n + 1; c++) {
                double sum = 0;
                for (int k = c; k <= n; k++)
                    sum += choose(n, k) * pow(p, k) * pow(1 - p, n - k);
                double tail = exp(ek_ln_binomial_tail((uint64_t)n, log(p), (uint64_t)c));
                ck_assert_double_eq_tol(tail, sum, 1e-9 + 1e-9 * sum);
            }
}
END_TEST

START_TEST(tails_far_out_are_logarithms_that_do_not_vanish)
{
    /* 1,000 of 100,000 with p = 1e-9: about (1e-4)^1000 / 1000! */
    double ln = ek_ln_binomial_tail(100000, log(1e-9), 1000);
    ck_assert_double_eq_tol(ln, 1000 * log(1e-4) - lgamma(1001), 10);
    /* p itself is below the range of a double. */
    ck_assert_double_eq_tol(ek_ln_binomial_tail(1000, -2000, 1), -2000 + log(1000), 1e-6);
    ck_assert_double_eq(ek_nfs_null_model(4096, 200, .95, 100000, 3) < 1e-300, 1);
}
END_TEST

enum { F = 10 };

/* Draw a random map's group as from training with random gradients. */
static void draw_group(struct ek_rng *r, double threshold, uint64_t *bits)
{
    float gradient[F];
    double map[F];
    bool yes[F];
    for (size_t f = 0; f < F; f++) {
        gradient[f] = (float)(ek_rng_uniform(r) - 1);
        yes[f] = true;
    }
    ck_assert(ek_nfs_map(gradient, yes, yes, F, threshold, map, bits));
}

START_TEST(random_maps_have_groups_as_often_as_computed)
{
    enum { MAPS = 40000 };
    const double threshold = .8;
    int size[F] = {0}, first = 0;
    struct ek_rng r;
    ek_rng_seed(&r, 3);
    for (int i = 0; i < MAPS; i++) {
        uint64_t bits;
        draw_group(&r, threshold, &bits);
        size[__builtin_popcountll(bits)]++;
        first += bits == 1;
    }
    for (int g = 1; g < F; g++) {
        double p = choose(F, g) * exp(ek_nfs_ln_probability(F, (uint64_t)g, threshold));
        ck_assert_double_eq_tol(size[g], MAPS * p, 5 * sqrt(MAPS * p) + 1);
    }
    double p = exp(ek_nfs_ln_probability(F, 1, threshold));
    ck_assert_double_eq_tol(first, MAPS * p, 5 * sqrt(MAPS * p));
}
END_TEST

/* Return whether a group, or any (0), is kept among random maps of which every `each`-th (0: none)
 * is a planted group. */
static bool kept(uint64_t seed, int maps, int each, uint64_t planted)
{
    struct ek_nfs_groups g;
    struct ek_rng r;
    bool found = false;
    ek_rng_seed(&r, seed);
    ek_nfs_groups_init(&g, F);
    for (int i = 0; i < maps; i++) {
        uint64_t bits;
        draw_group(&r, .9, &bits);
        bits = each && i % each == 0 ? planted : bits;
        ck_assert_int_eq(ek_nfs_groups_add(&g, &bits, 1), 0);
    }
    for (size_t i = 0; i < g.count; i++)
        found =
            found || ((!planted || g.bits[i] == planted) &&
                      ek_nfs_null_model(F, ek_nfs_group_size(&g, i), .9, g.maps, g.seen[i]) <= .02);
    ek_nfs_groups_release(&g);
    return found;
}

START_TEST(groups_of_chance_are_dropped)
{
    int wrong = 0;
    for (uint64_t seed = 0; seed < 200; seed++)
        wrong += kept(seed, 300, 0, 0);
    /* Up to .02 for each size that occurs, about 4. */
    ck_assert_int_le(wrong, 16);
}
END_TEST

START_TEST(a_planted_group_is_kept)
{
    int found = 0;
    for (uint64_t seed = 0; seed < 50; seed++)
        found += kept(seed, 300, 20, 1 << 2 | 1 << 5 | 1 << 6);
    ck_assert_int_eq(found, 50);
}
END_TEST

START_TEST(a_large_group_seen_once_is_no_finding)
{
    ck_assert_double_gt(ek_nfs_null_model(46, 4, .95, 10000, 1), 1);
    ck_assert_double_gt(ek_nfs_null_model(136, 12, .95, 100000, 1), .02);
    ck_assert_double_lt(ek_nfs_null_model(46, 4, .95, 10000, 5), 1e-6);
}
END_TEST

START_TEST(two_features_are_each_ahead_in_half_of_the_maps)
{
    ck_assert_double_eq_tol(exp(ek_nfs_ln_probability(2, 1, .95)), .5, 1e-12);
    ck_assert_double_gt(ek_nfs_null_model(2, 1, .95, 1000, 510), .02);
    ck_assert_double_lt(ek_nfs_null_model(2, 1, .95, 1000, 600), .02);
}
END_TEST

Suite *suite_nfs_null_model(void)
{
    return ek_suite("nfs_chance", all_groups_together_have_probability_1,
                    the_tail_of_a_binomial_is_the_sum_of_its_terms,
                    tails_far_out_are_logarithms_that_do_not_vanish,
                    random_maps_have_groups_as_often_as_computed, groups_of_chance_are_dropped,
                    a_planted_group_is_kept, a_large_group_seen_once_is_no_finding,
                    two_features_are_each_ahead_in_half_of_the_maps);
}
