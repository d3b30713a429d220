/* State of the detector, shared by its parts: detector.c (evidence), episode.c (alarm to recovery),
 * diagnose.c (what happened, and since when; a factor that differs by list), localize_segment.c
 * (which cell explains it), incident.c (what belongs together), fault_membership.c (which lists
 * have it), accepted_shift.c (when it is the new normal).
 */
#ifndef EK_DETECT_DETECTOR_INTERNAL_H
#define EK_DETECT_DETECTOR_INTERNAL_H

#include "detect/bounds.h"
#include "detect/category.h"
#include "detect/classify.h"
#include "detect/detector.h"
#include "detect/evidence.h"
#include "detect/history.h"
#include "detect/list_stats_builder.h"
#include "detect/dedup.h"

enum ek_phase { EK_WATCHING, EK_PHASE_SUSPECTED, EK_PHASE_CONFIRMED };

enum {
    EK_UPDATE_LISTS = 256,  /* of the cell, between two diagnoses of a confirmed finding */
    EK_CELLS_AT_FIRST = 8,  /* room is made for; then twice as many */
    EK_RECOVERY_LISTS = 64, /* of the cell, looked at for classes without a level */
};

/* Why an episode is dismissed. */
enum ek_reason {
    EK_BY_A_SEGMENT,
    EK_BY_ANOTHER_CELL,
    EK_BY_ALL_TRAFFIC,
    EK_GOES_ON_IN_A_SEGMENT,
    EK_TOO_SMALL,
    EK_NOT_BORNE_OUT,
    EK_BY_ANOTHER_FINDING,
    EK_NO_LISTS,
    EK_ACCEPTED,
    EK_OTHER_NORMAL,
    EK_NOT_WATCHED,
    EK_REASONS
};

struct ek_episode {
    uint32_t number, cause;
    enum ek_phase phase;
    int feature, cell, bet;
    int claimed; /* its lists are no evidence for other cells */
    int quiet;   /* looks too small to tell so far: nobody hears of it */
    int attempts, looks, waits;
    enum ek_class rival; /* class of the last diagnosis, which may differ from the one told */
    unsigned through;    /* dimensions, as bits, whose cells handed the change over to this one */
    uint32_t kin; /* number of the episode that handed the change over to this one; 0: none */
    uint64_t alarm_row;
    uint64_t since_row, since_query; /* first list of the change */
    uint64_t span_first, span_last;  /* rows between which it began, once confirmed */
    int64_t since_ms;
    uint32_t lists, due; /* of the cell since the alarm; when the next diagnosis is due */
    double level_error;  /* standard error of the level before the change (ln) */
    struct ek_diagnosis diagnosis;
    struct ek_category_diagnosis category; /* for EK_NEW_CATEGORY */
    int query_feature;                     /* -1: one number */
    double recovery;     /* Shiryaev-Roberts statistic of being back to normal; without a level, how
                          * many lists in a row looked normal */
    double relief_ln;    /* the same without a start at 1: what the last lists say in all */
    uint64_t relief_row; /* since when it has been growing */
    int relieved;        /* it was enough once, and some segment values are still awaited */
    uint32_t relieved_at; /* lists */
};

/* Lists of a feature in a cell, walked from the newest back: at the end of the detector's arrays.
 * Whoever asks for them again, or for more of them, before anything changed goes on from there. */
struct ek_walk {
    int feature, cell;
    uint32_t claims; /* when it began */
    uint64_t end;    /* rows of the history then */
    uint64_t row;    /* seen down to this one */
    int at;          /* of the arrays are filled from here on */
};

/* Whose turn it is to be looked at with the present list: a look costs as much as some lists do. */
struct ek_scheduler {
    const struct ek_episode *update; /* NULL: nobody's */
    const struct ek_episode *relief; /* to ask whether the change goes on in a segment */
    int firsts;                      /* how many suspicions may be looked at yet */
    int reliefs;                     /* the same of reliefs */
    int looks;                       /* taken */
};

/* What is added here and does not follow from the rest belongs into its parts (detector_state.c).
 */
