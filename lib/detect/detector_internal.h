/* Internals of the drift detector, shared by its source files:
 *
 * - detector.c: evidence
 * - episode.c: lifecycle of a finding, from alarm to recovery
 * - diagnose.c: class, level and start of a change; factors that differ by list
 * - localize_segment.c: segment that explains a change
 * - incident.c: grouping of findings
 * - fault_membership.c: lists affected by a change
 * - accepted_shift.c: accepted levels
 */
#ifndef EK_DETECT_DETECTOR_INTERNAL_H
#define EK_DETECT_DETECTOR_INTERNAL_H

#include "assets/learned_levels.h"
#include "detect/bounds.h"
#include "detect/category.h"
#include "detect/classify.h"
#include "detect/detector.h"
#include "detect/evidence.h"
#include "detect/history.h"
#include "detect/list_stats_builder.h"
#include "detect/traffic_mix.h"
#include "detect/dedup.h"

#include <math.h>

enum ek_phase { EK_PHASE_NONE, EK_PHASE_SUSPECTED, EK_PHASE_CONFIRMED };

enum {
    EK_UPDATE_LISTS = 256,  /* lists of the cell between two diagnoses of a confirmed finding */
    EK_CELLS_INITIAL = 8,   /* initial capacity; doubles */
    EK_RECOVERY_LISTS = 64, /* lists of the cell that must look normal if there is no level */
};

/* Reasons for dismissing an episode. */
enum ek_reason {
    EK_REASON_SEGMENT,
    EK_REASON_OTHER_CELL,
    EK_REASON_ALL_TRAFFIC,
    EK_REASON_CONTINUES,
    EK_REASON_TOO_SMALL,
    EK_REASON_UNSUPPORTED,
    EK_REASON_OTHER_FINDING,
    EK_REASON_NO_LISTS,
    EK_REASON_ACCEPTED,
    EK_REASON_OTHER_NORMAL,
    EK_REASON_NOT_WATCHED,
    EK_REASONS
};

struct ek_episode {
    uint32_t number, cause;
    enum ek_phase phase;
    int feature, cell, bet;
    int claimed;                    /* its lists are no evidence for other cells */
    int unreported;                 /* not reported yet: the change looks too small */
    int attempts, uncertain, waits; /* counts up to ATTEMPTS, UNCERTAIN, WAITS of episode.c */
    enum ek_class last_class; /* class of the last diagnosis; may differ from the reported class */
    unsigned from_dimensions; /* bit mask of the dimensions whose cells handed over the change */
    uint32_t handed_from;     /* number of the episode that handed over the change; 0: none */
    uint64_t alarm_row;
    uint64_t since_row, since_query; /* first list of the change */
    uint64_t span_first, span_last;  /* rows between which the change began; set on confirmation */
    int64_t since_ms;
    uint32_t lists, due; /* lists of the cell since the alarm, now and at the next diagnosis */
    double level_error;  /* standard error of the level before the change (ln) */
    double before_ln;    /* level before the change, relative to training */
    double wider;        /* own spread before the change, beyond that of training (ln); -1: unknown,
                          * as the history has no list before the change */
    struct ek_usual usual; /* of the segment before the change; unknown for all traffic */
    int gradual;           /* the level moved little by little, as no change of unit does */
    int varies;            /* lists have factors of their own */
    int mix;               /* enum ek_mix, or EK_MIX_EXCLUDED if unknown */
    struct ek_diagnosis diagnosis;
    struct ek_category_diagnosis category; /* for EK_NEW_CATEGORY */
    int query_feature;                     /* its value is the factor; -1: constant factor */
    double recovery;    /* Shiryaev-Roberts statistic of recovery; for classes without a level the
                         * number of consecutive normal lists */
    double recovery_ln; /* CUSUM of the recovery bets (ln), or odds against a change of shares */
    uint64_t recovery_row;  /* row at which recovery_ln last started from 0 */
    int reported_lasting;   /* the last update was reported with a lasting change */
    int recovering;         /* `recovery` reached its threshold; segment values are still checked */
    uint32_t recovering_at; /* `lists` at that time */
};

