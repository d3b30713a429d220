/* Evidence of one feature in one cell: Shiryaev-Roberts over the bets, and the slowly tracked
 * level.
 *
 * R_i <- (R_i + 1) e_i; the alarm is when sum w_i R_i reaches A. While nothing has happened every
 * e_i expects at most 1, so R_i - n is a supermartingale and the mean time to a false alarm is at
 * least A lists (Shiryaev 1963, Roberts 1966). The tracked level follows slow drift inside +-ln 1.2
 * and stands still while the level bets are suspicious. That of all traffic follows the day, so its
 * half-life is a part of the day; that of a segment value is relative to it, and knows no day.
 * 104 bytes.
 */
#ifndef EK_DECIDE_EVIDENCE_H
#define EK_DECIDE_EVIDENCE_H

#include "decide/bets.h"
#include "decide/snap.h"

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

/* Half-lives of the tracked level, in lists. */
enum { EK_TRACK_LISTS_MIN = 300, EK_TRACK_LISTS = 2500 };
/* Half-life for all traffic at so many lists a day, 0 for unknown: EK_TRACK_LISTS, or what comes in
 * a fortieth of a day if that is less. The level of a daily season of 15% then lags by 3.4% at
 * most, of which 2% are dead-band; a shorter one would follow faults. */
float ek_track_lists(double lists_per_day);

/* One list of one cell. Arrays are by feature, nothing is owned. */
struct ek_evidence_list {
    struct ek_bet_list bets; /* record: residuals against the stratum */
    struct ek_evidence *state;
    const struct ek_evidence *all; /* of all traffic, whose level the cell's is relative to; NULL
                                    * for all traffic itself */
    const int *feature;            /* [count] those that the list is evidence of */
    int count;
    float track_lists; /* half-life of the tracked level */
};

struct ek_alarm {
    int feature, bet; /* the bet that weighs most */
};

/* Takes the list into account. Returns how many features have reached the alarm, in their order;
 * alarm [count of the list]. */
int ek_evidence_take(const struct ek_evidence_list *list, const struct ek_alarm_level *level,
                     struct ek_alarm *alarm);

/* Starts again; the tracked level stays. */
void ek_evidence_restart(struct ek_evidence *s);
/* Moves the tracked level, inside its bounds. */
void ek_evidence_shift(struct ek_evidence *s, float shift_ln);
void ek_evidence_snap(struct ek_evidence *s, struct ek_snap *snap);

#endif
