/* Laws, tables and lists made up at random, for tests of num/bet_steps.h. */
#ifndef EK_TESTS_BET_WORLD_H
#define EK_TESTS_BET_WORLD_H

#include "base/rng.h"
#include "num/bet_steps_isa.h"
#include "num/list_stats.h"

#include <math.h>
#include <string.h>

/* Two whole blocks and one feature. */
enum { EK_SYNTHETIC_FEATURES = 33, EK_SYNTHETIC_PADDED = 48, EK_SYNTHETIC_ROWS = 256 };

struct ek_bet_world {
    struct ek_evalue_null law[EK_SYNTHETIC_PADDED];
    float rows[EK_SYNTHETIC_ROWS][EK_BET_ROW], nothing[EK_SYNTHETIC_ROWS][EK_BET_ROW];
    float spread[EK_SYNTHETIC_ROWS][EK_BET_ROW], cap[EK_CAPS][EK_BET_ROW];
    const float *table[EK_SYNTHETIC_PADDED], *level[EK_SYNTHETIC_PADDED];
    const float *spreads[EK_SYNTHETIC_PADDED];
    float band[EK_SYNTHETIC_PADDED], most_level[EK_SYNTHETIC_PADDED];
    float inv_sd_of[EK_BET_COUNTS][EK_SYNTHETIC_PADDED],
        spread_hi[EK_BET_SIZES][EK_SYNTHETIC_PADDED];
    float r[EK_SYNTHETIC_PADDED], inv_sd[EK_SYNTHETIC_PADDED],
        most[EK_SYNTHETIC_PADDED][EK_BET_LANES];
    uint32_t shares[EK_SYNTHETIC_PADDED];
    float bet_scale[EK_SYNTHETIC_FEATURES][EK_BET_LANES];
    struct ek_list_stats record[EK_SYNTHETIC_FEATURES];
    struct ek_bet_list list;
};

/* Of a cell, by all the lists so far. */
struct ek_bet_evidence {
    float r[EK_SYNTHETIC_PADDED][EK_BET_LANES], mu[EK_SYNTHETIC_PADDED], all[EK_SYNTHETIC_PADDED];
    uint32_t queries[EK_SYNTHETIC_PADDED];
    struct ek_bet_product product[EK_SYNTHETIC_FEATURES]; /* of two lists in three */
    float largest[EK_BET_LANES];                          /* of the last block */
};

static inline void ek_synthetic_lists_rows(float (*row)[EK_BET_ROW], int count, float above,
                                           struct ek_rng *r)
{
    for (int i = 0; i < count; i++)
        for (int lane = 0; lane < EK_BET_ROW; lane++)
            row[i][lane] = lane < EK_BET_LEVEL_LANES ? (float)exp(.3 * ek_rng_normal(r)) : above;
}

static inline void ek_synthetic_lists_law(struct ek_bet_world *w, int f, struct ek_rng *r)
{
    struct ek_evalue_null *law = &w->law[f];
    for (size_t i = 0; i < sizeof law->z; i++)
        law->z[i / 2][i % 2] = (uint8_t)ek_rng_uniform_int(r, 256);
    for (size_t i = 0; i < sizeof law->spread; i++)
        ((uint8_t *)law->spread)[i] = (uint8_t)ek_rng_uniform_int(r, 256);
    for (int i = 0; i < EK_BET_ROW; i++) {
        law->line[0][i] = w->most[f][2 * EK_BET_ROW + i] = i % 2 ? .6f : 1.3f;
        law->line[1][i] = i % 2 ? .02f : -.01f;
    }
    w->table[f] = w->rows[0];
    w->spreads[f] = w->spread[0];
    w->band[f] = .02f + .01f * (float)(f % 3);
    w->most_level[f] = .06f * (float)(f % 4);
    for (int k = 0; k < EK_BET_COUNTS; k++)
        w->inv_sd_of[k][f] = ek_rng_uniform_int(r, 20) ? (float)(1 + 4 * ek_rng_uniform(r)) : 0;
    for (int c = 0; c < EK_BET_SIZES; c++)
        w->spread_hi[c][f] = ek_rng_uniform_int(r, 4) ? (float)ek_rng_normal(r) : 1e9f;
    for (int lane = 0; lane < EK_BET_LANES; lane++)
        w->bet_scale[f][lane] = (float)(1 - .1 * ek_rng_uniform(r));
}