enum { EK_PAST_INCIDENTS = 64 };

/* Reasons for which a list is no evidence. */
enum ek_unused {
    EK_UNUSED_STRATUM,
    EK_UNUSED_ITEMS,
    EK_UNUSED_REPEAT,
    EK_UNUSED_QUERY,
    EK_UNUSED_REASONS
};

/* Return the limit that counts such lists. */
static inline enum ek_bound ek_unused_bound(enum ek_unused why)
{
    static const enum ek_bound bounds[] = {EK_BOUND_STRATA, EK_BOUND_ITEMS, EK_BOUND_REPEATS,
                                           EK_BOUND_QUERIES};
    return bounds[why];
}

/* A recovered finding, whose incident reopens if the same change returns. */
struct ek_past_finding {
    int feature, cell, query_feature;
    enum ek_class class;
    uint32_t cause; /* 0: unused */
    double shift_ln, error_ln;
    int64_t ended_ms;
    uint64_t ended_row;
};

/* Cached lists of a feature in a cell, collected from the newest back into the end of the
 * detector's arrays. The next window of the same feature and cell extends them, unless a list or a
 * claim was added. */
struct ek_walk {
    int feature, cell;
    uint32_t claims; /* of the detector, at the start */
    uint64_t end;    /* row count of the history at the start */
    uint64_t row;    /* rows from here on were examined */
    int at;          /* first used index of the arrays */
};

/* Diagnoses that the current list may run. A diagnosis costs as much as several lists. */
struct ek_scheduler {
    const struct ek_episode *update;     /* confirmed episode to diagnose; NULL: none */
    const struct ek_episode *recovering; /* recovering episode to check by segments */
    int suspected_left;                  /* remaining diagnoses of suspected episodes */
    int recovering_left;                 /* remaining checks of segments */
    int diagnoses;                       /* diagnoses so far */
};

/* Rows of a cell in the calibration of segments. */
struct ek_segment_rows {
    bool known;
    uint32_t first, count;
};

/* A member that cannot be derived from others belongs to the checkpoint (detector_state.c). */
struct ek_detector {
    const struct ek_manifest *manifest;
    const struct ek_profile *profile;
    uint64_t profile_hash; /* cached: ek_profile_hash reads a megabyte */
    const struct ek_rules *rules;
    int features, query_features;
    struct ek_list_stats_builder *reader; /* for ek_detector_observe */
    bool *watched;                        /* [F] */
    float (*bet_scale)[EK_BETS];          /* [S, F] 1 / calibration */
    float (*segment_scale)[EK_BETS];      /* [F] scratch of a segment; NULL: none has its own */
    struct ek_segment_rows *segment_rows; /* [cell_capacity]; NULL likewise */
    float *band; /* [S, padded] dead bands of the levels of strata; row 0: of all traffic */
    int padded;  /* features, rounded up to blocks */
    uint16_t *evident_default; /* features for which a list is evidence without open episodes; bits
                                * as in evidence.h */
    uint16_t *evident;         /* scratch: the same for one list */
    struct ek_alarm *alarm;    /* [F] scratch */
    struct ek_alarm_level level;
    float unused[EK_UNUSED_REASONS]; /* fraction of the last lists, decaying by UNUSED_LISTS */
    int outside_query; /* the last query feature outside its range, not in checkpoints; -1: none */
    float track_lists; /* current half-life of the tracked level of all traffic */
    struct ek_learned_levels *learned; /* of new items; NULL without levels by item */
    float *common, *value_ln; /* [levels by item] scratch: ln that a list has in common, values of
                               * an item */
    struct ek_dedup *repeats;
    struct ek_history *history;
    struct ek_cells *cells;
    int cell_capacity;
    struct ek_evidence_cells *evidence;
    struct ek_evidence_sum *evidence_sum; /* NULL outside a fleet; not in checkpoints */
    struct ek_categories *categories;
    uint16_t *episode_of; /* [cell_capacity, F], number in `episode` plus 1; 0: none */
    struct ek_cell_calibration *calibrations; /* NULL without ek_detector_calibrates */
    int baseline;      /* segment dimension that the profile is stratified by; -1: none */
    uint8_t *retained; /* [cell_capacity] retained by ek_detector_retain_cells */
    struct ek_level_offsets level_offsets;
    uint64_t *recovered_row; /* [F] first row after the last recovery, a bound of later changes */
    int *open;       /* [F] number of episodes that claim their lists, including foreign claims */
    uint32_t claims; /* number of changes of `open` */
    struct ek_fleet_claim_item *foreign_claim; /* [foreign_claims] of other instances */
    int foreign_claims;
    uint8_t *foreign;           /* [cell_capacity, F] in foreign_claim; NULL before the first */
    struct ek_episode *episode; /* [EK_EPISODES_MAX] */
    int episodes;
    uint32_t episodes_ever, causes_ever;
    struct ek_past_finding past[EK_PAST_INCIDENTS]; /* ring */
    uint64_t past_ever;
    struct ek_finding *finding; /* ring [EK_FINDINGS_MAX] */
    uint64_t findings, fetched;
    struct ek_limit_counters exceeded; /* without EK_BOUND_CELLS, which `cells` counts */
    uint64_t queries;
    int16_t cell_of[EK_CELLS_PER_LIST]; /* of the last list */
    uint32_t observed; /* those of cell_of that observe it, as bits; only during an update */
    /* Scratch for a diagnosis, [EK_HISTORY] each. */
    struct ek_list_stats *window;
    float *window_level; /* of the list's stratum */
    uint64_t *rows;
    const uint64_t *window_row; /* rows of the last window, inside `rows` */
    struct ek_walk walk;
    struct ek_scheduler scheduler;
    float *residual, *offset;
    double *tail;
};

