/* The bets on one list and the step of evidence they make, R <- (R + 1) e, for all features.
 *
 * A bet has a lane: 0-5 level up, 6-7 spread up, 8-13 level down, 14-15 spread down, 16-23 shares.
 * A row is 8 lanes. What the bets mean is detect/evalue_tests.h's affair, and the plain reference
 * is there (ek_bets_compute). Of a list, only the level bets differ from cell to cell, for levels
 * are tracked by cell. What is the same in all cells is worked out once (ek_bet_list_update); a bet
 * in a cell is the lesser of that and its row of the level tables.
 *
 * Features go in blocks of 16. Arrays by feature that say `padded` have room for whole blocks.
 * Evidence is not negative. Every instruction set gives the same bits: lanes are added in one fixed
 * order, nothing is fused.
 */
#ifndef EK_NUM_BET_STEPS_H
#define EK_NUM_BET_STEPS_H

#include "num/bet_bins.h"

#include <stddef.h>
#include <stdint.h>

enum {
    EK_BET_LANES = 24,
    EK_BET_ROW = 8,
    EK_BET_LEVEL_LANES = 6,
    EK_BET_BLOCK = 16,
    EK_BET_SIZES = 3,   /* classes of list sizes: 3-5 values, 6-12, 13 and more */
    EK_BET_COUNTS = 64, /* of values in a list; more count as the last */
    /* A share is in 64ths; larger says that it is not known, and its bets are 1. */
    EK_BET_SHARE_WHOLE = 64
};

/* What level bets are worth at most: in any list; in one whose items do not belong together; of a
 * lonely value. Lanes 6 and 7: what bets on the spread are worth where it is not known. */
enum ek_bet_cap { EK_CAP_NONE, EK_CAP_INCOHERENT, EK_CAP_LONELY, EK_CAPS };

/* Of one feature, from training. */
struct ek_evalue_null {
    float line[2][EK_BET_ROW];   /* a and b of the share bets: a + b share */
    uint8_t z[EK_BET_Z_BINS][2]; /* ranks up and down, at their places of bet_bins.h */
    uint8_t spread[EK_BET_SIZES][EK_BET_SPREAD_BINS + EK_BET_SPREAD_APART][2];
} __attribute__((aligned(64)));

/* One list. Nothing is owned. */
struct ek_bet_list {
    int features, padded;
    const struct ek_evalue_null *law;  /* by feature */
    const float *const *table;         /* by feature: rows [256][8] of the level bets, more than any
                                        * bet is worth in lanes 6 and 7 */
    const float *nothing;              /* the same where there is no level */
    const float (*spread)[EK_BET_ROW]; /* rows of the bets on spread, in lanes 6 and 7 */
    const float (*cap)[EK_BET_ROW];    /* [EK_CAPS] */
    float spread_unknown;              /* spread_hi of which nothing is known */
    const float *inv_sd_of;            /* [EK_BET_COUNTS, padded] 1 / sd of the residual */
    const float *spread_hi;            /* [EK_BET_SIZES, padded] */
    /* of the list last taken, by feature, padded */
    const float **level;         /* rows of the level bets */
    float *r;                    /* residual against the stratum; NaN where there is none */
    float *inv_sd;               /* 0 where there is no level */
    uint32_t *shares;            /* the four bytes of the record */
    float (*most)[EK_BET_LANES]; /* what is the same in all cells; starts as of shares 0 */
};

struct ek_list_stats;

/* record [features]: residuals against the stratum. */
void ek_bet_list_update(struct ek_bet_list *l, const struct ek_list_stats *record);

/* Of the tracked level: a step is at most `clip` standard deviations times a rate. */
struct ek_bet_track {
    float first;   /* lists' worth of trust in the level of the start */
    float slowest; /* smallest rate */
    float clip, most;
};

/* What the bets of several lists come to: of each lane a product, as the bits of a mantissa in
 * [1, 2) and an exponent, so that it neither overflows nor vanishes. Before the first list the
 * lanes are not read. A bet that is worth less than EK_BET_MIN counts as that. */
#define EK_BET_MIN 1e-9f
struct ek_bet_product {
    uint32_t mantissa[EK_BET_LANES];
    int32_t exponent[EK_BET_LANES];
    uint32_t lists;
};

/* One cell, by feature, padded. Nothing is owned. */
struct ek_bet_cell {
    float (*r)[EK_BET_LANES];
    float *mu;         /* tracked level */
    const float *all;  /* that of all traffic, which mu is relative to; zeros for all traffic */
    uint32_t *queries; /* lists that counted */
    const float (*bet_scale)[EK_BET_LANES]; /* the bets are multiplied with it; not padded */
    struct ek_bet_track track;
    struct ek_bet_product *product; /* takes the bets as well; not padded; NULL: none does */
};

/* The step of a block, of its features in `mask` only: r and queries. largest [24]: of each lane
 * over these. moved [16]: where the tracked levels would go, mu where they stay. */
void ek_bet_step(const struct ek_bet_list *l, const struct ek_bet_cell *c, int block, uint32_t mask,
                 float *largest, float *moved);

/* Sums of weight [24] r [24] over all lanes, and over the lanes of the level. Neither falls when no
 * r does, rounding included. */
struct ek_bet_total {
    float all, level;
};
struct ek_bet_total ek_bet_total(const float *r, const float *weight);

#endif