static inline void ek_synthetic_lists_make(struct ek_bet_world *w, struct ek_rng *r)
{
    memset(w, 0, sizeof *w);
    ek_synthetic_lists_rows(w->rows, EK_SYNTHETIC_ROWS, 3.4e38f, r);
    ek_synthetic_lists_rows(w->spread, EK_SYNTHETIC_ROWS, 1, r);
    ek_synthetic_lists_rows(w->cap, EK_CAPS, 1, r);
    for (int i = 0; i < EK_SYNTHETIC_ROWS * EK_BET_ROW; i++) {
        int lane = i % EK_BET_ROW;
        w->nothing[i / EK_BET_ROW][lane] = lane < EK_BET_LEVEL_LANES ? 1 : 3.4e38f;
        if (lane >= EK_BET_LEVEL_LANES)
            w->spread[i / EK_BET_ROW][lane] = (float)exp(.3 * ek_rng_normal(r));
    }
    for (int f = 0; f < EK_SYNTHETIC_FEATURES; f++)
        ek_synthetic_lists_law(w, f, r);
    w->list = (struct ek_bet_list){
        .features = EK_SYNTHETIC_FEATURES,
        .padded = EK_SYNTHETIC_PADDED,
        .law = w->law,
        .table = w->table,
        .nothing = w->nothing[0],
        .spread = w->spreads,
        .cap = (const float(*)[EK_BET_ROW])w->cap,
        .spread_unknown = 1e9f,
        .inv_sd_of = w->inv_sd_of[0],
        .spread_hi = w->spread_hi[0],
        .level = w->level,
        .r = w->r,
        .inv_sd = w->inv_sd,
        .shares = w->shares,
        .most = w->most,
    };
}

/* A list; of one in two, all features have as many values. */
static inline void ek_synthetic_lists_draw(struct ek_list_stats *record, struct ek_rng *r)
{
    int same = ek_rng_uniform_int(r, 2) ? 1 + (int)ek_rng_uniform_int(r, 80) : -1;
    for (int f = 0; f < EK_SYNTHETIC_FEATURES; f++) {
        int k = same >= 0 ? same : (int)ek_rng_uniform_int(r, ek_rng_uniform_int(r, 2) ? 4 : 80);
        record[f] = (struct ek_list_stats){
            .r = k ? (float)(.5 * ek_rng_normal(r)) : NAN,
            .spread = k > 1 ? (float)(2 * ek_rng_normal(r)) : NAN,
            .usable = (uint16_t)k,
        };
        for (int i = 0; i < 4; i++)
            record[f].share[i] = (uint8_t)(ek_rng_uniform_int(r, 4)   ? 0
                                           : ek_rng_uniform_int(r, 4) ? ek_rng_uniform_int(r, 65)
                                                                      : 255);
    }
}

/* The stream of a seed under one instruction set: evidence at its end. */
static inline void ek_synthetic_lists_run(enum ek_isa isa, uint64_t seed, int lists,
                                          struct ek_bet_world *w, struct ek_bet_evidence *s)
{
    struct ek_rng r;
    struct ek_bet_kernels k = ek_bet_kernels_get(isa);
    float moved[EK_BET_BLOCK];
    ek_rng_seed(&r, seed);
    ek_synthetic_lists_make(w, &r);
    memset(s, 0, sizeof *s);
    const struct ek_bet_cell cell = {s->r,
                                     s->mu,
                                     s->all,
                                     w->band,
                                     s->queries,
                                     (const float(*)[EK_BET_LANES])w->bet_scale,
                                     {200, .002f, 2, w->most_level},
                                     s->product};
    struct ek_bet_cell plain = cell;
    plain.product = NULL;
    for (int f = 0; f < EK_SYNTHETIC_FEATURES; f++)
        s->all[f] = (float)(.1 * ek_rng_normal(&r));
    for (int i = 0; i < lists; i++) {
        ek_synthetic_lists_draw(w->record, &r);
        k.list(&w->list, w->record);
        for (int block = 0; block < EK_SYNTHETIC_PADDED / EK_BET_BLOCK; block++) {
            uint32_t mask = block < 2 ? (uint32_t)ek_rng_uniform_int(&r, 1 << EK_BET_BLOCK) : 1;
            k.step(&w->list, i % 3 ? &cell : &plain, block,
                   ek_rng_uniform_int(&r, 2) || block == 2 ? mask : 0xffff, s->largest, moved);
            memcpy(s->mu + block * EK_BET_BLOCK, moved, sizeof moved);
        }
    }
}

#endif