/* Return the number of tested series: one for each watched feature, two for a category. */
int ek_detector_watch_count(const struct ek_detector *d);
/* Reset the evidence and history of the cells that the last list reassigned. R = 0 is the state of
 * a value that had the cell from the start, so each list is tested once per dimension and the
 * false-alarm budget holds (evidence.h). */
void ek_detector_reset_reused(struct ek_detector *d);
/* Grow all arrays to `cells` cells. Return 0 or EK_ENOMEM. */
int ek_detector_reserve_cells(struct ek_detector *d, int cells);
/* Set *w and d->window_row to the lists of a cell since row `since`, without lists that other
 * episodes explain. The detector owns the arrays of *w, which are valid until the next window.
 * Return their number. */
int ek_detector_window(struct ek_detector *d, int feature, int cell, uint64_t since,
                       struct ek_window *w);
/* Set *w as ek_detector_window does, but to at most the last `most` of these lists. Return their
 * number. */
int ek_detector_window_for(struct ek_detector *d, int feature, int cell, uint64_t since, int most,
                           struct ek_window *w);
/* Return whether an episode in another of the list's cells explains the feature in this list.
 * Segments take precedence over all traffic, older episodes over newer ones. */
bool ek_detector_is_explained(const struct ek_detector *d, const int16_t *cells, int feature,
                              int cell);

/* Return the index of a feature of a cell in `episode_of` and `foreign`. */
static inline size_t ek_detector_cell_slot(const struct ek_detector *d, int cell, int feature)
{
    return (size_t)cell * (size_t)d->features + (size_t)feature;
}

/* Return whether another instance claims a finding on the feature in the cell. */
static inline bool ek_detector_is_foreign(const struct ek_detector *d, int cell, int feature)
{
    return d->foreign && d->foreign[ek_detector_cell_slot(d, cell, feature)];
}

/* Return the tracked level of a cell relative to its strata in training: the level of all traffic
 * plus the difference of the segment. */
static inline float ek_detector_level(const struct ek_detector *d, int cell, int feature)
{
    float all = ek_evidence_mu(d->evidence, 0, feature);
    return cell ? all + ek_evidence_mu(d->evidence, cell, feature) : all;
}

/* Return whether a cell has an online calibration: of a stratum, or of a segment that differs in
 * shape. */
