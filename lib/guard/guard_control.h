/* Route controller of a guard (plan/route_controller.h), over the cells of its detector, and the
 * events of plans, limits and open findings. */
#ifndef EK_GUARD_GUARD_CONTROL_H
#define EK_GUARD_GUARD_CONTROL_H

#include "guard/guard_internal.h"

/* Create the route controller of a guard; its detector must exist. Return 0 or EK_ENOMEM. */
int ek_guard_control_new(struct ek_guard *g, struct ek_error *e);
/* Copy the pins and the pause of part `control` of a state with other cells and the same manifest.
 * to [cells of old]: cell here, -1: none. Return 0, EK_EFORMAT or EK_ENOMEM. */
int ek_guard_copy_orders(struct ek_guard *g, struct ek_serialize *s, const struct ek_cells *old,
                         const int16_t *to);
/* Update the plan, in a fleet from the plan records, and report a change. `query`: number of the
 * next list. Return 0, or EK_ENOMEM. */
int ek_guard_update_plan(struct ek_guard *g, uint64_t query);
/* Queue an event for each limit that was reached for the first time. Return 0 or EK_ENOMEM. */
int ek_guard_report_limits(struct ek_guard *g, uint64_t query);
/* Count a reached limit on active routes, and queue its event each time. Return 0 or EK_ENOMEM. */
int ek_guard_report_reached(struct ek_guard *g, enum ek_bound bound, uint64_t query);
/* Queue the events that follow from ek_controller_update: a reached limit, and the plan if
 * `changed`. Return 0 or EK_ENOMEM. */
int ek_guard_report_update(struct ek_guard *g, bool changed, uint64_t query);
/* Set *f to the next confirmed finding of the detector, with state EK_UPDATED. *place starts as 0
 * and is advanced. Return false at the end, with *f undefined. */
bool ek_guard_next_open(const struct ek_guard *g, int *place, struct ek_finding *f);
/* Queue an event for each confirmed finding that the predicate selects, with its current decision.
 * Return 0, or EK_ENOMEM; some are then queued. */
int ek_guard_report_open(struct ek_guard *g,
                         bool (*is_selected)(void *context, const struct ek_finding *f),
                         void *context);

#endif
