/* Evidence reports of parts add up to the evidence of all traffic, and detect faults that no part
 * detects alone. */
#include "base/rng.h"
#include "detect/evidence.h"
#include "detect/list_stats_builder.h"
#include "detect/evidence_export.h"
#include "tests/check.h"
#include "tests/stream.h"

#include <math.h>
#include <string.h>

enum { PARTS = 8, CELLS = 3, FEATURES = 3, LISTS = 4000, TICK = 25, TRAINING = 20000 };

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

/* Set the e-values of one feature for a list with a level off by `shift`. */
static void say(const struct world *w, struct ek_rng *r, double shift, float *e)
{
    const struct ek_baseline *b = &w->profile->baseline[0];
    int k = 1 + (int)ek_rng_uniform_int(r, 20);
    struct ek_list_stats list = {
        .usable = (uint16_t)k, .spread = b->spread_mean[ek_size_class(k)], .share = {0, 0, 0, 0}};
    ek_bets_compute(&w->bets, b, EK_DEAD_BAND_LEVEL_LN, &list,
                    (float)(shift + ek_rng_normal(r) / b->inv_sd[k]), e);
}

static struct ek_evidence_sum *new_tick(void)
{
    struct ek_evidence_sum *t;
    ck_assert_int_eq(ek_evidence_sum_new(&t, FEATURES), 0);
    ck_assert_int_eq(ek_evidence_sum_reserve(t, CELLS), 0);
    return t;
}

static void merge_all(struct ek_evidence_sum_values *into, struct ek_evidence_sum *const *part,
                      const int *order, int cell, int feature)
{
    memset(into, 0, sizeof *into);
    for (int i = 0; i < PARTS; i++) {
        struct ek_evidence_sum_values one;
        ek_evidence_sum_values(part[order[i]], cell, feature, &one);
        ek_evidence_sum_merge(into, &one);
    }
}

/* Reported sums are integers, so their order does not matter. They may be below the sum over lists
 * by rounding and one unit per part, never above. */
START_TEST(sums_of_parts_add_up_in_any_order_to_no_more_than_their_lists_said)
{
    struct world *w = world();
    struct ek_evidence_sum *part[PARTS];
    static double said[CELLS][FEATURES][EK_BETS];
    static uint64_t lists[CELLS][FEATURES];
    struct ek_rng r;
    int order[PARTS];
    ek_rng_seed(&r, 31);
    for (int i = 0; i < PARTS; i++) {
        order[i] = i;
        part[i] = new_tick();
    }
    for (int i = 0; i < LISTS; i++) {
        int cell = (int)ek_rng_uniform_int(&r, CELLS),
            feature = (int)ek_rng_uniform_int(&r, FEATURES);
        float e[EK_BETS];
        say(w, &r, i % 7 ? 0 : 4.6, e);
        ek_evidence_sum_add(part[ek_rng_uniform_int(&r, PARTS)], cell, feature, e);
        lists[cell][feature]++;
        for (int b = 0; b < EK_BETS; b++)
            said[cell][feature][b] += log((double)e[b]);
    }
    for (int c = 0; c < CELLS; c++)
        for (int f = 0; f < FEATURES; f++) {
            struct ek_evidence_sum_values want, sum;
            merge_all(&want, part, order, c, f);
            ek_rng_shuffle(&r, order, PARTS);
            merge_all(&sum, part, order, c, f);
            ck_assert_mem_eq(&sum, &want, sizeof sum);
            ck_assert_uint_eq(sum.lists, lists[c][f]);
            double short_of = PARTS * EK_EVIDENCE_SUM_UNIT + 4e-7 * (double)lists[c][f];
            for (int b = 0; b < EK_BETS; b++) {
                double sum_ln = (double)sum.ln[b] * EK_EVIDENCE_SUM_UNIT;
                ck_assert(sum_ln <= said[c][f][b]);
                ck_assert(sum_ln >= said[c][f][b] - short_of);
            }
        }
    for (int i = 0; i < PARTS; i++)
        ek_evidence_sum_free(part[i]);
    leave(w);
}
END_TEST

START_TEST(bets_far_from_one_neither_overflow_nor_vanish)
{
    struct ek_evidence_sum *t = new_tick();
    float e[EK_BETS];
    struct ek_evidence_sum_values sums;
    for (int b = 0; b < EK_BETS; b++)
        e[b] = b % 4 == 0 ? 1e30f : b % 4 == 1 ? 0 : b % 4 == 2 ? NAN : 1e-9f;
    for (int i = 0; i < LISTS; i++)
        ek_evidence_sum_add(t, 0, 0, e);
    ek_evidence_sum_values(t, 0, 0, &sums);
    for (int b = 0; b < EK_BETS; b++) {
        double want = LISTS * log(b % 4 ? 1e-9 : 1e30);
        ck_assert_double_eq_tol((double)sums.ln[b] * EK_EVIDENCE_SUM_UNIT, want, 1e-6 * fabs(want));
    }
    ek_evidence_sum_free(t);
}
END_TEST

