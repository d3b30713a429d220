/* What became of the lists that the plan acts on, by its entries: counted by a thread that scores
 * lists, until its next turn at the guard (guard/guard_trials.h).
 *
 * Counts are of one version of the plan; with another one they begin anew, for what is known of an
 * older one counts for nothing any more. Value type, starts as {0}, 9 KiB. One thread at a time.
 */
#ifndef EK_GUARD_ACTS_H
#define EK_GUARD_ACTS_H

#include "plan/plan.h"
#include "serve/context.h"
#include "serve/latency.h"

#include <stdbool.h>

struct ek_acts {
    uint64_t plan, lists;                             /* lists: of all entries together */
    int entries;                                      /* of the plan, the first so many are used */
    uint32_t acted[EK_PLAN_MAX], failed[EK_PLAN_MAX]; /* failed: of acted, not to be scored */
    uint64_t latency[EK_LATENCY_BINS];
};

/* A list that its context was to score, and how long it was under way. Nothing where the plan does
 * not act on it, and where it could be scored by no plan: what a message lacks says nothing of a
 * route. */
void ek_acts_add(struct ek_acts *a, const struct ek_context *c, uint64_t ns);
void ek_acts_clear(struct ek_acts *a);

#endif
