/* The plan as a part of the state (docs/format/state.md). */
#ifndef EK_DECIDE_PLAN_SNAP_H
#define EK_DECIDE_PLAN_SNAP_H

#include "base/snap.h"
#include "plan/plan.h"

/* Its entries are of features and cells below these. */
void ek_plan_snap(struct ek_plan *p, struct ek_snap *s, int features, int cells);

#endif
