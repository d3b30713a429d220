/* What the events of one guard come to, for a comparison (compare.h). Internal to it.
 *
 * Owner: the caller; starts as {0}, ek_compare_trace_release.
 */
#ifndef EK_OFFLINE_WORLD_COMPARE_TRACE_H
#define EK_OFFLINE_WORLD_COMPARE_TRACE_H

#include "guard/reported_findings.h"
#include "offline/world/compare.h"

struct ek_compare_trace {
    struct ek_reported_findings reported;
    struct ek_compared_finding *finding; /* since ek_compare_trace_end */
    size_t findings;
    struct ek_compared_plan *plan; /* by query */
    size_t plans, plan_room;
    uint64_t withdrawn; /* by a guardrail */
    uint64_t left;      /* beyond EK_COMPARED_MAX */
};

void ek_compare_trace_release(struct ek_compare_trace *s);
/* Adds an event of the guard; other kinds than those of findings, plans, limits, decisions and the
 * model change nothing. EK_ENOMEM. */
int ek_compare_trace_event(struct ek_compare_trace *s, const struct ek_event *v,
                           struct ek_error *e);

/* Fill `finding` with what was reported. EK_ENOMEM. */
int ek_compare_trace_end(struct ek_compare_trace *s);

bool ek_compared_same_plan(const struct ek_compared_plan *a, const struct ek_compared_plan *b);

#endif
