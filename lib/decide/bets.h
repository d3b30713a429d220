/* The bets: functions of a list's statistics whose expectation is at most 1 while nothing has
 * happened, so that their product is evidence (testing by betting; Shafer 2021).
 *
 * A residual z becomes a rank score y = Phi^-1(1 - p), p = P_training(Z >= z), on a grid of 1/32. A
 * bet does not decrease in y, and z is first moved by the dead-band: no real shift inside the
 * dead-band, however it varies, lifts its expectation above 1. Each table is divided by its exact
 * mean on the grid.
 *
 * Bets: 0-4 level up (slow shifts of all lists; medium; a share of lists; far values in 1% of
 * lists; the same under heavy tails), 5-9 level down, 10 spread up, 11 spread down, 12-15 shares
 * missing, zero, negative, tied.
 */
#ifndef EK_DECIDE_BETS_H
#define EK_DECIDE_BETS_H

#include "data/profile.h"
#include "decide/list_stats.h"

enum {
    EK_BETS = EK_CALIBRATED,
    EK_LEVEL_BETS = 10,
    EK_LEVEL_UP_BETS = 5,
    EK_BET_SPREAD_UP = 10,
    EK_BET_SPREAD_DOWN = 11,
    EK_BET_SHARES = 12,
    EK_TABLE_ROWS = 256
};

/* Dead-bands: nothing is told of a shift smaller than this. ln 1.02 and ln 1.5. */
#define EK_DEAD_BAND_LEVEL_LN  0.0198026273f
#define EK_DEAD_BAND_SPREAD_LN 0.4054651081f

struct ek_bet_tables {
    float level[EK_TABLE_ROWS][8]; /* columns 0-4 */
    float spread[EK_TABLE_ROWS];
    float weight[EK_BETS]; /* sums to 1 */
};

/* Linear bets on the shares of one feature: e = a + b share, share in 64ths. */
struct ek_share_bets {
    float a[EK_SHARES], b[EK_SHARES];
};

/* Phi and its inverse, to about 1e-12. */
double ek_normal_cdf(double x);
double ek_normal_quantile(double p);

void ek_bet_tables_fill(struct ek_bet_tables *t);
/* Grid value of a table row: the row stands for y >= it. */
double ek_table_y(int row);
/* Row for a p-value, rounded to the cautious side. */
uint8_t ek_table_row(double p);

/* Bin of z, and of a ln spread; lower edges of the bins (bin 0 is open below). */
int ek_z_bin(float z);
double ek_z_edge(int bin);
int ek_spread_bin(float spread);
double ek_spread_edge(int bin);

void ek_share_bets_fill(struct ek_share_bets *s, const struct ek_baseline *b);

/* The 16 bets of one list. r: residual against stratum and tracked level. */
void ek_bets_of(const struct ek_bet_tables *t, const struct ek_baseline *b,
                const struct ek_share_bets *s, const struct ek_list_stats *record, float r,
                float *e /* [EK_BETS] */);

/* What a bet is about: "level up", "spread down", "missing", ... */
const char *ek_bet_name(int bet);

#endif
