/* Violated pairs counted by sorting equal those counted pair by pair. */
#include "tests/check.h"

#include "base/rng.h"
#include "offline/scale/rank_svm.h"

#include <math.h>

enum { LISTS = 40, LONGEST = 150, ROUNDS = 30 };

struct scene {
    size_t offset[LISTS + 1];
    float label[LISTS * LONGEST];
    double score[LISTS * LONGEST], net[LISTS * LONGEST];
    struct ek_dataset d;
};

/* Many short lists and a few long ones, from one label for all items to distinct labels. */
static void draw(struct scene *s, struct ek_rng *r)
{
    s->offset[0] = 0;
    for (size_t q = 0; q < LISTS; q++) {
        size_t n = ek_rng_uniform_int(r, q % 8 ? 8 : LONGEST);
        uint64_t levels = 1 + ek_rng_uniform_int(r, q % 5 ? 4 : 200);
        s->offset[q + 1] = s->offset[q] + n;
        for (size_t i = s->offset[q]; i < s->offset[q + 1]; i++)
            s->label[i] = (float)ek_rng_uniform_int(r, levels) * .5f;
    }
    s->d = (struct ek_dataset){
        .lists = LISTS, .items = s->offset[LISTS], .offset = s->offset, .label = s->label};
}

/* On a grid of quarters, so that equal scores and margins of exactly 1 are common. */
static void score(struct scene *s, struct ek_rng *r, double spread)
{
    for (size_t i = 0; i < s->d.items; i++)
        s->score[i] = floor(4 * spread * ek_rng_normal(r)) / 4;
}

static void compare(struct scene *s, struct ek_rank_pairs *p)
{
    uint64_t found = ek_rank_pairs_violated(p, s->score, s->net), violated = 0, pairs = 0;
    for (size_t q = 0; q < LISTS; q++)
        for (size_t i = s->offset[q]; i < s->offset[q + 1]; i++) {
            double net = 0;
            for (size_t j = s->offset[q]; j < s->offset[q + 1]; j++) {
                bool better = s->label[i] > s->label[j], worse = s->label[i] < s->label[j];
                pairs += better;
                violated += better && s->score[i] - 1 < s->score[j];
                net += better && s->score[i] - 1 < s->score[j];
                net -= worse && s->score[j] - 1 < s->score[i];
            }
            ck_assert_double_eq(net, s->net[i]);
        }
    ck_assert_uint_eq(found, violated);
    ck_assert_uint_eq(ek_rank_pairs_count(p), pairs);
}

START_TEST(sorting_finds_the_pairs_that_looking_at_each_does)
{
    struct scene s;
    struct ek_rng r;
    struct ek_error e;
    ek_rng_seed(&r, 11);
    for (int round = 0; round < ROUNDS; round++) {
        struct ek_rank_pairs *p;
        draw(&s, &r);
        ck_assert_int_eq(ek_rank_pairs_new(&p, &s.d, &e), EK_OK);
        for (int again = 0; again < 4; again++) {
            score(&s, &r, again ? pow(4, again - 2) : 0);
            compare(&s, p);
        }
        ek_rank_pairs_free(p);
    }
}
END_TEST

Suite *suite_rank_pairs(void)
{
    return ek_suite("rank_pairs", sorting_finds_the_pairs_that_looking_at_each_does);
}
