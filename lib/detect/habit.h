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
#ifndef EK_DECIDE_HABIT_H
#define EK_DECIDE_HABIT_H

#include "detect/evidence.h"
#include "base/snap.h"

struct ek_habits;

int ek_habits_new(struct ek_habits **out, int features);
void ek_habits_free(struct ek_habits *h);
/* Room for so many cells; new ones have no habits. EK_ENOMEM leaves all as it was. */
int ek_habits_room(struct ek_habits *h, int cells);
void ek_habits_forget(struct ek_habits *h, int cell);
/* Of the list's features what the bets are multiplied with: by training (`fair` of the list), and
 * by the cell's own. The evidence of the list's `state` is watched until ek_habits_learn; the
 * result [features] is good until then. */
const float (*ek_habits_fair(struct ek_habits *h, int cell,
                             const struct ek_evidence_list *list))[EK_BETS];
/* The list was taken into account: learns what the bets were from how the evidence has moved. */
void ek_habits_learn(struct ek_habits *h, int cell, const struct ek_evidence_list *list);
/* Adds those of a cell of others. */
void ek_habits_merge(struct ek_habits *h, int cell, const struct ek_habits *others, int of);
/* Of one cell, between two lists; there is room for it. */
void ek_habits_snap(struct ek_habits *h, struct ek_snap *s, int cell);

#endif
