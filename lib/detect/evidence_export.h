/* Evidence of many lists at once, so that partitions and instances can be pooled: what every bet
 * has come to, by cell and feature, between two ticks of a clock.
 *
 * Two forms. While lists come in, each bet is a product, a mantissa in [1, 2) and an exponent, so a
 * list costs a multiplication per bet and no logarithm. When the tick is over the products become
 * sums of ln e in whole units: sums are the same in whatever order and by whatever parts they are
 * added, and a unit is rounded down, by what the multiplications may have been rounded up as well,
 * so a sum is never more than its lists said (docs/format/fleet.md has the bound).
 *
 * A tick that is over moves the Shiryaev-Roberts statistic by R <- (R + n) exp(sum), n its lists:
 * as long as no bet expects more than 1, R less the number of lists is a supermartingale, and the
 * mean time to a false alarm at least A lists, as for single lists. What is given up is the moment
 * of the change inside the tick.
 * A bet that is worth less than EK_BET_LEAST, or is no number, counts as that much.
 * Memory: 196 bytes per cell and feature. Owner: the caller.
 */
#ifndef EK_DETECT_EVIDENCE_EXPORT_H
#define EK_DETECT_EVIDENCE_EXPORT_H

#include "detect/evalue_tests.h"

/* ln e is counted in units of this. */
#define EK_TICK_UNIT (1.0 / 1024)

/* What the lists of a tick said of one feature in one cell. */
struct ek_tick_sums {
    int64_t ln[EK_BETS]; /* in units of EK_TICK_UNIT */
    uint64_t lists;
};

/* Adds what another part of the traffic said. */
void ek_tick_merge(struct ek_tick_sums *into, const struct ek_tick_sums *from);
/* Takes a tick of at least one list into the evidence r [EK_BETS]. Returns its sum, weighted. */
double ek_tick_apply(const struct ek_tick_sums *t, const float *weight, float *r);

/* Products of the lists since the last ek_tick_clear. */
struct ek_tick;

int ek_tick_new(struct ek_tick **out, int features);
void ek_tick_free(struct ek_tick *t);
/* Room for so many cells; new ones have no lists. EK_ENOMEM leaves all as it was. */
int ek_tick_room(struct ek_tick *t, int cells);
void ek_tick_clear(struct ek_tick *t);
/* The cell starts from nothing. */
void ek_tick_forget(struct ek_tick *t, int cell);
int ek_tick_features(const struct ek_tick *t);

/* One list of a cell says e [EK_BETS] of a feature, calibration included. */
void ek_tick_add(struct ek_tick *t, int cell, int feature, const float *e);
/* The products of a cell [features], for the steps of its evidence. */
struct ek_bet_product *ek_tick_products(struct ek_tick *t, int cell);
uint32_t ek_tick_lists(const struct ek_tick *t, int cell, int feature);
void ek_tick_sums(const struct ek_tick *t, int cell, int feature, struct ek_tick_sums *out);

#endif