bool ek_detector_calibrates(struct ek_detector *d, int cell);
/* Return the dead-bands [padded] of the levels of a cell's lists, which are of the stratum. The
 * detector owns them. */
static inline const float *ek_detector_band(const struct ek_detector *d, int cell, int stratum)
{
    int own = cell && ek_cells_dimension(d->cells, cell) == d->baseline;
    return d->band + (own ? (size_t)stratum * (size_t)d->padded : 0);
}

/* Return the rule of an item feature; the detector's rules own it. */
static inline const struct ek_feature_rule *ek_detector_rule(const struct ek_detector *d,
                                                             int feature)
{
    return &d->rules->feature[d->manifest->item[feature] - d->manifest->features];
}

/* Return whether the finding has a factor and a fraction of lists. */
static inline int ek_episode_has_level(const struct ek_episode *e)
{
    return e->diagnosis.class == EK_SCALE;
}

/* Return whether the lists moved by a query feature each. Under 1 over a query feature residuals
 * can become narrower than in training, whose density then prefers the one factor of the level. */
static inline bool ek_episode_is_by_list(const struct ek_episode *e)
{
    return e->query_feature >= 0 && !(e->diagnosis.exponent < 0);
}

/* Return the ln factor of a list with this value of the query feature; 0 if it is unusable. */
static inline double ek_query_factor_ln(float value)
{
    return value > 0 && isfinite(value) ? logf(value) : 0;
}

/* Return whether all traffic gave a change back to the dimension of the episode, where it had
 * begun. The lists of the segment before it are no healthy ones. */
static inline bool ek_episode_has_returned(const struct ek_detector *d, const struct ek_episode *e)
{
    int dimension = ek_cells_dimension(d->cells, e->cell);
    return dimension >= 0 && (e->from_dimensions >> dimension & 1);
}

/* Return the training density of residual `r`. */
static inline double ek_density_at(const float *density, double r)
{
    return density[ek_residual_bin((float)r)];
}

/* Return the episode of a feature in a cell, owned by the detector, or NULL. */
static inline struct ek_episode *ek_episode_at(const struct ek_detector *d, int cell, int feature)
{
    int number = d->episode_of[ek_detector_cell_slot(d, cell, feature)];
    return number ? &d->episode[number - 1] : NULL;
}

/* Select the episodes that the current list may diagnose. Call before updating the episodes. */
void ek_scheduler_refill(struct ek_detector *d);
/* Return whether an episode that is due may be diagnosed now, and count the diagnosis. */
bool ek_scheduler_can_diagnose(struct ek_detector *d, const struct ek_episode *e);
/* Return whether a recovering episode may be checked by segments now, and count the check. new: it
 * is recovering since the current list. */
bool ek_scheduler_can_recover(struct ek_detector *d, const struct ek_episode *e, bool new);

/* Open an episode for an alarm. Return it, owned by the detector and valid until it is dismissed or
 * ends; or NULL, with nothing changed, if all episodes are in use. */
struct ek_episode *ek_episode_open(struct ek_detector *d, int feature, int cell, int bet);
/* Set *f to the finding of an episode, with this state. `reason`: of a dismissal, or of a recovery
 * because lists stopped, a static string; else NULL. The other strings are valid until the next
 * list. */
void ek_episode_finding(const struct ek_detector *d, const struct ek_episode *e,
                        enum ek_finding_state state, const char *reason, struct ek_finding *f);
/* Update an episode with a list of its cell: diagnose, confirm, end or dismiss it when due.
 * residual: relative to the tracked level. query: query features of the list. */
void ek_episode_list(struct ek_detector *d, struct ek_episode *e,
                     const struct ek_list_stats *record, float residual, const float *query);
/* End the episodes of segments without a list in the history: dismiss suspected ones, and let
 * confirmed ones recover, these also after 64 expected lists without one. */
void ek_episodes_remove_expired(struct ek_detector *d);
/* Queue an episode as dismissed and close it; *e is then unused. */
void ek_episode_dismiss(struct ek_detector *d, struct ek_episode *e, enum ek_reason why);
/* Queue a finding EK_UPDATED for a confirmed episode. */
void ek_episode_report_updated(struct ek_detector *d, const struct ek_episode *e);
/* Queue a finding EK_DISMISSED for an episode that is not in the detector. */
void ek_episode_report_dismissed(struct ek_detector *d, const struct ek_episode *e,
                                 enum ek_reason why);
