/* Choice of k features from saliency maps, worked out by hand. */
#include "tests/check.h"

#include "offline/select/nfs.h"

#include <string.h>

enum { F = 6 };

/* 0 and 1 mostly occur together; 2 and 3 apart from them and from each other; 4 and 5 are in no
 * group. */
struct bench {
    double saliency[F], frequency[F], similarity[F * F];
    int copy_of[F];
    bool constant[F];
    struct ek_nfs n;
};

static void alike(struct bench *b, int i, int j, double i_with_j, double j_with_i)
{
    b->similarity[i * F + j] = i_with_j;
    b->similarity[j * F + i] = j_with_i;
}

static void bench_init(struct bench *b)
{
    *b = (struct bench){.saliency = {.5, .6, .4, .3, .2, .9},
                        .frequency = {100, 90, 50, 40, 0, 0},
                        .copy_of = {-1, -1, -1, -1, -1, -1}};
    for (int f = 0; f < F; f++)
        b->similarity[f * F + f] = b->frequency[f] > 0;
    alike(b, 0, 1, .8, .9);
    b->n = (struct ek_nfs){.features = F,
                           .saliency = b->saliency,
                           .frequency = b->frequency,
                           .similarity = b->similarity,
                           .copy_of = b->copy_of,
                           .constant = b->constant};
}

static void expect(const struct bench *b, int k, const int *expected)
{
    struct ek_error e;
    int chosen[F];
    ck_assert_int_eq(ek_nfs_choose(&b->n, k, chosen, &e), EK_OK);
    for (int i = 0; i < k; i++)
        ck_assert_msg(chosen[i] == expected[i], "k = %d, place %d: %d and not %d", k, i, chosen[i],
                      expected[i]);
}

START_TEST(of_each_cluster_the_most_frequent_is_chosen)
{
    struct bench b;
    bench_init(&b);
    expect(&b, 3, (int[]){0, 2, 3});
    alike(&b, 0, 2, .1, .2);
    alike(&b, 2, 3, .1, .1);
    expect(&b, 3, (int[]){0, 2, 3});
    expect(&b, 2, (int[]){0, 3});
    expect(&b, 1, (int[]){0});
}
END_TEST

START_TEST(features_that_share_no_group_are_not_merged)
{
    struct bench b;
    bench_init(&b);
    expect(&b, 1, (int[]){0});
    expect(&b, 2, (int[]){0, 2});
}
END_TEST

START_TEST(features_in_no_group_come_by_saliency_after_all_others)
{
    struct bench b;
    bench_init(&b);
    expect(&b, 4, (int[]){0, 1, 2, 3});
    expect(&b, 6, (int[]){0, 1, 2, 3, 5, 4});
}
END_TEST

START_TEST(copies_and_then_constants_come_last)
{
    struct bench b;
    bench_init(&b);
    b.copy_of[1] = 0;
    b.constant[5] = true;
    expect(&b, 6, (int[]){0, 2, 3, 4, 1, 5});
    expect(&b, 1, (int[]){0});
}
END_TEST

START_TEST(of_equal_features_the_lower_number_comes_first)
{
    struct bench b;
    bench_init(&b);
    for (int f = 0; f < F; f++) {
        b.frequency[f] = 0;
        b.saliency[f] = 1;
    }
    expect(&b, 6, (int[]){0, 1, 2, 3, 4, 5});
}
END_TEST

Suite *suite_nfs_choose(void)
{
    return ek_suite("nfs_choose", of_each_cluster_the_most_frequent_is_chosen,
                    features_that_share_no_group_are_not_merged,
                    features_in_no_group_come_by_saliency_after_all_others,
                    copies_and_then_constants_come_last,
                    of_equal_features_the_lower_number_comes_first);
}
