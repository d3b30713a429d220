/* Evidence steps: the plain bets of decide/bets.h, and the same bits on every instruction set, so
 * that machines of different kinds take the same decisions on the same stream.
 */
#include "base/rng.h"
#include "detect/list_stats_builder.h"
#include "detect/evidence_export.h"
#include "tests/bet_world.h"
#include "tests/check.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { FEATURES = EK_SYNTHETIC_FEATURES, LISTS = 400 };

START_TEST(every_instruction_set_takes_the_same_decisions)
{
    static struct ek_bet_world w;
    static struct ek_bet_evidence want, got;
    ek_synthetic_lists_run(EK_ISA_PORTABLE, 8, LISTS, &w, &want);
    for (int isa = 0; isa < EK_ISAS; isa++) {
        if (!ek_isa_has((enum ek_isa)isa))
            continue;
        ek_synthetic_lists_run((enum ek_isa)isa, 8, LISTS, &w, &got);
        ck_assert_mem_eq(&got, &want, sizeof want);
    }
}
END_TEST

static struct {
    struct ek_bet_tables tables;
    struct ek_baseline baseline[FEATURES];
    struct ek_feature_bets bets[FEATURES];
    float bet_scale[FEATURES][EK_BETS];
    struct ek_list_stats record[FEATURES];
    float band[48], most[48];
} x;

static void train(struct ek_rng *r)
{
    ek_bet_tables_fill(&x.tables);
    for (int f = 0; f < FEATURES; f++) {
        struct ek_baseline *b = &x.baseline[f];
        b->queries = 1 + ek_rng_uniform_int(r, 1000000);
        for (int k = 0; k < EK_SD_SIZES; k++)
            b->inv_sd[k] = (float)(1 + 5 * ek_rng_uniform(r));
        for (int c = 0; c < EK_SIZE_CLASSES; c++)
            b->spread_hi[c] =
                ek_rng_uniform_int(r, 4) ? (float)ek_rng_normal(r) : EK_SPREAD_UNKNOWN;
        for (int i = 0; i < EK_SHARES; i++)
            b->share[i] = (float)ek_rng_uniform(r);
        for (size_t i = 0; i < sizeof b->z_rank; i++)
            b->z_rank[i % 2][i / 2] = (uint8_t)ek_rng_uniform_int(r, 256);
        for (size_t i = 0; i < sizeof b->spread_rank; i++)
            ((uint8_t *)b->spread_rank)[i] = (uint8_t)ek_rng_uniform_int(r, 256);
        for (int i = 0; i < EK_RESPECTS; i++)
            b->deff[i] = ek_rng_uniform_int(r, 2) ? (float)(1 + 20 * ek_rng_uniform(r)) : 0;
        x.band[f] = (float)(.02 + .1 * ek_rng_uniform(r));
        x.most[f] = .18f;
        ek_feature_bets_fill(&x.bets[f], &x.tables, b);
        for (int i = 0; i < EK_BETS; i++)
            x.bet_scale[f][i] = (float)(1 - .2 * ek_rng_uniform(r));
    }
}

/* One list at a time, from no evidence: r is the bets themselves. */
START_TEST(a_step_multiplies_with_the_bets_of_the_list_and_so_do_the_products)
{
    static struct ek_bet_evidence s;
    struct ek_rng r;
    struct ek_bet_list *list;
    struct ek_evidence_sum *t;
    ck_assert_int_eq(ek_evidence_sum_new(&t, FEATURES), 0);
    ck_assert_int_eq(ek_evidence_sum_reserve(t, 1), 0);
    ek_rng_seed(&r, 9);
    train(&r);
    ck_assert_int_eq(ek_list_bets_new(&list, &x.tables, x.bets, x.baseline, FEATURES), 0);
    for (int i = 0; i < LISTS; i++) {
        float want[EK_BETS], moved[EK_BET_BLOCK];
        memset(&s, 0, offsetof(struct ek_bet_evidence, product));
        for (int f = 0; f < FEATURES; f++)
            s.mu[f] = (float)(.1 * ek_rng_normal(&r));
        const struct ek_bet_cell cell = {s.r,
                                         s.mu,
                                         s.all,
                                         x.band,
                                         s.queries,
                                         (const float(*)[EK_BETS])x.bet_scale,
                                         {200, .002f, 2, x.most},
                                         s.product};
        ek_synthetic_lists_draw(x.record, &r);
        ek_bet_list_update(list, x.record);
        for (int block = 0; block < 3; block++)
            ek_bet_step(list, &cell, block, block < 2 ? 0xffff : 1, s.largest, moved);
        for (int f = 0; f < FEATURES; f++) {
            ek_bets_compute(&x.bets[f], &x.baseline[f], x.band[f], &x.record[f],
                            x.record[f].r - s.mu[f], want);
            for (int b = 0; b < EK_BETS; b++)
                want[b] *= x.bet_scale[f][b];
            ck_assert_mem_eq(s.r[f], want, sizeof want);
            ck_assert_uint_eq(s.queries[f], 1);
            ek_evidence_sum_add(t, 0, f, want);
        }
    }
    ck_assert_mem_eq(s.product, ek_evidence_sum_products(t, 0), sizeof s.product);
    ek_evidence_sum_free(t);
    ek_list_bets_free(list);
}
END_TEST