START_TEST(a_tick_that_was_cleared_or_a_cell_that_was_forgotten_has_no_lists)
{
    struct ek_evidence_sum *t = new_tick();
    float e[EK_BETS];
    struct ek_evidence_sum_values sums;
    for (int b = 0; b < EK_BETS; b++)
        e[b] = 2;
    ek_evidence_sum_add(t, 1, 2, e);
    ek_evidence_sum_add(t, 0, 2, e);
    ek_evidence_sum_reset(t, 1);
    ck_assert_uint_eq(ek_evidence_sum_lists(t, 1, 2), 0);
    ck_assert_uint_eq(ek_evidence_sum_lists(t, 0, 2), 1);
    ek_evidence_sum_clear(t);
    ck_assert_uint_eq(ek_evidence_sum_lists(t, 0, 2), 0);
    ek_evidence_sum_add(t, 0, 2, e);
    ek_evidence_sum_values(t, 0, 2, &sums);
    ck_assert_int_eq(sums.ln[0], (int64_t)floor((M_LN2 - 2e-7) / EK_EVIDENCE_SUM_UNIT));
    ek_evidence_sum_free(t);
}
END_TEST

/* Below it by one unit a list at most. */
START_TEST(ticks_of_one_list_are_the_evidence_of_single_lists)
{
    struct world *w = world();
    struct ek_evidence_sum *t = new_tick();
    struct ek_rng r;
    float got[EK_BETS] = {0};
    double want[EK_BETS] = {0}, low[EK_BETS] = {0};
    ek_rng_seed(&r, 32);
    for (int i = 0; i < 100; i++) {
        float e[EK_BETS];
        struct ek_evidence_sum_values sums;
        say(w, &r, .1, e);
        ek_evidence_sum_clear(t);
        ek_evidence_sum_add(t, 0, 0, e);
        ek_evidence_sum_values(t, 0, 0, &sums);
        ek_evidence_sum_apply(&sums, w->tables.weight, got);
        for (int b = 0; b < EK_BETS; b++) {
            want[b] = (want[b] + 1) * (double)e[b];
            low[b] = (low[b] + 1) * (double)e[b] * exp(-EK_EVIDENCE_SUM_UNIT - 1e-6);
            ck_assert_double_le((double)got[b], want[b] * (1 + 1e-5));
            ck_assert_double_ge((double)got[b], low[b] * (1 - 1e-5));
        }
    }
    ek_evidence_sum_free(t);
    leave(w);
}
END_TEST

/* Return the lists per part until the alarm for a shift of all; with `parts` > 1, by the sums. */
static int lists_until_alarm(const struct world *w, int parts, double shift)
{
    struct ek_alarm_level level = ek_alarm_level_compute(1e7, 136, 1);
    struct ek_evidence_sum *t = new_tick();
    struct ek_rng r;
    float evidence[EK_BETS] = {0};
    double total = 0;
    int ticks = 0;
    ek_rng_seed(&r, 33);
    for (; total < level.alarm && ticks < 400; ticks++) {
        struct ek_evidence_sum_values sums;
        ek_evidence_sum_clear(t);
        for (int i = 0; i < TICK * parts; i++) {
            float e[EK_BETS];
            say(w, &r, shift, e);
            ek_evidence_sum_add(t, 0, 0, e);
        }
        ek_evidence_sum_values(t, 0, 0, &sums);
        total = ek_evidence_sum_apply(&sums, w->tables.weight, evidence);
    }
    ek_evidence_sum_free(t);
    return ticks * TICK;
}

START_TEST(eight_instances_together_need_a_part_of_the_lists_of_one)
{
    struct world *w = world();
    double shift = .5 / (double)w->profile->baseline[0].inv_sd[10];
    int one = lists_until_alarm(w, 1, shift), eight = lists_until_alarm(w, PARTS, shift);
    ck_assert_msg(eight * 3 <= one, "%d lists each against %d", eight, one);
    leave(w);
}
END_TEST

Suite *suite_evidence_report(void)
{
    return ek_suite("tick", sums_of_parts_add_up_in_any_order_to_no_more_than_their_lists_said,
                    bets_far_from_one_neither_overflow_nor_vanish,
                    a_tick_that_was_cleared_or_a_cell_that_was_forgotten_has_no_lists,
                    ticks_of_one_list_are_the_evidence_of_single_lists,
                    eight_instances_together_need_a_part_of_the_lists_of_one);
}
