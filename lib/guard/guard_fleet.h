/* Guard as an instance of a fleet.
 *
 * After ek_guard_join its findings cause no events and no plan: they are sent to the leader with
 * the reports. Each list is scored under the plan of the fleet for its event time. Before the first
 * plan record the guard keeps its plan, usually empty; without new records it keeps the last plan
 * (ek_instance_plans_age_ms). Its events are the plans and the findings of the fleet, with `signal`
 * "fleet" and `since_query` 0.
 */
#ifndef EK_GUARD_GUARD_FLEET_H
#define EK_GUARD_GUARD_FLEET_H

#include "evenkeel.h"
#include "fleet/fleet_instance.h"

#include <stdbool.h>

/* Join a fleet, once per guard. name, start, cells: as in struct ek_fleet_instance_setup. Return 0,
 * or EK_ENOMEM with the guard unchanged. */
int ek_guard_join(struct ek_guard *g, const char *name, uint64_t start, int cells,
                  struct ek_error *e);
/* Write a report by calls of `write`. Call at each report interval, and with `early` in between if
 * ek_guard_has_found or ek_guard_is_sampled returns true. Return 0, EK_ENOMEM, EK_ELIMIT or the
 * error of `write`; on error only the evidence of this report is lost. */
int ek_guard_write_report(struct ek_guard *g, bool early,
                          int (*write)(void *context, const void *bytes, size_t length),
                          void *context, struct ek_error *e);
/* Return whether the guard has found something that the leader needs early; false outside a fleet.
 */
bool ek_guard_has_found(const struct ek_guard *g);
/* Return whether the leader requests rows for a diagnosis; false outside a fleet. */
bool ek_guard_is_sampled(const struct ek_guard *g);
/* Apply the next plan record at clock_ms of the caller. Changes of findings are reported at once, a
 * change of the plan with the next list or report. Return 0, EK_ENOMEM, or EK_EFORMAT for an
 * invalid record, which changes nothing. */
int ek_guard_receive_plan(struct ek_guard *g, const void *bytes, size_t length, int64_t clock_ms,
                          struct ek_error *e);
/* Apply a plan record that a replaced guard has already applied; it does not count as late. Return
 * 0, EK_ENOMEM, or EK_EFORMAT for an invalid record, which changes nothing. */
int ek_guard_restore_plan(struct ek_guard *g, const void *bytes, size_t length, int64_t clock_ms,
                          struct ek_error *e);
/* Return the plans of the fleet, which the guard owns, or NULL outside a fleet. */
const struct ek_instance_plans *ek_guard_plans(const struct ek_guard *g);

#endif