START_TEST(a_feature_that_is_not_meant_stays_as_it_was)
{
    static struct ek_bet_world w;
    static struct ek_bet_evidence s;
    float before[EK_BET_LANES], largest[EK_BET_LANES], moved[EK_BET_BLOCK];
    ek_synthetic_lists_run(ek_isa_best(), 10, 20, &w, &s);
    const struct ek_bet_cell cell = {s.r,
                                     s.mu,
                                     s.all,
                                     w.band,
                                     s.queries,
                                     (const float(*)[EK_BET_LANES])w.bet_scale,
                                     {200, .002f, 2, w.most_level},
                                     NULL};
    uint32_t queries = s.queries[3];
    memcpy(before, s.r[3], sizeof before);
    ek_bet_step(&w.list, &cell, 0, 0xffff & ~(1 << 3), largest, moved);
    ck_assert_mem_eq(s.r[3], before, sizeof before);
    ck_assert_uint_eq(s.queries[3], queries);
    ck_assert_mem_eq(&moved[3], &s.mu[3], sizeof moved[3]);
    for (int f = 0; f < EK_BET_BLOCK; f++)
        for (int lane = 0; f != 3 && lane < EK_BET_LANES; lane++)
            ck_assert_float_ge(largest[lane], s.r[f][lane]);
}
END_TEST

START_TEST(totals_are_weighted_sums_that_no_smaller_evidence_exceeds)
{
    struct ek_rng r;
    float weight[EK_BET_LANES], small[EK_BET_LANES], large[EK_BET_LANES];
    ek_rng_seed(&r, 11);
    for (int i = 0; i < 1000; i++) {
        double all = 0, level = 0;
        for (int lane = 0; lane < EK_BET_LANES; lane++) {
            weight[lane] = (float)ek_rng_uniform(&r);
            small[lane] = (float)exp(4 * ek_rng_normal(&r));
            large[lane] =
                ek_rng_uniform_int(&r, 2) ? small[lane] : nextafterf(small[lane], INFINITY);
            all += (double)weight[lane] * small[lane];
            if (lane < 2 * EK_BET_ROW && lane % EK_BET_ROW < EK_BET_LEVEL_LANES)
                level += (double)weight[lane] * small[lane];
        }
        struct ek_bet_total low = ek_bet_total(small, weight), high = ek_bet_total(large, weight);
        ck_assert_double_eq_tol(low.all, all, 1e-5 * all);
        ck_assert_double_eq_tol(low.level, level, 1e-5 * level);
        ck_assert(low.all <= high.all && low.level <= high.level);
    }
}
END_TEST

/* The bets on shares of feature 0. */
static const float *on_shares(const uint8_t *share)
{
    static float e[EK_BETS];
    struct ek_list_stats record = {.r = NAN, .spread = NAN};
    memcpy(record.share, share, sizeof record.share);
    ek_bets_compute(&x.bets[0], &x.baseline[0], x.band[0], &record, 0, e);
    return e + EK_BET_SHARES;
}

START_TEST(a_share_that_is_not_known_is_no_evidence)
{
    struct ek_rng r;
    ek_rng_seed(&r, 12);
    train(&r);
    const float *e = on_shares((uint8_t[]){255, 32, 65, 64});
    const float(*line)[EK_BET_ROW] = (const float(*)[EK_BET_ROW])x.bets[0].line;
    ck_assert(e[0] == 1 && e[2] == 1 && e[4] == 1);
    int at = 32 + (line[1][5] < 0);
    ck_assert_msg(fabsf(e[5] - (line[0][5] + line[1][5] * (float)at)) < 1e-5f,
                  "the bold bets see the same shares");
}
END_TEST

START_TEST(a_bet_on_a_fall_takes_a_share_that_was_rounded_down_for_more)
{
    struct ek_rng r;
    ek_rng_seed(&r, 13);
    train(&r);
    memcpy(x.bets[0].line, (float[2][EK_BET_ROW]){{1.3f, .6f}, {-.01f, .02f}},
           sizeof x.bets[0].line);
    const float *e = on_shares((uint8_t[]){10, 10, 0, 0});
    ck_assert_float_eq_tol(e[0], 1.3f - .01f * 11, 1e-6);
    ck_assert_float_eq_tol(e[1], .6f + .02f * 10, 1e-6);
    ck_assert_float_eq_tol(on_shares((uint8_t[]){0, 0, 0, 0})[0], 1.3f, 1e-6);
}
END_TEST

Suite *suite_bet_steps(void)
{
    return ek_suite("bet_steps", every_instruction_set_takes_the_same_decisions,
                    a_step_multiplies_with_the_bets_of_the_list_and_so_do_the_products,
                    a_feature_that_is_not_meant_stays_as_it_was,
                    totals_are_weighted_sums_that_no_smaller_evidence_exceeds,
                    a_share_that_is_not_known_is_no_evidence,
                    a_bet_on_a_fall_takes_a_share_that_was_rounded_down_for_more);
}
