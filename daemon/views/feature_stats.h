/* What the live sketches say, kept for those who ask: the figures of every feature in every cell.
 *
 * The thread that has the guard works the figures out, a few features at a time, and puts them
 * here; it never waits for a reader, who may hold the board while it writes a page: then the
 * figures come with the next step. So figures of one cell may be of different moments, and a sweep
 * over all takes (features x cells / EK_BOARD_FEATURES) steps. Owner: the caller. Threads: _step,
 * _room and _turn belong to that of the guard, the others are for any.
 */
#ifndef EK_DAEMON_VIEWS_FEATURE_STATS_H
#define EK_DAEMON_VIEWS_FEATURE_STATS_H

#include "daemon/views/event_log.h"
#include "guard/live_sketches.h"
#include "rules/rules.h"
#include "schema/manifest.h"

enum { EK_BOARD_FEATURES = 4 }; /* of one step: less than a millisecond */

struct ek_board;
struct ek_tracks;

/* Manifest, rules and traffic must outlive it. NULL without memory. */
struct ek_board *ek_board_new(const struct ek_manifest *m, const struct ek_rules *rules,
                              struct ek_live_sketches *traffic);
void ek_board_free(struct ek_board *b);
/* Room for so many cells, for a turn to other rules. EK_ENOMEM: it is as it was. */
int ek_board_room(struct ek_board *b, int cells);
/* Another traffic from now on, with other rules and another copy of the manifest maybe; what is
 * shown begins anew. */
void ek_board_turn(struct ek_board *b, const struct ek_manifest *m, const struct ek_rules *rules,
                   struct ek_live_sketches *traffic);
/* The next features. EK_ENOMEM: they are not shown. */
int ek_board_step(struct ek_board *b);

struct ek_board_cell {
    char *dimension, *value;                   /* NULL: all traffic; value NULL: the pool */
    bool complete;                             /* every feature has figures */
    struct ek_feature_view (*views)[EK_SPANS]; /* [features]; NULL before the first figures */
    struct ek_histogram *histograms;           /* [features] */
};

/* Holds the board: cells may be read until _close. */
const struct ek_board_cell *ek_board_open(struct ek_board *b, int *count);
void ek_board_close(struct ek_board *b);

/* Features; a constant. */
int ek_board_count(const struct ek_board *b);

/* Pages (docs/operations.md). Append to `out`; EK_ENOMEM. */
int ek_board_features(struct ek_board *b, struct ek_buf *out);
/* What others have to say of a feature: members of a JSON object with a comma behind each, and the
 * way that it went in each cell. */
struct ek_board_more {
    const char *members;
    struct ek_tracks *tracks;
};
/* more: NULL: nothing. EK_EUSAGE when there is no such feature; then `out` has a JSON object that
 * says so. */
int ek_board_feature(struct ek_board *b, const char *name, const struct ek_board_more *more,
                     struct ek_buf *out);
/* The number of a feature; -1: it is none, and that object is appended. */
int ek_board_find(struct ek_board *b, const char *name, struct ek_buf *out);
/* Prometheus text of the `cells` cells with the most lists, all traffic among them. The journal
 * knows in what state a feature is. */
int ek_board_metrics(struct ek_board *b, struct ek_journal *j, int cells, struct ek_buf *out);

#endif
