/* Feature statistics by feature and cell, cached from the live sketches, and the history of each
 * feature's evidence.
 *
 * The guard's thread updates a few features per step. It never waits for a reader that holds the
 * lock but repeats them in the next step. So statistics of one cell may have different times, and a
 * sweep takes (features x cells / EK_FEATURE_STATS_STEP) steps. Functions that append return 0 or
 * EK_ENOMEM. Threads: _update, _reserve and _set_assets belong to the guard's thread, others to
 * any.
 */
#ifndef EK_DAEMON_VIEWS_FEATURE_STATS_H
#define EK_DAEMON_VIEWS_FEATURE_STATS_H

#include "base/buf.h"
#include "daemon/views/event_log.h"
#include "daemon/views/level_history.h"
#include "detect/detector.h"
#include "guard/live_sketches.h"
#include "rules/rules.h"
#include "schema/manifest.h"

enum { EK_FEATURE_STATS_STEP = 4 }; /* features per step: less than a millisecond */

struct ek_feature_stats;
struct ek_feature_history;

/* Create a cache without statistics; manifest, rules and traffic must outlive it. Return NULL if
 * memory runs out. */
struct ek_feature_stats *ek_feature_stats_new(const struct ek_manifest *m,
                                              const struct ek_rules *rules,
                                              struct ek_live_sketches *traffic);
void ek_feature_stats_free(struct ek_feature_stats *b);
/* Allocate capacity for `cells` cells, before a switch to other rules. Return 0 or EK_ENOMEM. */
int ek_feature_stats_reserve(struct ek_feature_stats *b, int cells);
/* Switch to other traffic, rules and manifest, which must outlive the cache, and remove all
 * statistics. Call under ek_feature_stats_lock, which must also cover the end of the previous
 * ones. */
void ek_feature_stats_set_assets(struct ek_feature_stats *b, const struct ek_manifest *m,
                                 const struct ek_rules *rules, struct ek_live_sketches *traffic);
/* Update the statistics of the next few features, and their levels at this event time. Return 0, or
 * EK_ENOMEM without updating them. */
int ek_feature_stats_update(struct ek_feature_stats *b, int64_t time_ms);

/* Keep other threads from reading the cache and the sketches behind it, until
 * ek_feature_stats_unlock. */
void ek_feature_stats_lock(struct ek_feature_stats *b);
void ek_feature_stats_unlock(struct ek_feature_stats *b);

/* Return the number of features, which is constant. */
int ek_feature_stats_count(const struct ek_feature_stats *b);
/* Return the number of cells with statistics, complete or not. */
int ek_feature_stats_cells(struct ek_feature_stats *b);

/* Append the response of /api/v1/features. Return 0 or EK_ENOMEM. */
int ek_feature_stats_features(struct ek_feature_stats *b, struct ek_buf *out);
/* Further content of a feature's response. */
struct ek_feature_stats_more {
    const char *members;               /* of a JSON object, each with a trailing comma */
    struct ek_feature_history *tracks; /* NULL: none */
};
/* Append the response of one feature; `more` may be NULL. Return 0, EK_ENOMEM, or EK_EUSAGE for an
 * unknown feature, with a JSON object of the error appended. */
int ek_feature_stats_feature(struct ek_feature_stats *b, const char *name,
                             const struct ek_feature_stats_more *more, struct ek_buf *out);
/* Return the number of the item feature with this name, or -1 for an unknown one, with a JSON
 * object of the error appended to `out`. */
int ek_feature_stats_find(struct ek_feature_stats *b, const char *name, struct ek_buf *out);
/* Append the metrics of the `cells` cells with the most lists, which include all traffic. The state
 * of features is from the event log. Return 0 or EK_ENOMEM. */
int ek_feature_stats_metrics(struct ek_feature_stats *b, struct ek_event_log *j, int cells,
                             struct ek_buf *out);

/* Feature history: evidence and estimated factor of features over time.
 *
 * Each step adds a sample for every feature and cell while there is capacity, otherwise for those
 * with an open change or at least half the evidence (in ln) of an alarm. A track holds
 * EK_TRACE_SAMPLES samples; older ones are thinned out. Threads: any, except _step, which belongs
 * to the guard's thread; it never waits for a reader but skips the sample.
 */
enum {
    EK_FEATURE_HISTORY_SIZE = 512,
    EK_TRACE_SAMPLES = 240,
    EK_TRACE_CHECKS = 2048 /* features without a track checked per step */
};

struct ek_feature_history;

/* Create a history without tracks. Return NULL if memory runs out. */
struct ek_feature_history *ek_feature_history_new(void);
void ek_feature_history_free(struct ek_feature_history *t);
/* Remove all tracks. */
void ek_feature_history_clear(struct ek_feature_history *t);
/* Add a sample to each track, and start tracks. Return 0, or EK_ENOMEM if some were not started. */
int ek_feature_history_step(struct ek_feature_history *t, const struct ek_detector *d,
                            int features);

#endif