/* Return an unused element of d->episode, owned by the detector; NULL, counted as EK_BOUND_CHANGES,
 * if all are in use. It is neither zeroed nor reserved: fill all of it and call ek_episode_enter
 * before the next call. */
struct ek_episode *ek_episode_place(struct ek_detector *d);
/* Register a filled episode, an element of d->episode, under its feature and cell, and retain the
 * cell. */
void ek_episode_enter(struct ek_detector *d, const struct ek_episode *e);
/* Return the text of an enum ek_reason, a static string: "explained by a segment", ... */
const char *ek_reason_text(int reason);
/* Return whether at least `action_min_fraction` of the newer half of the lists since the alarm are
 * affected, within sampling error (fault_membership.c). */
bool ek_episode_is_lasting(const struct ek_detector *d, const struct ek_episode *e);
/* Claim the lists of the episode: they are no evidence for other cells. */
void ek_episode_mark_lists(struct ek_detector *d, struct ek_episode *e);

/* Serialization of parts of the checkpoint. Episodes follow cells and history; reading registers
 * them. */
struct ek_serialize_bounds {
    int features, query_features, cells;
};
/* Read or write an episode; reading fails beyond the bounds. Errors are in s->rc. */
void ek_episode_serialize(struct ek_episode *e, struct ek_serialize *s,
                          const struct ek_serialize_bounds *b);
/* Read or write the accepted shifts; reading retains their cells. Errors are in s->rc. */
void ek_detector_offsets_serialize(struct ek_detector *d, struct ek_serialize *s);

/* Return the number of unused episodes. */
int ek_episodes_available(const struct ek_detector *d);
/* Confirm an episode whose change was reported as `from`, in another segment. It joins the incident
 * of `from`, and takes its diagnosis if its own lists allow none. */
void ek_episode_inherit(struct ek_detector *d, struct ek_episode *e, const struct ek_episode *from);

/* Set the incident of an episode at its confirmation: a shared one or a new one. */
void ek_incident_assign(struct ek_detector *d, struct ek_episode *e);
/* Record a finding that recovers now, so that its incident reopens if the change returns within 24
 * minimum durations. */
void ek_incident_remember(struct ek_detector *d, const struct ek_episode *e);
/* Return whether the incident of an episode has ended before, in any segment, for its feature. */
bool ek_incident_has_ended(const struct ek_detector *d, const struct ek_episode *e);
/* Remove the past findings of a cell that gets another segment value. */
void ek_incidents_reset_cell(struct ek_detector *d, int cell);
/* Read or write the past findings; `cells` is an exclusive upper bound. Earlier versions did not
 * write them, so reading accepts an empty part. Errors are in s->rc. */
void ek_incidents_serialize(struct ek_detector *d, struct ek_serialize *s, int cells);
/* Dismiss the episodes that a confirmed episode explains: suspected ones in other dimensions, and
 * the same change in segments if it now affects all traffic. */
void ek_incident_dismiss_others(struct ek_detector *d, struct ek_episode *e);

/* Return the row at which the change began: the maximum of the tail sums of ln e of the bet. */
uint64_t ek_change_point(struct ek_detector *d, int feature, int cell, int bet);
/* Set the start of the change (e->since_row, since_query, since_ms) to the change point of the
 * diagnosed shift, which separates lists better than the bet of the alarm. Without a usable list
 * they stay unchanged. */
void ek_refine_since(struct ek_detector *d, struct ek_episode *e);
/* Set the start of the change (e->since_row, since_query, since_ms) to a row of the history. */
void ek_episode_begin(struct ek_detector *d, struct ek_episode *e, uint64_t row);
/* Diagnose the lists since the change. Sets e->diagnosis and *w. Return 1 if the change exceeds
 * report_threshold, 0 if that is undecided, and -1 if it is smaller or there are no lists. */
