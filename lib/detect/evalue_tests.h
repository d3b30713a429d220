/* The bets: functions of a list's statistics whose expectation is at most 1 while nothing has
 * happened, so that their product is evidence (testing by betting; Shafer 2021).
 *
 * A residual z becomes a rank score y = Phi^-1(1 - p), p = P_training(Z >= z), on a grid of 1/32. A
 * bet does not decrease in y, and z is first moved by the dead-band: no real shift inside the
 * dead-band, however it varies, lifts its expectation above 1. Each table is divided by its exact
 * mean on the grid.
 *
 * Level bets, up and down: A slow shifts of all lists; B medium ones; C a share of the lists; D far
 * values in 1% of the lists; E the same under heavy tails; F far values in a tenth or more. How far
 * "far" is follows from the training: D and F bet on values that it had once in `far_p` lists.
 * Spread, up and down, of most lists and of some. Shares missing, zero, negative, tied: a cautious
 * bet for a small rise and a bold one for a large; where most are missing or zero, the bold one is
 * on their becoming fewer, where all are, both. Lanes as in num/bet_steps.h.
 */
#ifndef EK_DETECT_EVALUE_TESTS_H
#define EK_DETECT_EVALUE_TESTS_H

#include "assets/profile.h"
#include "num/bet_steps.h"
#include "num/list_stats.h"

#include <stdbool.h>

enum {
    EK_BETS = EK_BET_LANES,
    EK_LEVEL_BETS = EK_BET_LEVEL_LANES, /* in one direction */
    EK_BET_SPREAD_UP = 6,
    EK_BET_SPREAD_FAR = 7, /* of some lists */
    EK_BET_DOWN = 8,       /* the bets down: the same, so many lanes later */
    EK_BET_SPREAD_DOWN = EK_BET_DOWN + EK_BET_SPREAD_UP,
    EK_BET_SHARES = 16,
    EK_TABLE_ROWS = 256,
    EK_FAR_CLASSES = 6,
    EK_FAR_NOTHING = EK_FAR_CLASSES, /* the table of what has no level: 1 */
    EK_LEVEL_TABLES
};

/* More than any bet is worth. */
#define EK_ABOVE_BETS 3.4e38f

/* Rows of a table are y >= ek_table_y(row); a row has the lanes of one direction. Of the bets on
 * spread, tables of the level say EK_ABOVE_BETS. */
struct ek_bet_tables {
    float level[EK_LEVEL_TABLES][EK_TABLE_ROWS][EK_BET_ROW];
    float spread[EK_TABLE_ROWS][EK_BET_ROW];
    float weight[EK_BETS]; /* sums to 1 */
};

/* What the bets of one feature need beside its baseline. */
struct ek_feature_bets {
    const float (*level)[EK_BET_ROW]; /* of the tables */
    float line[2][EK_BET_ROW];        /* a and b of the share bets */
};

/* Phi and its inverse, to about 1e-12. */
double ek_normal_cdf(double x);
double ek_normal_quantile(double p);

void ek_bet_tables_fill(struct ek_bet_tables *t);
/* Grid value of a table row: the row stands for y >= it. */
double ek_table_y(int row);
/* Row for a p-value, rounded to the cautious side. */
uint8_t ek_table_row(double p);
/* Class of tables for so many training lists, and the smallest p that its ranks may have: that of
 * the second largest of them, or more. */
int ek_far_class(uint64_t lists);
double ek_far_p(int class);

/* Lower edges of the bins; bin 0 is open below. */
double ek_z_edge(int bin);
double ek_spread_edge(int bin);

void ek_feature_bets_fill(struct ek_feature_bets *f, const struct ek_bet_tables *t,
                          const struct ek_baseline *b);

/* What the steps of evidence need of a feature. */
void ek_evalue_null_init(struct ek_evalue_null *law, const struct ek_feature_bets *f,
                         const struct ek_baseline *b);
/* Rows that bound the level bets, and what bets on the spread are worth where it is not known. */
extern const float ek_bet_caps[EK_CAPS][EK_BET_ROW];

/* The bets of one list, before calibration: the reference for num/bet_steps.h. */
void ek_bets_select(const struct ek_bet_tables *t, const struct ek_feature_bets *f,
                    const struct ek_baseline *b, const struct ek_list_stats *record, float residual,
                    float *e /* [EK_BETS] */);

bool ek_bet_is_level(int bet);
/* The bet whose evidence r, weighted, is the largest; [EK_BETS] each. */
int ek_bet_strongest(const float *r, const float *weight);
/* What a bet is about: "level up", "spread down", "missing", ... */
const char *ek_bet_name(int bet);

#endif
