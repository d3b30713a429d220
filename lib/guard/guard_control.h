/* What a guard does about its findings: plan/route_controller.h over the cells of its detector. */
#ifndef EK_GUARD_GUARD_CONTROL_H
#define EK_GUARD_GUARD_CONTROL_H

#include "guard/guard_internal.h"

/* With the detector, and without a plan. */
int ek_guard_control_new(struct ek_guard *g, struct ek_error *e);
/* Reads `control` of a state of other cells, of the same manifest, and takes its pins alone. to
 * [cells of old]: here, -1: none. EK_EFORMAT, EK_ENOMEM. */
int ek_guard_copy_pins(struct ek_guard *g, struct ek_serialize *s, const struct ek_cells *old,
                       const int16_t *to);
/* The plan that follows from what has happened: in a fleet the fleet's, else one's own; told when
 * it is another one. query: the first under it. EK_ENOMEM. */
int ek_guard_update_plan(struct ek_guard *g, uint64_t query);
/* Limits that were reached for the first time. */
int ek_guard_report_limits(struct ek_guard *g, uint64_t query);
/* Counts and tells a limit of what acts, which is told each time. EK_ENOMEM. */
int ek_guard_report_reached(struct ek_guard *g, enum ek_bound bound, uint64_t query);
/* Tells what a settle of `control` has brought. */
int ek_guard_report_update(struct ek_guard *g, bool changed, uint64_t query);
/* Moves on to the next change of the guard's own that is confirmed, from *place 0 on; false at the
 * end. Its state is EK_UPDATED. */
bool ek_guard_next_open(const struct ek_guard *g, int *place, struct ek_finding *f);
/* Tells those of them that it is called for, as the rules and the plan have them now. EK_ENOMEM. */
int ek_guard_report_open(struct ek_guard *g,
                         bool (*is_to_be_told)(void *context, const struct ek_finding *f),
                         void *context);

#endif
