/* Evidence of parts of the traffic: adds up to that of the whole, and finds what no part could. */
#include "base/rng.h"
#include "decide/tick.h"
#include "tests/check.h"
#include "tests/stream.h"

#include <math.h>
#include <string.h>

enum { PARTS = 8, CELLS = 3, FEATURES = 3, TICK = 25, TRAINING = 20000 };

struct world {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_bet_tables tables;
    struct ek_feature_bets bets;
};

static struct world *world(void)
{
    static struct world w;
    w.manifest = stream_manifest();
    w.profile = stream_profile(w.manifest, TRAINING);
    ek_bet_tables_fill(&w.tables);
    ek_feature_bets_fill(&w.bets, &w.tables, &w.profile->baseline[0]);
    return &w;
}

static void leave(struct world *w)
{
    ek_profile_free(w->profile);
    ek_manifest_free(w->manifest);
}

/* What a list whose level is `shift` off says: the bets of one feature. */
static void say(const struct world *w, struct ek_rng *r, double shift, float *e)
{
    const struct ek_baseline *b = &w->profile->baseline[0];
    int k = 1 + (int)ek_rng_below(r, 20);
    struct ek_list_stats list = {
        .usable = (uint16_t)k, .spread = b->spread_mean[ek_size_class(k)], .share = {0, 0, 0, 0}};
    ek_bets_of(&w->tables, &w->bets, b, &list, (float)(shift + ek_rng_normal(r) / b->inv_sd[k]), e);
}

START_TEST(the_sum_over_parts_is_the_sum_over_the_whole_in_any_order)
{
    struct world *w = world();
    struct ek_tick *whole, *part[PARTS], *sum;
    struct ek_rng r;
    int order[PARTS];
    ek_rng_seed(&r, 31);
    ck_assert_int_eq(ek_tick_new(&whole, CELLS, FEATURES), 0);
    ck_assert_int_eq(ek_tick_new(&sum, CELLS, FEATURES), 0);
    for (int i = 0; i < PARTS; i++) {
        order[i] = i;
        ck_assert_int_eq(ek_tick_new(&part[i], CELLS, FEATURES), 0);
    }
    for (int i = 0; i < 4000; i++) {
        int cell = (int)ek_rng_below(&r, CELLS), feature = (int)ek_rng_below(&r, FEATURES);
        float e[EK_BETS];
        say(w, &r, i % 7 ? 0 : 4.6, e);
        ek_tick_add(whole, cell, feature, e);
        ek_tick_add(part[ek_rng_below(&r, PARTS)], cell, feature, e);
    }
    for (int round = 0; round < 20; round++) {
        ek_rng_shuffle(&r, order, PARTS);
        ek_tick_clear(sum);
        for (int i = 0; i < PARTS; i++)
            ek_tick_merge(sum, part[order[i]]);
        for (int c = 0; c < CELLS; c++)
            for (int f = 0; f < FEATURES; f++) {
                ck_assert_uint_eq(ek_tick_lists(sum, c, f), ek_tick_lists(whole, c, f));
                ck_assert_mem_eq(ek_tick_sums(sum, c, f), ek_tick_sums(whole, c, f),
                                 EK_BETS * sizeof(int64_t));
            }
    }
    for (int i = 0; i < PARTS; i++)
        ek_tick_free(part[i]);
    ek_tick_free(whole);
    ek_tick_free(sum);
    leave(w);
}
END_TEST

START_TEST(ticks_of_one_list_are_the_evidence_of_single_lists)
{
    struct world *w = world();
    struct ek_tick *t;
    struct ek_rng r;
    struct ek_evidence s;
    double want[EK_BETS] = {0};
    memset(&s, 0, sizeof s);
    ek_rng_seed(&r, 32);
    ck_assert_int_eq(ek_tick_new(&t, 1, 1), 0);
    for (int i = 0; i < 100; i++) {
        float e[EK_BETS];
        say(w, &r, .1, e);
        ek_tick_clear(t);
        ek_tick_add(t, 0, 0, e);
        ek_tick_apply(t, 0, 0, w->tables.weight, &s);
        for (int b = 0; b < EK_BETS; b++) {
            want[b] = (want[b] + 1) * e[b];
            ck_assert_double_eq_tol(s.r[b], want[b], 3e-3 * want[b] + 1e-9);
        }
    }
    ck_assert_uint_eq(s.queries, 100);
    ek_tick_free(t);
    leave(w);
}
END_TEST

/* Lists of each part until the alarm, at a shift of all; `pooled`: the sums of all parts. */
static int lists_until_alarm(const struct world *w, int parts, double shift)
{
    struct ek_alarm_level level = ek_alarm_level_of(1e7, 136, 1);
    struct ek_tick *t;
    struct ek_rng r;
    struct ek_evidence s;
    double total = 0;
    int ticks = 0;
    memset(&s, 0, sizeof s);
    ek_rng_seed(&r, 33);
    ck_assert_int_eq(ek_tick_new(&t, 1, 1), 0);
    for (; total < level.alarm && ticks < 400; ticks++) {
        ek_tick_clear(t);
        for (int i = 0; i < TICK * parts; i++) {
            float e[EK_BETS];
            say(w, &r, shift, e);
            ek_tick_add(t, 0, 0, e);
        }
        total = ek_tick_apply(t, 0, 0, w->tables.weight, &s);
    }
    ek_tick_free(t);
    return ticks * TICK;
}

START_TEST(eight_instances_together_need_a_part_of_the_lists_of_one)
{
    struct world *w = world();
    double shift = .5 / w->profile->baseline[0].inv_sd[10];
    int one = lists_until_alarm(w, 1, shift), eight = lists_until_alarm(w, PARTS, shift);
    ck_assert_msg(eight * 3 <= one, "%d lists each against %d", eight, one);
    leave(w);
}
END_TEST

Suite *suite_tick(void)
{
    return ek_suite("tick", the_sum_over_parts_is_the_sum_over_the_whole_in_any_order,
                    ticks_of_one_list_are_the_evidence_of_single_lists,
                    eight_instances_together_need_a_part_of_the_lists_of_one);
}