struct ek_detector {
    const struct ek_manifest *manifest;
    const struct ek_profile *profile;
    uint64_t profile_hash; /* of ek_profile_hash, which goes over a megabyte */
    const struct ek_rules *rules;
    int features, query_features;
    struct ek_list_stats_builder *reader; /* of who has none */
    bool *watched, *resembles;            /* [F] */
    float (*fair)[EK_BETS];               /* [S, F] 1 / calibration */
    uint16_t *usual[2];     /* features that a list, and a related one, is evidence of while
                             * nothing is open; as in evidence.h */
    uint16_t *evident;      /* scratch: the same for a list */
    struct ek_alarm *alarm; /* [F] scratch */
    struct ek_alarm_level level;
    float track_lists; /* half-life of the tracked level of all traffic now */
    struct ek_dedup *repeats, *relatives;
    struct ek_history *history;
    struct ek_cells *cells;
    int cell_capacity;
    struct ek_evidence_cells *evidence;
    struct ek_evidence_sum *tick; /* NULL outside a fleet; what is in it is told, not kept */
    struct ek_categories *categories;
    uint16_t *episode_of; /* [cell_capacity, F], number in `episode` plus 1; 0: none */
    struct ek_cell_calibration *calibrations; /* NULL when no segment is the baseline */
    int baseline;                             /* segment dimension that is the baseline field, -1 */
    uint8_t *planned;                         /* [cell_capacity] has an entry in the plan */
    struct ek_level_offsets rebases;
    uint64_t *settled; /* [F] first row behind the last recovery: no later change began before */
    int *open;         /* [F] episodes that claim their lists, per feature */
    uint32_t claims;   /* how often that has changed */
    struct ek_fleet_claim_item *foreign_claim; /* of others in a fleet, which `open` counts too */
    int foreign_claims;
    uint8_t *foreign;           /* [cell_capacity, F] is among them; NULL before the first */
    struct ek_episode *episode; /* [EK_EPISODES_MAX] */
    int episodes;
    uint32_t episodes_ever, causes_ever;
    struct ek_finding *finding; /* ring [EK_FINDINGS_MAX] */
    uint64_t findings, fetched;
    struct ek_limit_counters
        beyond; /* the limits of the detector; cells are counted by the registry */
    uint64_t queries;
    int16_t cell_of[EK_CELLS_PER_LIST]; /* of the last list */
    /* scratch for a diagnosis, [EK_HISTORY] each */
    struct ek_list_stats *window;
    float *window_level; /* of the list's stratum */
    uint64_t *rows;
    const uint64_t *window_row; /* of the last window taken: in `rows` */
    struct ek_walk walk;
    struct ek_scheduler turns;
    float *residual, *offset;
    double *tail;
    float *slope; /* [query_features] */
};

/* Features that are watched, categories twice. */
int ek_detector_watch_count(const struct ek_detector *d);
/* Cells that changed hands with the last list start from nothing. */
void ek_detector_reset_reused(struct ek_detector *d);
/* Room for so many cells. EK_ENOMEM. */
int ek_detector_reserve_cells(struct ek_detector *d, int cells);
/* Whether the residuals of related lists of this feature resemble each other: only the first of
 * them is evidence then. */
static inline bool ek_detector_is_similar(const struct ek_detector *d, int feature)
{
    return d->resembles[feature];
}

/* Records of a cell's lists since row `since`, lists that other episodes explain left out. Returns
 * how many; w->record and d->window_row are filled, until another window is taken. */
int ek_detector_window(struct ek_detector *d, int feature, int cell, uint64_t since,
                       struct ek_window *w);
/* The same of the last `most` of them. */
int ek_detector_window_for(struct ek_detector *d, int feature, int cell, uint64_t since, int most,
                           struct ek_window *w);
/* Whether an episode on another of these cells (those of a list) explains what the list says of the
 * feature. Where several do, a segment goes before all traffic, and the older before the younger.
 */
bool ek_detector_is_explained(const struct ek_detector *d, const int16_t *cells, int feature,
                              int cell);