int ek_diagnose(struct ek_detector *d, struct ek_episode *e, struct ek_window *w);
/* Return whether the first lists suffice to confirm a scale by one factor: its interval is narrow,
 * the spread is that of training, and no query feature explains the lists about as well. */
bool ek_diagnosis_is_plain_scale(struct ek_detector *d, const struct ek_episode *e,
                                 const struct ek_window *w);
/* Return whether a watched query feature explains a shift of the level that follows it: its own
 * values have moved against training by as much in the other direction. Uses the window. */
bool ek_episode_follows_query(struct ek_detector *d, const struct ek_episode *e);
/* Return 1 if the newest lists agree with the diagnosis of a confirmed episode. Return 0 if it
 * needs ek_diagnose. */
int ek_diagnosis_is_current(struct ek_detector *d, struct ek_episode *e);

/* Add shift_ln to the tracked level of the episode's cell. Segments with an open episode of the
 * feature keep their absolute level, because their change is measured against it. */
void ek_episode_follow(struct ek_detector *d, const struct ek_episode *e, double shift_ln);
/* Return the design effect of the level of the episode's feature, at least 1. */
double ek_episode_design_effect(const struct ek_detector *d, const struct ek_episode *e);
/* Return the baseline of the lists of an episode, as usual in its segment: that of the profile, or
 * *own, which is set. */
const struct ek_baseline *ek_episode_baseline(const struct ek_detector *d,
                                              const struct ek_episode *e, struct ek_baseline *own);
/* Keep the level of all traffic within its range in training, so that a change beyond
 * action_threshold is measured against training and not against a level that has followed it. */
void ek_episode_bound_level(struct ek_detector *d, const struct ek_episode *e);
/* Return 1 if nearly all lists moved by less than report_threshold, as healthy traffic does, else
 * 0. level: the alignment of these lists. */
int ek_episode_is_small_shift(const struct ek_detector *d, const struct ek_episode *e,
                              const struct ek_alignment *level);
/* Return 1 if nearly all lists known at the alarm moved by less than report_threshold, as healthy
 * traffic does, else 0. */
int ek_episode_is_small_at_alarm(struct ek_detector *d, const struct ek_episode *e);

enum ek_recovery {
    EK_RECOVERY_NONE,
    EK_RECOVERY_FULL,
    EK_RECOVERY_PARTIAL /* episodes of some segment values received the change */
};

enum ek_localization {
    EK_LOCALIZE_SAME,      /* no segment dimension explains the change better */
    EK_LOCALIZE_UNDECIDED, /* more lists may decide */
    EK_LOCALIZE_MOVED      /* to episodes of other cells; the caller dismisses this one */
};
/* Replace the episode by episodes of segments if one dimension explains the change better than its
 * cell: the lists from row `since` on moved in some of its values and not in others. Return the
 * decision; after EK_LOCALIZE_MOVED the caller dismisses e. */
enum ek_localization ek_localize(struct ek_detector *d, struct ek_episode *e, uint64_t since);
/* Convert a confirmed episode to one of all traffic if nearly all recent lists are in segments with
 * the same confirmed change. The episode may be dismissed. */
void ek_localize_joined(struct ek_detector *d, struct ek_episode *e);
/* Return whether two episodes are the same change of the same feature, within error. */
int ek_incident_is_same_change(const struct ek_episode *a, const struct ek_episode *b);
/* Replace an unclaimed episode of a segment by one of all traffic if the other lists moved too.
 * Call before confirming it. Return the decision: EK_LOCALIZE_SAME also if too few episodes are
 * unused; after EK_LOCALIZE_MOVED the caller dismisses e. */
enum ek_localization ek_localize_to_all(struct ek_detector *d, struct ek_episode *e);
struct ek_split;
/* Open and claim episodes for the hit values of a split. If e is confirmed they are confirmed at
 * once, so that no affected list loses its route. Return 1; or 0, with nothing changed, if too few
 * episodes are unused. */
int ek_localize_to(struct ek_detector *d, struct ek_episode *e, const struct ek_split *s);

#endif
