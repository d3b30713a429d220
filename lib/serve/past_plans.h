/* The plans that queries were met with and may still have items to come for (message layout
 * `item`).
 *
 * Of the last EK_PAST_PLANS that differ in what they treat, or how, a copy each, under numbers that
 * rise: versions do not tell them apart, for the value of a treatment may become a better one
 * within a version. Cells are those of the detector at that time; one that changes hands is taken
 * out. Memory: 88 KiB each. Owner: the caller. Plain values otherwise.
 */
#ifndef EK_GUARD_PAST_PLANS_H
#define EK_GUARD_PAST_PLANS_H

#include "base/snap.h"
#include "plan/plan.h"

enum { EK_PAST_PLANS = 16 };

struct ek_past_plans {
    struct ek_plan *plan[EK_PAST_PLANS]; /* number n is in place n mod EK_PAST_PLANS */
    uint64_t count;                      /* ever */
};

void ek_past_plans_release(struct ek_past_plans *p);
/* A query is met with this plan, which has *number. EK_ENOMEM: it is not kept. */
int ek_past_plans_keep(struct ek_past_plans *p, const struct ek_plan *plan, uint64_t *number);
/* NULL when it is not there any more. Valid until the next one is kept. */
const struct ek_plan *ek_past_plans_find(const struct ek_past_plans *p, uint64_t number);
/* The cell is another value's from now on. */
void ek_past_plans_forget(struct ek_past_plans *p, int cell);
/* Reading takes those of new ones; features, cells: as for ek_plan_snap. */
void ek_past_plans_snap(struct ek_past_plans *p, struct ek_snap *s, int features, int cells);

#endif
