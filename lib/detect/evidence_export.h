/* Evidence summed over one report interval, by cell and feature, for pooling partitions and
 * instances; and the fleet interface of a detector, which exports evidence and findings and imports
 * those of other instances.
 *
 * During the interval each bet is a product, stored as a mantissa in [1, 2) and an exponent, so a
 * list costs one multiplication per bet. At its end each product becomes a sum of ln e in integer
 * units. Integer sums do not depend on the order or the partition of the lists. Each is rounded
 * down by at least the rounding error of its product and thus never overstates the evidence. The
 * bound is in docs/dev/formats/fleet.md.
 *
 * An interval of n lists updates the Shiryaev-Roberts statistic by R <- (R + n) exp(sum). While no
 * bet expects more than 1, R minus the number of lists is a supermartingale. The mean time to a
 * false alarm is at least A lists, as for single lists. Only the position of a change within the
 * interval is lost.
 *
 * A bet below EK_BET_MIN, or NaN, counts as EK_BET_MIN. Memory: 196 bytes per cell and feature.
 */
#ifndef EK_DETECT_EVIDENCE_EXPORT_H
#define EK_DETECT_EVIDENCE_EXPORT_H

#include "detect/detector.h"
#include "detect/evalue_tests.h"

/* Unit of ln e. */
#define EK_EVIDENCE_SUM_UNIT (1.0 / 1024)

/* Evidence of one interval on one feature in one cell. */
struct ek_evidence_sum_values {
    int64_t ln[EK_BETS]; /* in units of EK_EVIDENCE_SUM_UNIT */
    uint64_t lists;
};

/* Add the evidence `from` of another part of the traffic to `into`. */
void ek_evidence_sum_merge(struct ek_evidence_sum_values *into,
                           const struct ek_evidence_sum_values *from);
/* Apply an interval of at least one list to r [EK_BETS]. Return the weighted sum of r. */
double ek_evidence_sum_apply(const struct ek_evidence_sum_values *t, const float *weight, float *r);

/* Products of the lists since the last ek_evidence_sum_clear. */
struct ek_evidence_sum;

/* Create sums for a number of features, without cells. Return 0 or EK_ENOMEM. */
int ek_evidence_sum_new(struct ek_evidence_sum **out, int features);
void ek_evidence_sum_free(struct ek_evidence_sum *t);
/* Grow to `cells` cells; new cells are empty. Return 0, or EK_ENOMEM, which changes nothing. */
int ek_evidence_sum_reserve(struct ek_evidence_sum *t, int cells);
/* Reset all cells. */
void ek_evidence_sum_clear(struct ek_evidence_sum *t);
/* Reset one cell. */
void ek_evidence_sum_reset(struct ek_evidence_sum *t, int cell);
/* Return the number of features of the sums. */
int ek_evidence_sum_features(const struct ek_evidence_sum *t);

/* Multiply e [EK_BETS], the calibrated bets of a list, into the products of a feature in a cell,
 * and count the list. */
void ek_evidence_sum_add(struct ek_evidence_sum *t, int cell, int feature, const float *e);
/* Return the products of a cell [features], for direct updates by the evidence kernels. Valid until
 * cells are added. */
struct ek_bet_product *ek_evidence_sum_products(struct ek_evidence_sum *t, int cell);
/* Return the number of lists that count in the product of a feature in a cell. */
uint32_t ek_evidence_sum_lists(const struct ek_evidence_sum *t, int cell, int feature);
/* Set *out to the sums of ln e of a feature in a cell, rounded down; zeros without lists. The
 * products stay unchanged. */
void ek_evidence_sum_values(const struct ek_evidence_sum *t, int cell, int feature,
                            struct ek_evidence_sum_values *out);

/* Fleet interface of a detector.
 *
 * None of this is part of the checkpoint. Evidence is reported before it is cleared, and the claims
 * arrive again with the next plan.
 */
/* Add an evidence sum to the detector, which lists then update, too; local alarms use only `share`
 * of the false-alarm budget. Return 0, or EK_ENOMEM, which changes nothing. */
int ek_detector_join(struct ek_detector *d, double share, struct ek_error *e);
/* Return the evidence sum, which the detector owns, or NULL before ek_detector_join. */
struct ek_evidence_sum *ek_detector_evidence_sum(const struct ek_detector *d);
/* Return the manifest of the detector, which does not own it. */
const struct ek_manifest *ek_detector_manifest(const struct ek_detector *d);
/* Set *out to the first confirmed finding at index `place` or later. Return the next index, or 0 if
 * none is left. Start with 0. Its strings are valid until the next list. */
int ek_detector_confirmed(const struct ek_detector *d, int place, struct ek_finding *out);

/* Retain the cell of a value once, assigning one if necessary. Set *cell to -1, retaining nothing,
 * for an unknown dimension or if no cell is available. Return 0, or EK_ENOMEM, which retains
 * nothing. */
int ek_detector_retain_cell(struct ek_detector *d, struct ek_text dimension, struct ek_text value,
                            int *cell);
/* Undo one ek_detector_retain_cell. */
void ek_detector_release(struct ek_detector *d, int cell);

/* One feature of a list in the history. Pointers are valid until the detector receives another
 * list. */
struct ek_pooled_row {
    int64_t time_ms;
    int stratum;                 /* index in the profile */
    struct ek_list_stats record; /* residual relative to the stratum's level */
    const int16_t *cell;         /* [1 + dimensions], as in history.h; the first is negative if not
                                  * all cells observed the list */
    const float *query;          /* [query features] */
};
/* Return the end (exclusive) of the row numbers in the history, and set *first to the oldest. */
uint64_t ek_detector_rows(const struct ek_detector *d, uint64_t *first);
/* Set *out to the statistics of a feature in a row of the history. Its arrays are valid until the
 * next list. */
void ek_detector_row(const struct ek_detector *d, uint64_t number, int feature,
                     struct ek_pooled_row *out);
/* Return the tracked level of a feature in all traffic, relative to its strata in training (ln). */
float ek_detector_tracked(const struct ek_detector *d, int feature);

/* Set the number of lists behind the tracked level of all traffic, which limits how fast it
 * adapts. */
void ek_detector_set_trusted(struct ek_detector *d, int feature, uint32_t lists);

/* Open a finding for evidence from another instance, unless the cell has one or another finding
 * explains it. The last list of the detector must be in the cell. */
void ek_detector_suspect(struct ek_detector *d, int feature, int cell, int bet);
/* Return the number of suspected or confirmed findings. */
int ek_detector_changes(const struct ek_detector *d);

/* Finding claimed by another instance. */
struct ek_fleet_claim_item {
    int feature, cell;
};
/* Replace the findings claimed by other instances by copies of claim [count]. Lists in such a cell
 * are evidence neither for it nor for other cells, as with a local finding. Return 0, or EK_ENOMEM,
 * which leaves no claims. */
int ek_detector_set_fleet_findings(struct ek_detector *d, const struct ek_fleet_claim_item *claim,
                                   int count);

/* Replace the accepted shifts by those of the fleet and retain their cells. since_ms [want->count]
 * is the time of the first list of each change and determines its rows. Findings that an accept
 * explains end. The evidence of the affected features and the evidence sum restart. */
void ek_detector_set_normal(struct ek_detector *d, const struct ek_level_offsets *want,
                            const int64_t *since_ms);

#endif
