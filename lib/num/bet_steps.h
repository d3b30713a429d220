/* Vectorized bets of one list and Shiryaev-Roberts update R <- (R + 1) e, for all features.
 *
 * A bet is a lane: 0-5 level up, 6-7 spread up, 8-13 level down, 14-15 spread down, 16-23 shares. A
 * row has 8 lanes. detect/evalue_tests.h defines the bets and has the reference implementation
 * (ek_bets_compute). Only level bets depend on the cell, because levels are tracked by cell.
 * ek_bet_list_update computes the part that is equal in all cells. A bet in a cell is the minimum
 * of that part and its row of the level tables.
 *
 * Features are processed in blocks of 16. `padded` arrays have whole blocks. Evidence is not
 * negative. Every instruction set returns the same bits: lanes are added in a fixed order and no
 * operation is fused.
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
    EK_BET_COUNTS = 64, /* numbers of values in a list; larger ones count as the last */
    /* Shares are in 64ths. A larger share is unknown, and its bets are 1. */
    EK_BET_SHARE_WHOLE = 64
};

/* Caps of the level bets: of any list, of a list of incoherent items, of a single value. Lanes 6
 * and 7 are the values of the spread bets for an unknown spread. */
enum ek_bet_cap { EK_CAP_NONE, EK_CAP_INCOHERENT, EK_CAP_LONELY, EK_CAPS };

/* Null distribution of one feature, from training. */
struct ek_evalue_null {
    float line[2][EK_BET_ROW];   /* share bets: a + b share */
    uint8_t z[EK_BET_Z_BINS][2]; /* ranks up and down, in the layout of bet_bins.h */
    uint8_t spread[EK_BET_SIZES][EK_BET_SPREAD_BINS + EK_BET_SPREAD_APART][2];
} __attribute__((aligned(64)));

/* Bets of one list. All pointers are borrowed. */
struct ek_bet_list {
    int features, padded;
    const struct ek_evalue_null *law; /* by feature */
    const float *const *table;        /* by feature: rows [256][8] of the level bets; lanes 6 and 7
                                       * exceed all bets */
    const float *nothing;             /* the same for lists without a level */
    const float *const *spread;       /* by feature: rows of the bets on spread, in lanes 6 and 7 */
    const float (*cap)[EK_BET_ROW];   /* [EK_CAPS] */
    float spread_unknown;             /* spread_hi of an unknown spread */
    const float *inv_sd_of;           /* [EK_BET_COUNTS, padded] 1 / sd of the residual */
    const float *spread_hi;           /* [EK_BET_SIZES, padded] */
    /* Of the current list, by feature, padded. */
    const float **level;         /* rows of the level bets */
    float *r;                    /* residual relative to the stratum; NaN: none */
    float *inv_sd;               /* 0: no level */
    uint32_t *shares;            /* the four shares of the record */
    float (*most)[EK_BET_LANES]; /* part equal in all cells; initially of shares 0 */
};

struct ek_list_stats;

/* Compute the part of the bets of a list that is equal in all cells, and store it in `l`. record
 * [features]: its residuals relative to the stratum. */
void ek_bet_list_update(struct ek_bet_list *l, const struct ek_list_stats *record);

/* Parameters of the tracked level. A step is at most `clip` standard deviations times the rate. */
struct ek_bet_track {
    float first;       /* weight of the initial level, in lists */
    float slowest;     /* smallest rate */
    float clip;        /* standard deviations */
    const float *most; /* by feature, padded: bound of |mu| */
};

/* Product of the bets of several lists, per lane: bits of a mantissa in [1, 2), and an exponent, so
 * that it neither overflows nor underflows. With 0 lists the lanes are undefined. Bets below
 * EK_BET_MIN count as EK_BET_MIN. */
#define EK_BET_MIN 1e-9f
struct ek_bet_product {
    uint32_t mantissa[EK_BET_LANES];
    int32_t exponent[EK_BET_LANES];
    uint32_t lists;
};

/* State of one cell, by feature, padded. All pointers are borrowed. */
struct ek_bet_cell {
    float (*r)[EK_BET_LANES];
    float *mu;         /* tracked level */
    const float *all;  /* level of all traffic, to which mu is relative; zeros for all traffic */
    const float *band; /* dead band of the level (ln) */
    uint32_t *queries; /* counted lists */
    const float (*bet_scale)[EK_BET_LANES]; /* factors of the bets; not padded */
    struct ek_bet_track track;
    struct ek_bet_product *product; /* also multiplied by the bets; not padded; NULL: none */
};

/* Update r and queries of the features of a block in `mask`. Set largest [24] to the maximum of
 * each lane over these features, and moved [16] to the next tracked levels, mu if unchanged. */
void ek_bet_step(const struct ek_bet_list *l, const struct ek_bet_cell *c, int block, uint32_t mask,
                 float *largest, float *moved);

/* Weighted sums of evidence over all lanes and over the level lanes. */
struct ek_bet_total {
    float all, level;
};
/* Return the sums of weight [24] times r [24] over all lanes and over the level lanes. Both are
 * monotonic in every r, including rounding. */
struct ek_bet_total ek_bet_total(const float *r, const float *weight);

#endif
