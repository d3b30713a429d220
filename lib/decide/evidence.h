/* Evidence of one feature in one cell: Shiryaev-Roberts over the bets, and the slowly tracked
 * level.
 *
 * R_i <- (R_i + 1) e_i; the alarm is when sum w_i R_i reaches A. While nothing has happened every
 * e_i expects at most 1, so R_i - n is a supermartingale and the mean time to a false alarm is at
 * least A lists (Shiryaev 1963, Roberts 1966). The tracked level follows slow drift inside +-ln 1.2
 * and stands still while the level bets are suspicious, or while `frozen`.
 */
#ifndef EK_DECIDE_EVIDENCE_H
#define EK_DECIDE_EVIDENCE_H

#include "decide/bets.h"

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
struct ek_alarm_level ek_alarm_level_of(double queries, int features, int dimensions);

/* One list. r0: residual against the stratum (anything when nothing is usable); calibration
 * [EK_BETS]: what the bets expect in the list's stratum, at least 1. Returns the bet that weighs
 * most when the alarm is reached, else -1. */
int ek_evidence_add(struct ek_evidence *s, const struct ek_bet_tables *t,
                    const struct ek_baseline *b, const struct ek_share_bets *shares,
                    const struct ek_alarm_level *level, const struct ek_list_stats *record,
                    float r0, const float *calibration);
/* Starts again; the tracked level stays. */
void ek_evidence_restart(struct ek_evidence *s);
/* Moves the tracked level, inside its bounds. */
void ek_evidence_shift(struct ek_evidence *s, float shift_ln);

#endif
