/* Shadow scoring of a worker: CPU budget, selection of sent lists, results for the guard
 * (serve/shadow_scoring.h).
 *
 * The budget grows by `percent` of the elapsed time, up to that of 100 ms, and scoring spends it.
 * So at low load all lists are scored, at full load some, and none while the worker is behind. The
 * selection does not depend on the content of lists. Skipped lists are counted. Value type, one
 * thread.
 */
#ifndef EK_DAEMON_GUARD_SHADOW_SCORER_H
#define EK_DAEMON_GUARD_SHADOW_SCORER_H

#include "daemon/base/metrics.h"
#include "serve/shadow_scoring.h"

#include <stdbool.h>

enum {
    EK_SHADOW_SCORER_MAX = 32, /* results pending for the guard */
    EK_SHADOW_SCORER_MORE = 4  /* one of so many also compares the untreated model */
};

struct ek_shadow_scorer {
    int percent;         /* of the elapsed time */
    int64_t budget;      /* in 1/100 ns; below 0: overdrawn */
    uint64_t updated_ns; /* last update of the budget */
    uint64_t scored;     /* lists scored */
    double gap;          /* ek_guard_gap at the last report; NaN before */
    size_t pending;      /* pending results */
    struct ek_comparison result[EK_SHADOW_SCORER_MAX];
    const struct ek_assets *assets; /* of the results; compared, not dereferenced */
    struct ek_route_stats acts;
    struct ek_metrics *metrics;
};

/* Initialize with a full budget at now_ns. percent of CPU time: 0 .. 100. The metrics must outlive
 * it. */
void ek_shadow_scorer_init(struct ek_shadow_scorer *t, int percent, uint64_t now_ns,
                           struct ek_metrics *metrics);
/* Return true if a list may be scored now: the budget is positive, the worker is not behind, and
 * fewer than EK_SHADOW_SCORER_MAX results are pending. Otherwise count it as skipped. */
bool ek_shadow_scorer_is_due(struct ek_shadow_scorer *t, bool behind, uint64_t now_ns);
/* Score a list and store its result. Call only after ek_shadow_scorer_is_due returned true, so that
 * a result fits, for a context that ek_context_needs_comparison selected. A list that fails for
 * lack of memory counts as skipped. Charge the time with ek_shadow_scorer_add_time. */
void ek_shadow_scorer_score(struct ek_shadow_scorer *t, struct ek_context *c);
/* Subtract the time that scoring took from the budget. */
void ek_shadow_scorer_add_time(struct ek_shadow_scorer *t, uint64_t ns);
/* Return true if results are pending. */
bool ek_shadow_scorer_has_results(const struct ek_shadow_scorer *t);
/* Move the pending results to the guard, which must be locked. Results of assets that the guard no
 * longer has count as skipped. */
void ek_shadow_scorer_report(struct ek_shadow_scorer *t, struct ek_guard *g);

#endif
