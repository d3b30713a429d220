/* Shiryaev-Roberts statistics of the bets, tracked level and online calibration of the bets, per
 * feature and cell.
 *
 * R_i <- (R_i + 1) e_i; an alarm is raised when sum w_i R_i reaches A. Without a change every e_i
 * has expectation at most 1, so R_i - n is a supermartingale and the mean time to a false alarm is
 * at least A lists (Shiryaev 1963, Roberts 1966).
 *
 * The tracked level follows slow drift within +-ln 1.2, or as far as training drifted, and stops
 * while the level bets are suspicious. The level of all traffic starts at training. The level of a
 * segment is relative to it and starts unknown.
 *
 * A cell takes 104 bytes per feature, features rounded up to whole blocks of num/bet_steps.h.
 */
#ifndef EK_DETECT_EVIDENCE_H
#define EK_DETECT_EVIDENCE_H

#include "base/serialize.h"
#include "detect/evalue_tests.h"

struct ek_evidence_sum;

/* State of one feature in one cell. */
struct ek_evidence {
    float r[EK_BETS];
    float mu;
    uint32_t queries; /* counted lists of the cell */
};

struct ek_alarm_level {
    float alarm; /* A */
    float hot;   /* sqrt(A); above it the tracked level stops */
};

/* Return A for one false alarm per `queries` lists over all features, each tested in all traffic
 * and once per segment dimension. */
struct ek_alarm_level ek_alarm_level_compute(double queries, int features, int dimensions);

/* Half-lives of the tracked level, in lists. A short one follows faults; how far the level wanders
 * from one that lags by the long one is the dead-band, which training measures. */
enum { EK_TRACK_LISTS_MIN = 300, EK_TRACK_LISTS = 2500 };
/* Return the half-life for all traffic if training does not cover the days, in lists: a fortieth of
 * a day (0: unknown), within [EK_TRACK_LISTS_MIN, EK_TRACK_LISTS]. With a daily season of 15% the
 * level then lags by at most 3.4%, of which the dead band covers 2%. */
float ek_track_lists(double lists_per_day);
/* Bound of the tracked level (ln 1.2). */
#define EK_TRACK_RANGE_LN 0.18232156f
/* Bound of the residual of one step of the tracked level, in standard deviations. */
#define EK_TRACK_CLIP 2.0f

/* State of all features in all cells. */
struct ek_evidence_cells;

/* Create the state for a number of features, without cells. Return 0 or EK_ENOMEM. */
int ek_evidence_cells_new(struct ek_evidence_cells **out, int features);
void ek_evidence_cells_free(struct ek_evidence_cells *s);
/* Grow to `cells` cells without evidence. Return 0, or EK_ENOMEM, which changes nothing. */
int ek_evidence_cells_reserve(struct ek_evidence_cells *s, int cells);
/* Reset evidence, level and list counts of a cell. */
void ek_evidence_cells_reset(struct ek_evidence_cells *s, int cell);
/* Return R [EK_BETS] of a feature in a cell, valid until cells are added. */
const float *ek_evidence_r(const struct ek_evidence_cells *s, int cell, int feature);
/* Return the tracked level of a feature in a cell (ln), for a segment relative to all traffic. */
float ek_evidence_mu(const struct ek_evidence_cells *s, int cell, int feature);
/* Return a pointer to the number of counted lists of a feature in a cell, which is also the weight
 * of the tracked level. The caller may change the number. Valid until cells are added. */
uint32_t *ek_evidence_list_count(struct ek_evidence_cells *s, int cell, int feature);

/* Update of one cell with one list. */
struct ek_evidence_list {
    const struct ek_bet_list *bets;    /* bets of the list */
    const float (*bet_scale)[EK_BETS]; /* [features] factors of the bets, at most 1 */
    const float *weight;               /* [EK_BETS] of the tables */
    struct ek_evidence_cells *cells;
    int cell;
    const float *band;           /* [features], padded: dead bands of the levels (ln) */
    const uint16_t *evident;     /* bit mask per block: features that the list is evidence for */
    float track_lists;           /* half-life of the tracked level */
    struct ek_evidence_sum *sum; /* also receives the bets, for a fleet; NULL: none */
};

