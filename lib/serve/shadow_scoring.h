/* What became of the lists that the plan acts on, by its entries: counted by a thread that scores
 * lists, until its next turn at the guard (guard/guard_trials.h).
 *
 * Counts are of one version of the plan; with another one they begin anew, for what is known of an
 * older one counts for nothing any more. Value type, starts as {0}, 9 KiB. One thread at a time.
 */
#ifndef EK_SERVE_SHADOW_SCORING_H
#define EK_SERVE_SHADOW_SCORING_H

#include "plan/plan.h"
#include "score/rank_comparison.h"
#include "serve/context.h"
#include "serve/latency_window.h"

#include <stdbool.h>

struct ek_route_stats {
    uint64_t plan, lists;                             /* lists: of all entries together */
    int entries;                                      /* of the plan, the first so many are used */
    uint32_t acted[EK_PLAN_MAX], failed[EK_PLAN_MAX]; /* failed: of acted, not to be scored */
    uint64_t latency[EK_LATENCY_WINDOW_BINS];
};

/* A list that its context was to score, and how long it was under way. Nothing where the plan does
 * not act on it, and where it could be scored by no plan: what a message lacks says nothing of a
 * route. */
void ek_route_stats_add(struct ek_route_stats *a, const struct ek_context *c, uint64_t ns);
void ek_route_stats_clear(struct ek_route_stats *a);

/* A list tried both ways (score/rank_comparison.h): in the order of the upstream scores, and in
 * that which the plan wants for it.
 *
 * The thread that has the context tries it after its output was handed on; nothing of the output
 * changes. The context's own numbers are read and none of its texts, for the message may be gone by
 * then. What it says is given to the guard later (guard/guard_trials.h), by plan version. Which
 * lists are tried must not hang on what is in them. Threads: that of the context.
 */
struct ek_comparison {
    uint64_t plan; /* version that the list was taken under */
    int entries;   /* of that plan, that treat the list or would */
    int16_t entry[EK_ROUTING_ENTRIES];
    uint32_t acting; /* of them that the output was scored under, as bits */
    bool failed;     /* it cannot be scored as the plan wants: there are no ways */
    struct ek_comparison_result ways;
};

/* The plan wants something for it, it is whole, it has two items, and it was taken, not only looked
 * at: a list that is looked at again would count twice. */
bool ek_context_needs_comparison(const struct ek_context *c);
/* For a list that wants one. more: plain and harm as well, two more scorings. gap: as from
 * ek_guard_gap; NaN: no harm. Nor is there any where an entry does not know what would undo its
 * fault. *says as in ek_rank_comparison_run; *out is meaningful when it says something. EK_ENOMEM.
 */
int ek_context_compare(struct ek_context *c, bool more, double gap, struct ek_comparison *out,
                       bool *says, struct ek_error *e);

#endif
