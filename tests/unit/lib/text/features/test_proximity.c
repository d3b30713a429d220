/* Proximity on a text for hand calculation:
 *
 *   place  0  1  2  3  4  5  6  7  8  9 10 11 12
 *   text   a  b  .  .  b  .  a  .  .  c  .  a  b      a, b, c: terms 0, 1, 2 of the query
 */
#include "tests/check.h"
#include "text/features/proximity.h"

#include <math.h>

static const struct ek_place_of_term TEXT[] = {{0, 0}, {1, 1},  {4, 1}, {6, 0},
                                               {9, 2}, {11, 0}, {12, 1}};
enum { PLACES = sizeof TEXT / sizeof *TEXT };

START_TEST(ordered_pairs_are_right_behind_each_other)
{
    ck_assert_uint_eq(ek_ordered_pairs(TEXT, PLACES, 0, 1), 2);
    ck_assert_uint_eq(ek_ordered_pairs(TEXT, PLACES, 1, 0), 0);
    ck_assert_uint_eq(ek_ordered_pairs(TEXT, 0, 0, 1), 0);
}
END_TEST

START_TEST(windows_do_not_lie_over_each_other)
{
    /* 0-1, 4-6, 11-12. */
    ck_assert_uint_eq(ek_unordered_pairs(TEXT, PLACES, 0, 1, 8), 3);
    /* 0-1 and 11-12: 4-6 has three tokens. */
    ck_assert_uint_eq(ek_unordered_pairs(TEXT, PLACES, 0, 1, 2), 2);
    /* 6-9, then c is used up. */
    ck_assert_uint_eq(ek_unordered_pairs(TEXT, PLACES, 0, 2, 8), 1);
    ck_assert_uint_eq(ek_unordered_pairs(TEXT, PLACES, 0, 2, 3), 1); /* 9-11 */
    ck_assert_uint_eq(ek_unordered_pairs(TEXT, PLACES, 0, 2, 2), 0);
}
END_TEST

START_TEST(a_window_of_eight_has_eight_tokens)
{
    const struct ek_place_of_term apart[] = {{0, 0}, {7, 1}}, further[] = {{0, 0}, {8, 1}};
    ck_assert_uint_eq(ek_unordered_pairs(apart, 2, 0, 1, 8), 1);
    ck_assert_uint_eq(ek_unordered_pairs(further, 2, 0, 1, 8), 0);
}
END_TEST

START_TEST(the_cover_is_the_shortest_stretch_with_all_terms_there)
{
    uint32_t scratch[4];
    ck_assert_double_eq(ek_cover_tokens(TEXT, PLACES, 3, scratch), 4); /* 9 .. 12 */
    ck_assert_double_eq(ek_cover_tokens(TEXT, 4, 3, scratch), 2);      /* without c: 0 .. 1 */
    ck_assert(isnan(ek_cover_tokens(TEXT, 1, 3, scratch)));
}
END_TEST

START_TEST(distances_are_of_nearest_occurrences)
{
    uint32_t scratch[12];
    /* a-b 1, a-c 2 (9, 11), b-c 3 (9, 12). */
    struct ek_distances d = ek_pair_distances(TEXT, PLACES, 3, scratch);
    ck_assert_double_eq(d.min, 1);
    ck_assert_double_eq(d.mean, 2);
    ck_assert_double_eq(d.max, 3);
    ck_assert(isnan(ek_pair_distances(TEXT, 1, 3, scratch).min));
    ck_assert_double_eq_tol(ek_distance_decay(1), log(0.3 + exp(-1)), 1e-15);
}
END_TEST

START_TEST(neighbours_lend_each_other_their_weight)
{
    /* a at 0, b at 2, b at 3 (the same term: nothing), c at 7. w = 2, 0.5, 1.
     * a: 0.5/4 = 0.125; b: 2/4 + 1/16 = 0.5625; c: 0.5/16 = 0.03125; K = 1 with k1 = 1, b = 0.
     * 1 0.125 2 / 1.125 + 0.5 0.5625 2 / 1.5625 + 1 0.03125 2 / 1.03125 = 0.6428283 */
    const struct ek_place_of_term at[] = {{0, 0}, {2, 1}, {3, 1}, {7, 2}};
    const double w[] = {2, 0.5, 1};
    struct ek_proximity_norm norm = {1, 0, 1};
    double scratch[12];
    ck_assert_double_eq_tol(ek_neighbor_score(at, 4, w, 3, &norm, scratch),
                            0.25 / 1.125 + 0.5625 / 1.5625 + 0.0625 / 1.03125, 1e-12);
    /* a-b: 1/4 + 1/9, least weight 0.5; a-c: 1/49, 1; b-c: 1/25 + 1/16, 0.5. */
    double ab = 1. / 4 + 1. / 9, ac = 1. / 49, bc = 1. / 25 + 1. / 16;
    ck_assert_double_eq_tol(ek_pairs_score(at, 4, w, 3, &norm, scratch),
                            0.5 * 2 * ab / (ab + 1) + 2 * ac / (ac + 1) + 0.5 * 2 * bc / (bc + 1),
                            1e-12);
}
END_TEST

START_TEST(pairs_further_than_a_hundred_tokens_do_not_count)
{
    const struct ek_place_of_term near[] = {{0, 0}, {100, 1}}, far[] = {{0, 0}, {101, 1}};
    const double w[] = {1, 1};
    struct ek_proximity_norm norm = {1, 0, 1};
    double scratch[6];
    ck_assert_double_gt(ek_pairs_score(near, 2, w, 2, &norm, scratch), 0);
    ck_assert_double_eq(ek_pairs_score(far, 2, w, 2, &norm, scratch), 0);
}
END_TEST

START_TEST(the_dependence_model_weighs_terms_pairs_and_windows)
{
    struct ek_sdm_parameters p = ek_sdm_defaults();
    const struct ek_sdm_count term[] = {{2, 10}, {0, 5}, {0, 0}}; /* the last is in no document */
    const struct ek_sdm_count ordered[] = {{1, 3}, {0, 0}}, unordered[] = {{2, 4}, {0, 0}};
    double length = 20, tokens = 1000, mu = 2500;
    double t = (log((2 + mu * 0.01) / 2520) + log(mu * 0.005 / 2520)) / 2;
    double o = log((1 + mu * 0.003) / 2520), u = log((2 + mu * 0.004) / 2520);
    ck_assert_double_eq_tol(ek_sdm_score(&p, length, tokens, term, 3, ordered, unordered, 2),
                            0.85 * t + 0.1 * o + 0.05 * u, 1e-12);
    ck_assert(isnan(ek_sdm_score(&p, 0, tokens, term, 3, ordered, unordered, 2)));
    ck_assert(isnan(ek_sdm_score(&p, length, tokens, term + 2, 1, ordered, unordered, 0)));
}
END_TEST

Suite *suite_proximity(void)
{
    return ek_suite("proximity", ordered_pairs_are_right_behind_each_other,
                    windows_do_not_lie_over_each_other, a_window_of_eight_has_eight_tokens,
                    the_cover_is_the_shortest_stretch_with_all_terms_there,
                    distances_are_of_nearest_occurrences, neighbours_lend_each_other_their_weight,
                    pairs_further_than_a_hundred_tokens_do_not_count,
                    the_dependence_model_weighs_terms_pairs_and_windows);
}