/* Where `episode_of` keeps a feature of a cell. */
static inline size_t ek_detector_cell_slot(const struct ek_detector *d, int cell, int feature)
{
    return (size_t)cell * (size_t)d->features + (size_t)feature;
}

/* Whether another instance has a finding there. */
static inline bool ek_detector_is_foreign(const struct ek_detector *d, int cell, int feature)
{
    return d->foreign && d->foreign[ek_detector_cell_slot(d, cell, feature)];
}

/* Tracked level of a cell, relative to its strata in training: a segment value goes with all
 * traffic, and has a difference of its own. */
static inline float ek_detector_level(const struct ek_detector *d, int cell, int feature)
{
    float all = ek_evidence_mu(d->evidence, 0, feature);
    return cell ? all + ek_evidence_mu(d->evidence, cell, feature) : all;
}

static inline const struct ek_feature_rule *ek_detector_rule(const struct ek_detector *d,
                                                             int feature)
{
    return &d->rules->feature[d->manifest->item[feature] - d->manifest->features];
}

/* Whether the finding has a factor and a share. */
static inline int ek_episode_has_level(const struct ek_episode *e)
{
    return e->diagnosis.class == EK_SCALE;
}

static inline double ek_density_at(const float *density, double r)
{
    return density[ek_residual_bin((float)r)];
}

/* NULL when there is none. */
static inline struct ek_episode *ek_episode_at(const struct ek_detector *d, int cell, int feature)
{
    int number = d->episode_of[ek_detector_cell_slot(d, cell, feature)];
    return number ? &d->episode[number - 1] : NULL;
}

/* Gives the turns of a list, before the episodes hear of it. */
void ek_scheduler_refill(struct ek_detector *d);
/* Whether an episode that is due may be looked at now, which takes its turn. */
bool ek_scheduler_can_diagnose(struct ek_detector *d, const struct ek_episode *e);
/* Whether a relieved one may; `new`: it was relieved by this list. */
bool ek_scheduler_can_relieve(struct ek_detector *d, const struct ek_episode *e, bool new);

/* Opens an episode at the alarm; NULL when there is no room (nothing happens then). */
struct ek_episode *ek_episode_open(struct ek_detector *d, int feature, int cell, int bet);
/* What is to be told of it now. */
void ek_episode_finding(const struct ek_detector *d, const struct ek_episode *e,
                        enum ek_finding_state state, const char *reason, struct ek_finding *f);
/* One more list of the episode's cell. */
void ek_episode_list(struct ek_detector *d, struct ek_episode *e,
                     const struct ek_list_stats *record, float residual, const float *query);
/* Ends the episodes whose cell has had no list in the whole history. */
void ek_episodes_remove_expired(struct ek_detector *d);
void ek_episode_dismiss(struct ek_detector *d, struct ek_episode *e, enum ek_reason why);
/* What is told of a confirmed one is no longer right. */
void ek_episode_report_updated(struct ek_detector *d, const struct ek_episode *e);
/* Only tells of it, for one that is not among those of the detector. */
void ek_episode_report_dismissed(struct ek_detector *d, const struct ek_episode *e,
                                 enum ek_reason why);
/* Room for one more; NULL without, which is counted. */
struct ek_episode *ek_episode_place(struct ek_detector *d);
/* Makes one that stands in its place known to its feature and its cell. */
void ek_episode_enter(struct ek_detector *d, const struct ek_episode *e);
/* "explained by a segment", ... */
const char *ek_reason_text(int reason);
/* Whether the newer half of its lists since the alarm shows it in `action_min_fraction` of them, as
 * far as that many can say (fault_membership.c). */
bool ek_episode_is_lasting(const struct ek_detector *d, const struct ek_episode *e);
/* Marks the episode as the explanation of its lists. */
void ek_episode_mark_lists(struct ek_detector *d, struct ek_episode *e);

/* Walks over parts of the state. Episodes come behind cells and history; reading enters them where
 * cells and features are asked for them. */
