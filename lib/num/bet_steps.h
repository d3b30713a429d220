/* One step of evidence for many features: R <- (R + 1) e in 24 lanes each, and its weighted sum.
 *
 * Lanes: 0-5 level up, 6-7 spread up, 8-13 level down, 14-15 spread down, 16-23 shares. A row is 8
 * lanes. The values e of the bets are products of table rows: what they mean is decide/bets.h's
 * affair. Every instruction set gives the same bits: lanes are added in one fixed order, nothing is
 * fused.
 */
#ifndef EK_NUM_BET_STEPS_H
#define EK_NUM_BET_STEPS_H

#include <stdint.h>

enum { EK_BET_LANES = 24, EK_BET_ROW = 8, EK_BET_LEVEL_LANES = 6 };
/* A share is in 64ths; larger says that it is not known, and its bets are 1. */
enum { EK_BET_SHARE_WHOLE = 64 };

/* Of one feature. Rows are [8] floats, nothing is owned. */
struct ek_bet_step {
    float *r;               /* [24] in and out; not looked at by ek_bet_values */
    const float *level[2];  /* up, down: values of the level bets; 1 in lanes 6 and 7 */
    const float *spread[2]; /* up, down: 1 but in lanes 6 and 7 */
    const float *cap;       /* no level bet is worth more than this */
    const float *line;      /* [2][8] a and b of the share bets: a + b share */
    const uint8_t *share;   /* [4]; lanes 16-19 and 20-23 bet on the same ones */
    const float *fair;      /* [24] the values are multiplied with */
};

/* total [count] = sum of weight R over all lanes, level_total [count] the same over the lanes of
 * the level. weight [24]. */
void ek_bet_steps(const struct ek_bet_step *step, int count, const float *weight, float *total,
                  float *level_total);
/* Values of the bets [24], `fair` included. */
void ek_bet_values(const struct ek_bet_step *step, float *e);

#endif
