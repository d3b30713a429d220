/* What a worker tries of the lists that it has sent (guard/trial.h): which of them, for how much of
 * its time, and what it has to tell the guard of them with its next turn there.
 *
 * A part of the time that passes is put aside, as much as a tenth of a second has of it, and trials
 * are paid from that; so at low load each list is tried, at full load some. A worker that is behind
 * tries none. Those that are passed over are counted. What is tried does not hang on what is in a
 * list. Times are given: no clock. Value type. One thread.
 */
#ifndef EK_DAEMON_GUARD_SHADOW_SCORER_H
#define EK_DAEMON_GUARD_SHADOW_SCORER_H

#include "daemon/base/metrics.h"
#include "serve/shadow_scoring.h"

#include <stdbool.h>

enum {
    EK_SHADOW_SCORER_MAX = 32, /* that wait for the guard */
    EK_SHADOW_SCORER_MORE = 4  /* of so many one is tried all ways */
};

struct ek_shadow_scorer {
    int percent;        /* of the time */
    int64_t aside;      /* ns hundredfold: spent is below 0 */
    uint64_t looked_ns; /* up to when it was put aside */
    uint64_t number;    /* of trials */
    double gap;         /* as the guard said at the last turn; NaN before */
    size_t waiting;     /* trials for the guard */
    struct ek_comparison trial[EK_SHADOW_SCORER_MAX];
    const struct ek_assets *assets; /* of those, and only compared */
    struct ek_route_stats acts;
    struct ek_metrics *metrics; /* counts there */
};

/* percent: 0 .. 100. */
void ek_shadow_scorer_init(struct ek_shadow_scorer *t, int percent, uint64_t now_ns,
                           struct ek_metrics *metrics);
/* Whether a trial may begin now; counts it as passed over when not. */
bool ek_shadow_scorer_is_due(struct ek_shadow_scorer *t, bool behind, uint64_t now_ns);
/* Tries a list that wants it; spent_ns is added by ek_shadow_scorer_add_time. */
void ek_shadow_scorer_score(struct ek_shadow_scorer *t, struct ek_context *c);
void ek_shadow_scorer_add_time(struct ek_shadow_scorer *t, uint64_t ns);
/* Whether there is something for the guard. */
bool ek_shadow_scorer_has_results(const struct ek_shadow_scorer *t);
/* Under the guard's lock: all of it is told. What was tried with other assets than the guard's is
 * passed over. */
void ek_shadow_scorer_report(struct ek_shadow_scorer *t, struct ek_guard *g);

#endif
