/* E-values (bets) of a list: nonnegative functions of its statistics with expectation at most 1
 * without a change. Their product is evidence for a change (testing by betting; Shafer 2021).
 *
 * A residual z becomes a rank score y = Phi^-1(1 - p), p = P_training(Z >= z), on a grid of 1/32. A
 * bet does not decrease in y, and z is first moved toward 0 by the dead band. So no shift within
 * the dead band, however it varies, raises the expectation above 1. Each table is divided by its
 * exact mean on the grid.
 *
 * Level bets, up and down:
 * - A: small shifts of all lists
 * - B: medium shifts of all lists
 * - C: shifts of a fraction of the lists
 * - D: far values in 1% of the lists
 * - E: as D, under heavy tails
 * - F: far values in a tenth of the lists or more
 *
 * D and F bet on values that training had once in 1 / `far_p` lists. Spread bets, up and down, are
 * for most lists and for some lists. Each of the shares missing, zero, negative and tied has a
 * cautious bet on a rise in a tenth of the lists and a bold bet on a rise in all. If most values
 * are missing or zero in training, the bold bet is on a fall; if nearly all are, both are. Lanes
 * are those of num/bet_steps.h.
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
    EK_BET_SPREAD_FAR = 7, /* for some lists */
    EK_BET_DOWN = 8,       /* offset of the lanes of bets down */
    EK_BET_SPREAD_DOWN = EK_BET_DOWN + EK_BET_SPREAD_UP,
    EK_BET_SHARES = 16,
    EK_TABLE_ROWS = 256,
    EK_FAR_CLASSES = 6,
    EK_FAR_NOTHING = EK_FAR_CLASSES, /* table for lists without a level; all bets are 1 */
    EK_LEVEL_TABLES,
    EK_TEMPER_STEPS = 33 /* design effects 1, 2^(1/4), ... 256 */
};

/* Upper bound of all bets. */
#define EK_ABOVE_BETS 3.4e38f

/* Tables of the bets. A row is for y >= ek_table_y(row) and has the lanes of one direction. Level
 * tables have EK_ABOVE_BETS in the lanes of spread bets. */
struct ek_bet_tables {
    float level[EK_LEVEL_TABLES][EK_TABLE_ROWS][EK_BET_ROW];
    float spread[EK_TABLE_ROWS][EK_BET_ROW];
    float weight[EK_BETS]; /* sums to 1 */
    /* The same to the power 1 / design effect, by step behind the first; filled on demand. */
    uint8_t has_level[EK_FAR_CLASSES][EK_TEMPER_STEPS], has_spread[EK_TEMPER_STEPS];
    float tempered_level[EK_FAR_CLASSES][EK_TEMPER_STEPS][EK_TABLE_ROWS][EK_BET_ROW];
    float tempered_spread[EK_TEMPER_STEPS][EK_TABLE_ROWS][EK_BET_ROW];
};

/* Parameters of the bets of one feature, in addition to its baseline. */
struct ek_feature_bets {
    const float (*level)[EK_BET_ROW], (*spread)[EK_BET_ROW]; /* tables of the feature */
    float line[2][EK_BET_ROW];                               /* share bets: a + b share */
};

/* Return Phi(x), the standard normal distribution function, to about 1e-12. */
double ek_normal_cdf(double x);
/* Return the inverse of ek_normal_cdf, to about 1e-12. */
double ek_normal_quantile(double p);

/* Compute all tables of *t except the tempered ones, which ek_feature_bets_fill adds. *t must be
 * zeroed memory. */
void ek_bet_tables_fill(struct ek_bet_tables *t);
/* Return the lower bound of y of a table row. */
double ek_table_y(int row);
/* Return the row of a p-value, rounded toward smaller bets. */
uint8_t ek_table_row(double p);
/* Return the class of tables for a number of training lists. */
int ek_far_class(uint64_t lists);
/* Return the smallest p of a class of tables, at least that of the second largest training list. */
double ek_far_p(int class);

/* Return the lower edge of a bin of residuals; bin 0 is unbounded below. */
double ek_z_edge(int bin);
/* Return the lower edge of a bin of spreads; bin 0 is unbounded below. */
double ek_spread_edge(int bin);

/* Set the bets of a feature. `t` must be filled by ek_bet_tables_fill and outlive *f, which points
 * to its tables; tables for the design effects of `b` are added to it. */
void ek_feature_bets_fill(struct ek_feature_bets *f, struct ek_bet_tables *t,
                          const struct ek_baseline *b);
/* Return the design effect that a bet is tempered by. */
double ek_bet_deff(const struct ek_baseline *b, int bet);

/* Set *law to a copy of the parameters of a feature for the kernels of num/bet_steps.h. */
void ek_evalue_null_init(struct ek_evalue_null *law, const struct ek_feature_bets *f,
                         const struct ek_baseline *b);
/* Upper bounds of the level bets, and values of the spread bets for an unknown spread. */
extern const float ek_bet_caps[EK_CAPS][EK_BET_ROW];

/* Set e [EK_BETS] to the bets of one list before calibration. `residual`: record->r relative to the
 * tracked level of the cell; unused if the list has no usable value. `band`: dead band of the level
 * (ln). Reference implementation of num/bet_steps.h. */
void ek_bets_compute(const struct ek_feature_bets *f, const struct ek_baseline *b, float band,
                     const struct ek_list_stats *record, float residual, float *e);

enum { EK_REPORTED_DELAY = 5000 };
/* Return the approximate number of lists until a factor on all lists raises the alarm; 0: more than
 * EK_REPORTED_DELAY. For residuals near normal and the default budget of false alarms. */
int ek_bet_delay(const struct ek_baseline *b, double factor);

/* Return whether a bet is on the level. */
bool ek_bet_is_level(int bet);
/* Return the bet with the largest weighted evidence. r and weight [EK_BETS]. */
int ek_bet_strongest(const float *r, const float *weight);
/* Return the name of a bet, a static string: "level up", "spread down", "missing", ... */
const char *ek_bet_name(int bet);

#endif
