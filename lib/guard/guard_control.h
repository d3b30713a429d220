/* Route controller of a guard (plan/route_controller.h), over the cells of its detector. */
#ifndef EK_GUARD_GUARD_CONTROL_H
#define EK_GUARD_GUARD_CONTROL_H

#include "guard/guard_internal.h"

/* Create the controller; the detector must exist. Return 0 or EK_ENOMEM. */
int ek_guard_control_new(struct ek_guard *g, struct ek_error *e);
/* Copy the pins of part `control` of a state with other cells and the same manifest. to [cells of
 * old]: cell here, -1: none. Return 0, EK_EFORMAT or EK_ENOMEM. */
int ek_guard_copy_pins(struct ek_guard *g, struct ek_serialize *s, const struct ek_cells *old,
                       const int16_t *to);
/* Update the plan, in a fleet from the plan records, and report a change. `query`: number of the
 * next list. Return 0, or EK_ENOMEM. */
int ek_guard_update_plan(struct ek_guard *g, uint64_t query);
/* Report limits that were reached for the first time. Returns 0, or EK_ENOMEM. */
int ek_guard_report_limits(struct ek_guard *g, uint64_t query);
/* Count and report a limit on active routes. Return 0, or EK_ENOMEM. */
int ek_guard_report_reached(struct ek_guard *g, enum ek_bound bound, uint64_t query);
/* Report the result of ek_controller_update. Return 0 or EK_ENOMEM. */
int ek_guard_report_update(struct ek_guard *g, bool changed, uint64_t query);
/* Set *f to the next confirmed finding of the detector, with state EK_UPDATED. *place starts as 0.
 * Return false at the end. */
bool ek_guard_next_open(const struct ek_guard *g, int *place, struct ek_finding *f);
/* Report the confirmed findings that the predicate selects, with current decisions. Return 0, or
 * EK_ENOMEM. */
int ek_guard_report_open(struct ek_guard *g,
                         bool (*is_to_be_told)(void *context, const struct ek_finding *f),
                         void *context);

#endif