/* Return 1 if the bit of a feature is set in `evident`, else 0. */
static inline int ek_is_evident(const uint16_t *evident, int feature)
{
    return evident[feature / EK_BET_BLOCK] >> feature % EK_BET_BLOCK & 1;
}
/* Set the bit of a feature in `evident`. */
static inline void ek_make_evident(uint16_t *evident, int feature)
{
    evident[feature / EK_BET_BLOCK] |= (uint16_t)(1 << feature % EK_BET_BLOCK);
}
/* Clear the bit of a feature in `evident`. */
static inline void ek_make_unevident(uint16_t *evident, int feature)
{
    evident[feature / EK_BET_BLOCK] &= (uint16_t) ~(1 << feature % EK_BET_BLOCK);
}

struct ek_alarm {
    int feature, bet; /* bet: the one with the largest weighted evidence */
};

/* Add the list to the evidence. Set alarm [features] to the features that reached the alarm level,
 * in ascending order. Return their number. */
int ek_evidence_update(const struct ek_evidence_list *list, const struct ek_alarm_level *level,
                       struct ek_alarm *alarm);

/* Set the range (ln) within which the level of all traffic may differ from training, at least
 * EK_TRACK_RANGE_LN. */
void ek_evidence_set_range(struct ek_evidence_cells *s, int feature, float range_ln);
/* Reset R of a feature; the tracked level stays. */
void ek_evidence_restart(struct ek_evidence_cells *s, int cell, int feature);
/* Add shift_ln to the tracked level of a feature in a cell, within its bounds. */
void ek_evidence_shift(struct ek_evidence_cells *s, int cell, int feature, float shift_ln);
/* Merge cell `of` of another instance, which stays unchanged, into a cell: R is summed, the level
 * is averaged by lists. */
void ek_evidence_cells_merge(struct ek_evidence_cells *s, int cell,
                             const struct ek_evidence_cells *others, int of);
/* Read or write the evidence of a cell, which must be reserved. Errors are in snap->rc. */
void ek_evidence_cells_serialize(struct ek_evidence_cells *s, int cell, struct ek_serialize *snap);

/* Online calibration of the bets in the cells of strata, and of segments that differ in shape.
 *
 * Such a cell uses the tables of all traffic, corrected by the mean of each bet in that stratum or
 * segment in training. With few training lists this mean is uncertain, and a bet may have an
 * expectation above 1 without a change. So a bet is also divided by its mean over the earlier lists
 * of the cell if that exceeds 1. The divisor depends on earlier lists only, so the evidence stays a
 * test martingale if the mean is correct (prequential plug-in; Dawid 1984).
 *
 * Memory: 100 bytes per feature and cell.
 */
struct ek_cell_calibration;

/* Create a calibration for a number of features, without cells. Return 0 or EK_ENOMEM. */
int ek_cell_calibration_new(struct ek_cell_calibration **out, int features);
void ek_cell_calibration_free(struct ek_cell_calibration *h);
/* Grow to `cells` cells without lists. Return 0, or EK_ENOMEM, which changes nothing. */
int ek_cell_calibration_reserve(struct ek_cell_calibration *h, int cells);
/* Remove the lists of a cell that was reassigned. */
void ek_cell_calibration_reset(struct ek_cell_calibration *h, int cell);
/* Return the factors of the bets [features]: `bet_scale` of the list times those of the cell. The
 * result is owned by `h` and valid until ek_cell_calibration_update, for which the call copies the
 * evidence of the cell. */
const float (*ek_cell_calibration_get(struct ek_cell_calibration *h, int cell,
                                      const struct ek_evidence_list *list))[EK_BETS];
/* Update the calibration after ek_evidence_update. The bets follow from the change of R. */
void ek_cell_calibration_update(struct ek_cell_calibration *h, int cell,
                                const struct ek_evidence_list *list);
/* Add the sums of cell `of` of another instance, which stays unchanged, to a cell. */
void ek_cell_calibration_merge(struct ek_cell_calibration *h, int cell,
                               const struct ek_cell_calibration *others, int of);
/* Read or write the sums of one cell, which must be reserved, between two lists. Errors are in
 * s->rc. */
void ek_cell_calibration_serialize(struct ek_cell_calibration *h, struct ek_serialize *s, int cell);

#endif
