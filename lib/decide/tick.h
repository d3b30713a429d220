/* Evidence of many lists at once, so that partitions and instances can be pooled: the sums of ln e
 * of every bet, by cell and feature.
 *
 * ln e is kept in whole units of 2^-16, so sums are the same in whatever order and by whatever
 * parts they are made. A tick that is over moves the Shiryaev-Roberts statistic by
 * R <- (R + n) exp(sum), n its lists: as long as no bet expects more than 1, R less the number of
 * lists is a supermartingale, and the mean time to a false alarm at least A lists, as for single
 * lists. What is given up is the moment of the change inside the tick.
 * Memory: 200 bytes per cell and feature. Owner: the caller.
 */
#ifndef EK_DECIDE_TICK_H
#define EK_DECIDE_TICK_H

#include "decide/evidence.h"

struct ek_tick;

/* Sums of 0 lists. EK_ENOMEM. */
int ek_tick_new(struct ek_tick **out, int cells, int features);
void ek_tick_free(struct ek_tick *t);
void ek_tick_clear(struct ek_tick *t);
/* One list of a cell says e [EK_BETS] of a feature, calibration included. */
void ek_tick_add(struct ek_tick *t, int cell, int feature, const float *e);
/* Adds what another part of the traffic said; of the same shape. */
void ek_tick_merge(struct ek_tick *into, const struct ek_tick *from);
uint32_t ek_tick_lists(const struct ek_tick *t, int cell, int feature);
/* Sums [EK_BETS] of ln e, in units of EK_TICK_UNIT. */
const int64_t *ek_tick_sums(const struct ek_tick *t, int cell, int feature);
#define EK_TICK_UNIT (1.0 / 65536)

/* Takes the tick into the evidence of one feature in one cell. Returns the weighted sum of R. */
double ek_tick_apply(const struct ek_tick *t, int cell, int feature, const float *weight,
                     struct ek_evidence *s);

#endif
