/* The detector: lists in, findings out (docs/detection.md).
 *
 * Every list adds evidence to its cells, feature by feature. An alarm opens an episode: suspected;
 * when `confirmation_lists` more lists of the cell have come it is diagnosed, and confirmed, or
 * dismissed when it was nothing or another cell explains it; a confirmed one is looked at again
 * every 256 lists of the cell and recovers when lists look like training again. Lists that a
 * confirmed finding explains are no evidence for other cells. Time and numbers of queries are those
 * of the caller. Deterministic. Owner: the caller. One thread at a time. Manifest, profile and
 * rules must outlive it.
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
    EK_FINDINGS_MAX = 4096, /* not fetched yet; then the oldest go */
};

struct ek_detector;

int ek_detector_new(struct ek_detector **out, const struct ek_manifest *m,
                    const struct ek_profile *p, const struct ek_rules *rules, struct ek_error *e);
/* The same with another limit of cells than EK_CELLS_DEFAULT_MAX. */
int ek_detector_new_with(struct ek_detector **out, const struct ek_manifest *m,
                         const struct ek_profile *p, const struct ek_rules *rules, int cells,
                         struct ek_error *e);
void ek_detector_free(struct ek_detector *d);
/* Takes one list into account. The number of the query is how many came before. */
int ek_detector_observe(struct ek_detector *d, const struct ek_list *q, int64_t time_ms,
                        struct ek_error *e);
/* The same of a list that `read` has read, a reader of the same manifest, profile and rules. What
 * it has of the list is then against what is normal now. */
int ek_detector_update(struct ek_detector *d, const struct ek_list *q,
                       struct ek_list_stats_builder *read, int64_t time_ms, struct ek_error *e);
/* The detector's own, which ek_detector_observe reads with. */
struct ek_list_stats_builder *ek_detector_reader(struct ek_detector *d);
/* The next finding, oldest first; 0 when there is none. Its texts are good until the next list is
 * observed; while findings wait, no cell goes to another value. */
int ek_detector_next(struct ek_detector *d, struct ek_finding *out);
/* What the feature is like in the cell now is normal there: ends the confirmed change as accepted,
 * lowers its rows by its shift and begins the evidence anew. The shift, in ln, and the number of
 * the accept. EK_ESTATE: nothing is confirmed there, or nothing that a shift makes normal; the
 * message says what to do. EK_ELIMIT: too many; then, too, all is as it was. */
int ek_detector_accept(struct ek_detector *d, int feature, int cell, struct ek_level_offset *out,
                       struct ek_error *e);
/* Takes the accept of that number back, which *out was. EK_ESTATE: there is none. */
int ek_detector_revert(struct ek_detector *d, uint64_t version, struct ek_level_offset *out,
                       struct ek_error *e);
/* As long as the detector lives. */
const struct ek_level_offsets *ek_detector_offsets(const struct ek_detector *d);
/* Ends the open changes of features that the rules do not watch, which may have been others when
 * they began. Whether there were any. */
bool ek_detector_dismiss_unwatched(struct ek_detector *d);
/* Features with a confirmed change of this cause now, ascending, at most `most`. Returns how many.
 */
int ek_detector_members(const struct ek_detector *d, uint32_t cause, int *features, int most);
/* The cells for which held [cells] is not 0 stay those of their values; no other does for this. */
void ek_detector_retain_cells(struct ek_detector *d, const uint8_t *held, int cells);
/* Cells of the list last observed. */
const int16_t *ek_detector_cells(const struct ek_detector *d, int *count);
const struct ek_cells *ek_detector_registry(const struct ek_detector *d);
/* How much was beyond the limits of the detector so far. */
struct ek_limit_counters ek_detector_limit_counters(const struct ek_detector *d);
uint64_t ek_detector_list_count(const struct ek_detector *d);
/* Changes that were looked at again with the list last observed, which is what makes a list dear:
 * one, or up to four while many are only suspected. */
int ek_detector_diagnosis_count(const struct ek_detector *d);

/* How things stand with one feature in one cell right now, for who draws it over time.
 *
 * Plain values; a figure is NaN where there is none. Costs some 50 ns. Threads: those of the
 * detector.
 */
enum ek_track_state { EK_TRACK_WATCHED, EK_TRACK_SUSPECTED, EK_TRACK_CONFIRMED };
/* "watched", ... */
const char *ek_track_state_name(enum ek_track_state s);

struct ek_track_point {
    uint64_t query; /* of the last list of any cell */
    int64_t time_ms;
    enum ek_track_state state;
    float evidence_ln;     /* ln of the statistic that raises the alarm */
    float factor_ln;       /* of a confirmed change that has one */
    float low_ln, high_ln; /* and its 95% interval */
};

/* False: there was no list yet. */
bool ek_detector_get_point(const struct ek_detector *d, int feature, int cell,
                           struct ek_track_point *out);
/* The level of evidence_ln at which the alarm is raised. */
double ek_detector_alarm_ln(const struct ek_detector *d);

#endif
