/* A guard as an instance of a fleet.
 *
 * From ek_guard_join on its findings are no events and change no plan: they go to the decider with
 * its ticks, and each list is scored under the plan of the fleet for its time. Until the first plan
 * comes, that is the plan it had, mostly none. A guard that hears no more keeps the last plan
 * (ek_instance_plans_age_ms tells for how long). Its events are the findings of the fleet, whose
 * `signal` is "fleet" and whose `since_query` is 0, and the plans.
 */
#ifndef EK_GUARD_GUARD_FLEET_H
#define EK_GUARD_GUARD_FLEET_H

#include "evenkeel.h"
#include "fleet/fleet_instance.h"

#include <stdbool.h>

/* name, start, cells: as in struct ek_fleet_instance_setup. Once for a guard.
 * EK_ENOMEM. */
int ek_guard_join(struct ek_guard *g, const char *name, uint64_t start, int cells,
                  struct ek_error *e);
/* To be called at each tick, and `early` between two where one of the next two functions says so;
 * as ek_fleet_instance_report and ek_fleet_instance_report_early. */
int ek_guard_write_report(struct ek_guard *g, bool early,
                          int (*write)(void *context, const void *bytes, size_t length),
                          void *context, struct ek_error *e);
/* Whether a list has shown something that the fleet should hear of before the next tick. */
bool ek_guard_has_found(const struct ek_guard *g);
/* Whether the decider waits for lists, as it does until it knows what has happened. */
bool ek_guard_is_sampled(const struct ek_guard *g);
/* The next record of the plan's log, at clock_ms of the caller. What has become of the findings of
 * the fleet is told as events at once, a change of the plan with the next list or tick. */
int ek_guard_receive_plan(struct ek_guard *g, const void *bytes, size_t length, int64_t clock_ms,
                          struct ek_error *e);
/* The same of a record that another guard, whose place this one takes, has heard in time. */
int ek_guard_restore_plan(struct ek_guard *g, const void *bytes, size_t length, int64_t clock_ms,
                          struct ek_error *e);
/* NULL outside a fleet. */
const struct ek_instance_plans *ek_guard_plans(const struct ek_guard *g);

#endif
