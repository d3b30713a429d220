/* Evidence of one feature in one cell: Shiryaev-Roberts over the bets, and the slowly tracked
 * level.
 *
 * R_i <- (R_i + 1) e_i; the alarm is when sum w_i R_i reaches A. While nothing has happened every
 * e_i expects at most 1, so R_i - n is a supermartingale and the mean time to a false alarm is at
 * least A lists (Shiryaev 1963, Roberts 1966). The tracked level follows slow drift inside +-ln 1.2
 * and stands still while the level bets are suspicious. That of all traffic follows the day, so its
 * half-life is a part of the day; that of a segment value is relative to it, and knows no day.
 *
 * A cell costs 104 bytes per feature, features rounded up to whole blocks of num/bet_steps.h.
 */
#ifndef EK_DETECT_EVIDENCE_H
#define EK_DETECT_EVIDENCE_H

#include "base/serialize.h"
#include "detect/evalue_tests.h"

struct ek_evidence_sum;

/* Of one feature in one cell. */
struct ek_evidence {
    float r[EK_BETS];
    float mu;
    uint32_t queries; /* lists that counted, of this cell */
};

struct ek_alarm_level {
    float alarm; /* A */
    float hot;   /* sqrt(A): above it the tracked level stands still */
};

/* A from the budget: one false alarm per `queries` queries over `features` features, each tested in
 * all traffic and once per segment dimension. */
struct ek_alarm_level ek_alarm_level_compute(double queries, int features, int dimensions);

/* Half-lives of the tracked level, in lists. */
enum { EK_TRACK_LISTS_MIN = 300, EK_TRACK_LISTS = 2500 };
/* Half-life for all traffic at so many lists a day, 0 for unknown: EK_TRACK_LISTS, or what comes in
 * a fortieth of a day if that is less. The level of a daily season of 15% then lags by 3.4% at
 * most, of which 2% are dead-band; a shorter one would follow faults. */
float ek_track_lists(double lists_per_day);

/* That of all cells, by cell and feature. Owner: the caller. */
struct ek_evidence_cells;

int ek_evidence_cells_new(struct ek_evidence_cells **out, int features);
void ek_evidence_cells_free(struct ek_evidence_cells *s);
/* Room for so many cells; new ones have no evidence. EK_ENOMEM leaves all as it was. */
int ek_evidence_cells_reserve(struct ek_evidence_cells *s, int cells);
/* The cell starts from nothing. */
void ek_evidence_cells_reset(struct ek_evidence_cells *s, int cell);
/* [EK_BETS] */
const float *ek_evidence_r(const struct ek_evidence_cells *s, int cell, int feature);
float ek_evidence_mu(const struct ek_evidence_cells *s, int cell, int feature);
/* Number of lists that counted. */
uint32_t *ek_evidence_list_count(struct ek_evidence_cells *s, int cell, int feature);

/* One list of one cell; cell 0 is all traffic, whose level that of other cells is relative to. */
struct ek_evidence_list {
    const struct ek_bet_list *bets; /* of the list */
    const float (*fair)[EK_BETS];   /* [features] the bets are multiplied with it; at most 1 */
    const float *weight;            /* [EK_BETS] of the tables */
    struct ek_evidence_cells *cells;
    int cell;
    const uint16_t *evident;      /* features that the list is evidence of: a bit each, by block */
    float track_lists;            /* half-life of the tracked level */
    struct ek_evidence_sum *tick; /* takes what the bets come to, for a fleet; NULL: nobody does */
};

static inline int ek_is_evident(const uint16_t *evident, int feature)
{
    return evident[feature / EK_BET_BLOCK] >> feature % EK_BET_BLOCK & 1;
}
static inline void ek_make_evident(uint16_t *evident, int feature)
{
    evident[feature / EK_BET_BLOCK] |= (uint16_t)(1 << feature % EK_BET_BLOCK);
}
static inline void ek_make_unevident(uint16_t *evident, int feature)
{
    evident[feature / EK_BET_BLOCK] &= (uint16_t) ~(1 << feature % EK_BET_BLOCK);
}

struct ek_alarm {
    int feature, bet; /* the bet that weighs most */
};

/* Takes the list into account. Returns how many features have reached the alarm, in their order;
 * alarm [features]. */
int ek_evidence_update(const struct ek_evidence_list *list, const struct ek_alarm_level *level,
                       struct ek_alarm *alarm);

/* Starts again; the tracked level stays. */
void ek_evidence_restart(struct ek_evidence_cells *s, int cell, int feature);
/* Moves the tracked level, inside its bounds. */
void ek_evidence_shift(struct ek_evidence_cells *s, int cell, int feature, float shift_ln);
/* Adds what cell `of` of others has: R is the sum, the level the mean by lists. */
void ek_evidence_cells_merge(struct ek_evidence_cells *s, int cell,
                             const struct ek_evidence_cells *others, int of);
void ek_evidence_cells_serialize(struct ek_evidence_cells *s, int cell, struct ek_serialize *snap);

/* What the bets have come to in the cells of baseline strata so far: calibration learnt on the way.
 *
 * A cell of one stratum is held to the yardstick of all traffic, corrected by what each bet
 * expected in that stratum in training. Where training had few lists of it, that is not known well:
 * a town that training hardly saw makes a bet expect more than 1, and evidence grows on nothing. So
 * a bet in such a cell is divided by its mean over the cell's own lists before, too, where that is
 * more than 1. The divisor of a list depends on earlier lists only, so the evidence stays a test
 * martingale when the mean is right (a plug-in; Dawid 1984).
 *
 * Owner: the caller. Memory: 100 bytes per feature and cell.
 */
struct ek_cell_calibration;

int ek_cell_calibration_new(struct ek_cell_calibration **out, int features);
void ek_cell_calibration_free(struct ek_cell_calibration *h);
/* Room for so many cells; new ones have no habits. EK_ENOMEM leaves all as it was. */
int ek_cell_calibration_reserve(struct ek_cell_calibration *h, int cells);
void ek_cell_calibration_reset(struct ek_cell_calibration *h, int cell);
/* Of the list's features what the bets are multiplied with: by training (`fair` of the list), and
 * by the cell's own. The evidence of the list's `state` is watched until ek_cell_calibration_learn;
 * the result [features] is good until then. */
const float (*ek_cell_calibration_is_fair(struct ek_cell_calibration *h, int cell,
                                          const struct ek_evidence_list *list))[EK_BETS];
/* The list was taken into account: learns what the bets were from how the evidence has moved. */
void ek_cell_calibration_learn(struct ek_cell_calibration *h, int cell,
                               const struct ek_evidence_list *list);
/* Adds those of a cell of others. */
void ek_cell_calibration_merge(struct ek_cell_calibration *h, int cell,
                               const struct ek_cell_calibration *others, int of);
/* Of one cell, between two lists; there is room for it. */
void ek_cell_calibration_serialize(struct ek_cell_calibration *h, struct ek_serialize *s, int cell);

#endif
