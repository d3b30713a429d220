/* Drift detector: receives lists and emits findings (docs/detection.md).
 *
 * Each list adds evidence to its segments, feature by feature.
 * - An alarm opens a suspected finding.
 * - It is diagnosed after a few more lists of the segment, and confirmed once their evidence
 *   suffices. After `confirmation_lists` it is confirmed, or dismissed if the lists look normal or
 *   another segment explains the change.
 * - A confirmed finding is diagnosed again every 256 lists of the segment. It recovers when lists
 *   look like training again. Its lists are no evidence for other segments.
 *
 * The caller provides times and list numbers. Deterministic and not thread-safe. Manifest, profile
 * and rules must outlive the detector.
 */
#ifndef EK_DETECT_DETECTOR_H
#define EK_DETECT_DETECTOR_H

#include "assets/profile.h"
#include "detect/bounds.h"
#include "detect/cells.h"
#include "detect/finding.h"
#include "detect/level_offset.h"
#include "detect/list_stats_builder.h"
#include "lists/list.h"
#include "rules/rules.h"
#include "schema/manifest.h"

enum {
    EK_EPISODES_MAX = 1024, /* open at once */
    EK_FINDINGS_MAX = 4096, /* not yet fetched; the oldest are overwritten */
};

struct ek_detector;

/* Create a detector without state and with EK_CELLS_DEFAULT_MAX cells. Manifest, profile and rules
 * must outlive it; free it with ek_detector_free. Return 0, EK_ENOMEM, or EK_ESTATE for a profile
 * of another manifest. */
int ek_detector_new(struct ek_detector **out, const struct ek_manifest *m,
                    const struct ek_profile *p, const struct ek_rules *rules, struct ek_error *e);
/* Create a detector without state and with at most `cells` cells. Manifest, profile and rules must
 * outlive it. Return 0, EK_ENOMEM, or EK_ESTATE for a profile of another manifest. */
int ek_detector_new_with(struct ek_detector **out, const struct ek_manifest *m,
                         const struct ek_profile *p, const struct ek_rules *rules, int cells,
                         struct ek_error *e);
void ek_detector_free(struct ek_detector *d);
/* Update the state with one list received at time_ms. Return 0, EK_ESTATE for a list of another
 * manifest, or EK_ENOMEM. */
int ek_detector_observe(struct ek_detector *d, const struct ek_list *q, int64_t time_ms,
                        struct ek_error *e);
/* Update the state with a list already read by `read`, a builder for the same manifest, profile and
 * rules. Subtracts the accepted shifts from its residuals. observed: bit i is set if the list is
 * evidence in cell i of ek_detector_cells. A cell that observes a list must not choose it by its
 * values, and all traffic may observe only lists that all their cells observe. With 0 the list only
 * counts, and `read` is not read. Return 0 or EK_ENOMEM. */
int ek_detector_update(struct ek_detector *d, const struct ek_list *q,
                       struct ek_list_stats_builder *read, int64_t time_ms, uint32_t observed,
                       struct ek_error *e);
/* Return the list reader of ek_detector_observe, which the detector owns. */
struct ek_list_stats_builder *ek_detector_reader(struct ek_detector *d);
/* Set *out to the next queued finding, oldest first. Return 1, or 0 with *out unchanged if there is
 * none. Its strings are valid until the next list. While findings are queued, no cell is
 * reassigned. */
int ek_detector_next(struct ek_detector *d, struct ek_finding *out);
/* Accept the current level of a feature in a cell as normal. This ends the confirmed finding as
 * accepted, subtracts its shift from the history and restarts the evidence. *out receives the shift
 * (ln) and its version. Return 0. On EK_ESTATE (no confirmed finding, or not undone by a shift) and
 * EK_ELIMIT (too many accepts) nothing changes. */
int ek_detector_accept(struct ek_detector *d, int feature, int cell, struct ek_level_offset *out,
                       struct ek_error *e);
/* Revert the accept with this version and copy it to *out. Return 0, or EK_ESTATE if unknown. */
int ek_detector_revert(struct ek_detector *d, uint64_t version, struct ek_level_offset *out,
                       struct ek_error *e);
/* Return the accepted shifts, valid for the lifetime of the detector. */
const struct ek_level_offsets *ek_detector_offsets(const struct ek_detector *d);
/* Dismiss open findings on features that the rules do not watch, for example after a change of
 * rules, and queue them. Return whether there were any. */
bool ek_detector_dismiss_unwatched(struct ek_detector *d);
/* Set features [most] to the features with a confirmed finding of this incident, ascending. Return
 * their number. */
int ek_detector_members(const struct ek_detector *d, uint32_t cause, int *features, int most);
/* Retain the cells with held [cells] != 0 and release those retained by an earlier call. */
void ek_detector_retain_cells(struct ek_detector *d, const uint8_t *held, int cells);
/* Return the cells [*count] of the list last observed, owned by the detector; -1: none in that
 * dimension. Valid until the next list. */
const int16_t *ek_detector_cells(const struct ek_detector *d, int *count);
/* Return the segment registry; valid as long as the detector. */
const struct ek_cells *ek_detector_registry(const struct ek_detector *d);
/* Return the counters of events beyond the detector's limits, since the start. */
struct ek_limit_counters ek_detector_limit_counters(const struct ek_detector *d);
/* Return the last query feature that was outside its range in training, or -1. */
int ek_detector_get_outside_query(const struct ek_detector *d);
/* Return the number of lists, including repeats and lists that no cell observed. */
uint64_t ek_detector_list_count(const struct ek_detector *d);
/* Return the number of findings diagnosed with the list last observed, which dominates its cost: at
 * most one, or four while many are suspected. */
int ek_detector_diagnosis_count(const struct ek_detector *d);

/* Current state of one feature in one cell, for traces.
 *
 * Plain values, NaN if undefined. Takes about 50 ns. Same thread as the detector.
 */
enum ek_trace_state { EK_TRACE_OK, EK_TRACE_SUSPECTED, EK_TRACE_CONFIRMED };
/* Return the name of a state, a static string: "ok", "suspected" or "confirmed". */
const char *ek_trace_state_name(enum ek_trace_state s);

struct ek_trace_point {
    uint64_t query; /* of the last list of any cell */
    int64_t time_ms;
    enum ek_trace_state state;
    float evidence_ln;     /* ln of the alarm statistic */
    float factor_ln;       /* of a confirmed shift */
    float low_ln, high_ln; /* 95% interval of factor_ln */
};

/* Set *out to evidence and, with an open finding, its factor, for a feature in a cell after the
 * last list. Return false, with *out unchanged, before the first list and for an unknown cell. */
bool ek_detector_get_point(const struct ek_detector *d, int feature, int cell,
                           struct ek_trace_point *out);
/* Return the alarm threshold: ek_trace_point.evidence_ln at which an alarm is raised. */
double ek_detector_alarm_ln(const struct ek_detector *d);

#endif
