/* What the live sketches say, kept for those who ask: the figures of every feature in every cell.
 *
 * The thread that has the guard works the figures out, a few features at a time, and puts them
 * here; it never waits for a reader, who may hold the board while it writes a page: then the
 * figures come with the next step. So figures of one cell may be of different moments, and a sweep
 * over all takes (features x cells / EK_FEATURE_STATS_STEP) steps. Owner: the caller. Threads:
 * _step, _room and _turn belong to that of the guard, the others are for any.
 */
#ifndef EK_DAEMON_VIEWS_FEATURE_STATS_H
#define EK_DAEMON_VIEWS_FEATURE_STATS_H

#include "daemon/views/event_log.h"
#include "guard/live_sketches.h"
#include "rules/rules.h"
#include "schema/manifest.h"

enum { EK_FEATURE_STATS_STEP = 4 }; /* of one step: less than a millisecond */

struct ek_feature_stats;
struct ek_feature_history;

/* Manifest, rules and traffic must outlive it. NULL without memory. */
struct ek_feature_stats *ek_feature_stats_new(const struct ek_manifest *m,
                                              const struct ek_rules *rules,
                                              struct ek_live_sketches *traffic);
void ek_feature_stats_free(struct ek_feature_stats *b);
/* Room for so many cells, for a turn to other rules. EK_ENOMEM: it is as it was. */
int ek_feature_stats_reserve(struct ek_feature_stats *b, int cells);
/* Another traffic from now on, with other rules and another copy of the manifest maybe; what is
 * shown begins anew. */
void ek_feature_stats_set_assets(struct ek_feature_stats *b, const struct ek_manifest *m,
                                 const struct ek_rules *rules, struct ek_live_sketches *traffic);
/* The next features. EK_ENOMEM: they are not shown. */
int ek_feature_stats_update(struct ek_feature_stats *b);

struct ek_feature_stats_cell {
    char *dimension, *value;                   /* NULL: all traffic; value NULL: the pool */
    bool complete;                             /* every feature has figures */
    struct ek_feature_view (*views)[EK_SPANS]; /* [features]; NULL before the first figures */
    struct ek_histogram *histograms;           /* [features] */
};

/* Holds the board: cells may be read until _close. */
const struct ek_feature_stats_cell *ek_feature_stats_lock(struct ek_feature_stats *b, int *count);
void ek_feature_stats_unlock(struct ek_feature_stats *b);

/* Features; a constant. */
int ek_feature_stats_count(const struct ek_feature_stats *b);

/* Pages (docs/operations.md). Append to `out`; EK_ENOMEM. */
int ek_feature_stats_features(struct ek_feature_stats *b, struct ek_buf *out);
/* What others have to say of a feature: members of a JSON object with a comma behind each, and the
 * way that it went in each cell. */
struct ek_feature_stats_more {
    const char *members;
    struct ek_feature_history *tracks;
};
/* more: NULL: nothing. EK_EUSAGE when there is no such feature; then `out` has a JSON object that
 * says so. */
int ek_feature_stats_feature(struct ek_feature_stats *b, const char *name,
                             const struct ek_feature_stats_more *more, struct ek_buf *out);
/* The number of a feature; -1: it is none, and that object is appended. */
int ek_feature_stats_find(struct ek_feature_stats *b, const char *name, struct ek_buf *out);
/* Prometheus text of the `cells` cells with the most lists, all traffic among them. The journal
 * knows in what state a feature is. */
int ek_feature_stats_metrics(struct ek_feature_stats *b, struct ek_event_log *j, int cells,
                             struct ek_buf *out);

#endif
