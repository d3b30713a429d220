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
 * A bet that is worth less than EK_BET_MIN, or is no number, counts as that much.
 * Memory: 196 bytes per cell and feature. Owner: the caller.
 */
#ifndef EK_DETECT_EVIDENCE_EXPORT_H
#define EK_DETECT_EVIDENCE_EXPORT_H

#include "detect/detector.h"
#include "detect/evalue_tests.h"

/* ln e is counted in units of this. */
#define EK_EVIDENCE_SUM_UNIT (1.0 / 1024)

/* What the lists of a tick said of one feature in one cell. */
struct ek_evidence_sum_values {
    int64_t ln[EK_BETS]; /* in units of EK_EVIDENCE_SUM_UNIT */
    uint64_t lists;
};

/* Adds what another part of the traffic said. */
void ek_evidence_sum_merge(struct ek_evidence_sum_values *into,
                           const struct ek_evidence_sum_values *from);
/* Takes a tick of at least one list into the evidence r [EK_BETS]. Returns its sum, weighted. */
double ek_evidence_sum_apply(const struct ek_evidence_sum_values *t, const float *weight, float *r);

/* Products of the lists since the last ek_evidence_sum_clear. */
struct ek_evidence_sum;

int ek_evidence_sum_new(struct ek_evidence_sum **out, int features);
void ek_evidence_sum_free(struct ek_evidence_sum *t);
/* Room for so many cells; new ones have no lists. EK_ENOMEM leaves all as it was. */
int ek_evidence_sum_reserve(struct ek_evidence_sum *t, int cells);
void ek_evidence_sum_clear(struct ek_evidence_sum *t);
/* The cell starts from nothing. */
void ek_evidence_sum_reset(struct ek_evidence_sum *t, int cell);
int ek_evidence_sum_features(const struct ek_evidence_sum *t);

/* One list of a cell says e [EK_BETS] of a feature, calibration included. */
void ek_evidence_sum_add(struct ek_evidence_sum *t, int cell, int feature, const float *e);
/* The products of a cell [features], for the steps of its evidence. */
struct ek_bet_product *ek_evidence_sum_products(struct ek_evidence_sum *t, int cell);
uint32_t ek_evidence_sum_lists(const struct ek_evidence_sum *t, int cell, int feature);
void ek_evidence_sum_values(const struct ek_evidence_sum *t, int cell, int feature,
                            struct ek_evidence_sum_values *out);

/* A detector as a part of a fleet: what it tells of its evidence and its findings, and what it is
 * told of those of others.
 *
 * None of it is state to be kept: a tick is told before it is cleared, and claims come again with
 * the next plan.
 */
/* From here on the lists are also evidence for a tick, and the detector takes `share` of the
 * budget of false alarms for its own. EK_ENOMEM leaves it as it was. */
int ek_detector_join(struct ek_detector *d, double share, struct ek_error *e);
/* NULL before ek_detector_join. */
struct ek_evidence_sum *ek_detector_evidence_sum(const struct ek_detector *d);
const struct ek_manifest *ek_detector_manifest(const struct ek_detector *d);
/* The first confirmed change from place `place` on; returns the place behind it, 0 when there is
 * none. Begin with 0. Texts as those of ek_detector_next. */
int ek_detector_confirmed(const struct ek_detector *d, int place, struct ek_finding *out);

/* Cell of a value, held once: it gets one if it has none. -1, and nothing is held, when there is no
 * such dimension or no cell that may be taken. EK_ENOMEM: nothing is held. */
int ek_detector_retain_cell(struct ek_detector *d, struct ek_text dimension, struct ek_text value,
                            int *cell);
void ek_detector_release(struct ek_detector *d, int cell);

/* What is kept of a list, of one feature; pointers as long as the detector takes no list. */
struct ek_pooled_row {
    int64_t time_ms;
    int stratum;                 /* of the profile */
    struct ek_list_stats record; /* against the stratum's level */
    const int16_t *cell;         /* [1 + dimensions] -1: none */
    const float *query;          /* [query features] */
};
/* Number behind the newest row; *first: the oldest that is kept. */
uint64_t ek_detector_rows(const struct ek_detector *d, uint64_t *first);
void ek_detector_row(const struct ek_detector *d, uint64_t number, int feature,
                     struct ek_pooled_row *out);
/* Level that is tracked for all traffic (ln). */
float ek_detector_tracked(const struct ek_detector *d, int feature);

/* The level of all traffic is known as well as after so many lists: it moves no faster. */
void ek_detector_set_trusted(struct ek_detector *d, int feature, uint32_t lists);

/* Suspects a change that somebody else has evidence of, unless there is one in the cell, or it is
 * explained by another. The last list of the detector was in the cell. */
void ek_detector_suspect(struct ek_detector *d, int feature, int cell, int bet);
/* Changes that are suspected or confirmed. */
int ek_detector_changes(const struct ek_detector *d);

/* Findings of others, instead of those claimed before: lists of such a cell are no evidence there,
 * nor for other cells, as with a finding of one's own. count of them; EK_ENOMEM: none is. */
struct ek_fleet_claim_item {
    int feature, cell;
};
int ek_detector_set_fleet_findings(struct ek_detector *d, const struct ek_fleet_claim_item *claim,
                                   int count);

/* What is normal is what others have accepted, in place of what was accepted here: cells are held
 * as long as they are in it, rows are found by since_ms, the time of the first list of each change.
 * Changes that this explains end, evidence on what it is about begins anew, the tick with it. */
void ek_detector_set_normal(struct ek_detector *d, const struct ek_level_offsets *want,
                            const int64_t *since_ms);

#endif
