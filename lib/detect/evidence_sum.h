/* A detector as a part of a fleet: what it tells of its evidence and its findings, and what it is
 * told of those of others.
 *
 * None of it is state to be kept: a tick is told before it is cleared, and claims come again with
 * the next plan.
 */
#ifndef EK_DETECT_EVIDENCE_SUM_H
#define EK_DETECT_EVIDENCE_SUM_H

#include "detect/detector.h"
#include "detect/evidence_export.h"

/* From here on the lists are also evidence for a tick, and the detector takes `share` of the
 * budget of false alarms for its own. EK_ENOMEM leaves it as it was. */
int ek_detector_join(struct ek_detector *d, double share, struct ek_error *e);
/* NULL before ek_detector_join. */
struct ek_tick *ek_detector_tick(const struct ek_detector *d);
const struct ek_manifest *ek_detector_manifest(const struct ek_detector *d);
/* The first confirmed change from place `place` on; returns the place behind it, 0 when there is
 * none. Begin with 0. Texts as those of ek_detector_next. */
int ek_detector_confirmed(const struct ek_detector *d, int place, struct ek_finding *out);

/* Cell of a value, held once: it gets one if it has none. -1, and nothing is held, when there is no
 * such dimension or no cell that may be taken. EK_ENOMEM: nothing is held. */
int ek_detector_hold(struct ek_detector *d, struct ek_text dimension, struct ek_text value,
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
void ek_detector_trust(struct ek_detector *d, int feature, uint32_t lists);

/* Suspects a change that somebody else has evidence of, unless there is one in the cell, or it is
 * explained by another. The last list of the detector was in the cell. */
void ek_detector_suspect(struct ek_detector *d, int feature, int cell, int bet);
/* Changes that are suspected or confirmed. */
int ek_detector_changes(const struct ek_detector *d);

/* Findings of others, instead of those claimed before: lists of such a cell are no evidence there,
 * nor for other cells, as with a finding of one's own. count of them; EK_ENOMEM: none is. */
struct ek_claim {
    int feature, cell;
};
int ek_detector_claim(struct ek_detector *d, const struct ek_claim *claim, int count);

/* What is normal is what others have accepted, in place of what was accepted here: cells are held
 * as long as they are in it, rows are found by since_ms, the time of the first list of each change.
 * Changes that this explains end, evidence on what it is about begins anew, the tick with it. */
void ek_detector_set_normal(struct ek_detector *d, const struct ek_rebases *want,
                            const int64_t *since_ms);

#endif
