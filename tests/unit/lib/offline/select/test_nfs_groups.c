/* Saliency maps and the counting of their groups. */
#include "tests/check.h"

#include "base/rng.h"
#include "offline/select/nfs_saliency.h"

#include <math.h>
#include <string.h>

enum { F = 5 };
static const bool ALL[F] = {true, true, true, true, true};

START_TEST(a_group_is_what_is_salient_after_min_max)
{
    const float gradient[F] = {-4, 3.9f, 1, 2, 0.5f};
    double map[F];
    uint64_t bits;
    ck_assert(ek_nfs_map(gradient, ALL, ALL, F, .95, map, &bits));
    ck_assert_uint_eq(bits, 1 << 0 | 1 << 1);
    ck_assert_double_eq(map[0], 1);
    ck_assert_double_eq_tol(map[1], 3.4 / 3.5, 1e-6);
    ck_assert_double_eq(map[4], 0);
}
END_TEST

START_TEST(missing_and_constant_features_are_in_no_group)
{
    const float gradient[F] = {9, 8, 1, 2, 3};
    const bool there[F] = {false, true, true, true, true};
    const bool live[F] = {true, false, true, true, true};
    double map[F];
    uint64_t bits;
    ck_assert(ek_nfs_map(gradient, there, live, F, .95, map, &bits));
    ck_assert_uint_eq(bits, 1 << 4);
    ck_assert_double_eq(map[0], 0);
    ck_assert_double_eq(map[1], 0);
}
END_TEST

START_TEST(a_constant_map_has_no_group)
{
    const float equal[F] = {2, -2, 2, 2, 2}, none[F] = {0}, broken[F] = {1, NAN, 2, 3, 4};
    double map[F];
    uint64_t bits;
    ck_assert(!ek_nfs_map(equal, ALL, ALL, F, .95, map, &bits));
    ck_assert_uint_eq(bits, 0);
    ck_assert_double_eq(map[3], 1);
    ck_assert(!ek_nfs_map(none, ALL, ALL, F, .95, map, &bits));
    ck_assert_double_eq(map[3], 0);
    ck_assert(!ek_nfs_map(broken, ALL, ALL, F, .95, map, &bits));
    ck_assert_double_eq(map[4], 0);
}
END_TEST

/* Add random groups of 130 features, few enough that they repeat. */
static void add_some(struct ek_nfs_groups *g, uint64_t seed, int count)
{
    struct ek_rng r;
    ek_rng_seed(&r, seed);
    for (int i = 0; i < count; i++) {
        uint64_t bits[3] = {ek_rng_uniform_int(&r, 30), 0, ek_rng_uniform_int(&r, 30)};
        ck_assert_int_eq(ek_nfs_groups_add(g, bits, 1), 0);
    }
}

START_TEST(groups_are_counted_and_merged)
{
    struct ek_nfs_groups a, b, whole;
    ek_nfs_groups_init(&a, 130);
    ek_nfs_groups_init(&b, 130);
    ek_nfs_groups_init(&whole, 130);
    add_some(&a, 1, 3000);
    add_some(&b, 2, 2000);
    add_some(&whole, 1, 3000);
    add_some(&whole, 2, 2000);
    ck_assert_int_eq(ek_nfs_groups_merge(&a, &b), 0);
    ck_assert_uint_eq(a.maps, 5000);
    ck_assert_uint_eq(a.count, whole.count);
    ck_assert_uint_gt(a.count, 800);
    for (size_t i = 0; i < a.count; i++) {
        ck_assert_mem_eq(a.bits + i * a.words, whole.bits + i * a.words, a.words * 8);
        ck_assert_uint_eq(a.seen[i], whole.seen[i]);
    }
    ek_nfs_groups_release(&a);
    ek_nfs_groups_release(&b);
    ek_nfs_groups_release(&whole);
}
END_TEST

START_TEST(a_group_knows_its_features)
{
    struct ek_nfs_groups g;
    uint64_t bits[3] = {1, 0, 2};
    ek_nfs_groups_init(&g, 130);
    ck_assert_int_eq(ek_nfs_groups_add(&g, bits, 7), 0);
    ck_assert_uint_eq(ek_nfs_group_size(&g, 0), 2);
    for (size_t f = 0; f < 130; f++)
        ck_assert_int_eq(ek_nfs_group_has(&g, 0, f), f == 0 || f == 129);
    ck_assert_uint_eq(g.seen[0], 7);
    ek_nfs_groups_release(&g);
}
END_TEST

Suite *suite_nfs_groups(void)
{
    return ek_suite("nfs_groups", a_group_is_what_is_salient_after_min_max,
                    missing_and_constant_features_are_in_no_group, a_constant_map_has_no_group,
                    groups_are_counted_and_merged, a_group_knows_its_features);
}