struct ek_serialize_bounds {
    int features, query_features, cells;
};
void ek_episode_serialize(struct ek_episode *e, struct ek_serialize *s,
                          const struct ek_serialize_bounds *b);
void ek_detector_offsets_serialize(struct ek_detector *d, struct ek_serialize *s);

/* How many more episodes can be opened. */
int ek_episodes_available(const struct ek_detector *d);
/* Confirms an episode that took the change over from a confirmed one. */
void ek_episode_inherit(struct ek_detector *d, struct ek_episode *e, const struct ek_episode *from);

/* Gives an episode that is being confirmed the cause it shares with others, or one of its own. */
void ek_incident_name(struct ek_detector *d, struct ek_episode *e);
/* Dismisses what a confirmed episode explains: what other cells only suspected of its lists, and
 * the same change of a part of all traffic when it is everywhere now. */
void ek_incident_dismiss_others(struct ek_detector *d, const struct ek_episode *e);

/* Where the winning bet's ln e last had its largest tail sum: the change began there. */
uint64_t ek_change_point(struct ek_detector *d, int feature, int cell, int bet);
/* The change point again, now that the shift is known: a list is told from one before the change by
 * far more than the alarm's bet can. */
void ek_refine_since(struct ek_detector *d, struct ek_episode *e);
/* Dates the change from a row of the history. */
void ek_episode_begin(struct ek_detector *d, struct ek_episode *e, uint64_t row);
/* What the lists since the change say, into e->diagnosis; w is filled. 1: worth telling, 0: cannot
 * be said yet, -1: nothing. */
int ek_diagnose(struct ek_detector *d, struct ek_episode *e, struct ek_window *w);
/* Whether the newest lists of a confirmed episode say what has been told; its level is measured on
 * them then. Else nothing has changed, and ek_diagnose has to say what they say. */
int ek_diagnosis_is_current(struct ek_detector *d, struct ek_episode *e);

/* Moves the tracked level of the episode's cell. Segment values go with all traffic, but for those
 * that have an open episode: it is measured against the level from before. */
void ek_episode_follow(struct ek_detector *d, const struct ek_episode *e, double shift_ln);
/* Whether nearly all lists have moved, by less than the rules have told: traffic does that. */
int ek_episode_is_small_shift(const struct ek_detector *d, const struct ek_episode *e,
                              const struct ek_alignment *level);
/* The same of the lists so far, right at the alarm. */
int ek_episode_is_small_at_alarm(struct ek_detector *d, const struct ek_episode *e);

enum ek_recovery {
    EK_LASTS,
    EK_OVER,
    EK_GOES_ON /* in some segment values, which have been handed it over */
};

enum ek_localization {
    EK_STAYS,      /* where it is: no segment dimension explains it better */
    EK_UNDECIDED,  /* more lists may tell */
    EK_HANDED_OVER /* episodes on some values have it now; it is to be dismissed */
};
/* Whether a segment dimension explains the episode better than its own cell does: the change is in
 * some of its values and not in others, by the lists from row `since` on. */
enum ek_localization ek_localize(struct ek_detector *d, struct ek_episode *e, uint64_t since);
/* Of a confirmed episode: where the parts of the traffic have the same change one by one until all
 * have it, it becomes that of all traffic. The episode may be dismissed for it. */
void ek_localize_joined(struct ek_detector *d, struct ek_episode *e);
/* The same feature by the same conversion, as far as can be told. */
int ek_incident_is_same_change(const struct ek_episode *a, const struct ek_episode *b);
/* The same for an unclaimed episode of a segment that is about to be confirmed: handed over to all
 * traffic when the rest of it has moved too. */
enum ek_localization ek_localize_to_all(struct ek_detector *d, struct ek_episode *e);
struct ek_split;
/* Opens and claims episodes on the hit values of a split; those of a confirmed episode are
 * confirmed at once, so that nobody is left without a route. 0: no room, and nothing happened. */
int ek_localize_to(struct ek_detector *d, struct ek_episode *e, const struct ek_split *s);

#endif
