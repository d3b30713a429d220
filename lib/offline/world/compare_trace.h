/* Summary of the events of one guard, for a comparison (compare.h); internal to it. {0} is empty.
 */
#ifndef EK_OFFLINE_WORLD_COMPARE_TRACE_H
#define EK_OFFLINE_WORLD_COMPARE_TRACE_H

#include "guard/reported_findings.h"
#include "offline/world/compare.h"

struct ek_compare_trace {
    struct ek_reported_findings reported;
    struct ek_compared_finding *finding; /* set by ek_compare_trace_end */
    size_t findings;
    struct ek_compared_plan *plan; /* ordered by list */
    size_t plans, plan_room;
    uint64_t rolled_back; /* by a guardrail */
    uint64_t left;        /* beyond EK_COMPARED_MAX */
};

/* Free the memory of the summary; it is then empty. */
void ek_compare_trace_release(struct ek_compare_trace *s);
/* Add a copy of an event of the guard. Only findings, plans, limits, decisions and model drift have
 * an effect. Return 0 or EK_ENOMEM. */
int ek_compare_trace_event(struct ek_compare_trace *s, const struct ek_event *v,
                           struct ek_error *e);

/* Set s->finding and s->findings from the reported findings, once after the last event. Return 0 or
 * EK_ENOMEM. */
int ek_compare_trace_end(struct ek_compare_trace *s);

/* Return true if both plans have equal entries. */
bool ek_compared_same_plan(const struct ek_compared_plan *a, const struct ek_compared_plan *b);

#endif
