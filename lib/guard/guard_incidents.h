/* Incidents of a guard: treatment and its effect for each incident, and the log as JSON. */
#ifndef EK_GUARD_GUARD_INCIDENTS_H
#define EK_GUARD_GUARD_INCIDENTS_H

#include "base/buf.h"
#include "evenkeel.h"
#include "guard/event.h"

#include <stdbool.h>

/* Update treatments and their effects of open incidents from the plan and the rank comparisons. */
void ek_guard_update_incidents(struct ek_guard *g);
/* Apply an event of a finding to the log. Return 0, or EK_ENOMEM. */
int ek_guard_add_incident(struct ek_guard *g, const struct ek_event *v);
/* End the incidents whose findings are no longer open, after a merge or a plan record. */
void ek_guard_end_incidents(struct ek_guard *g);
/* Append the last `count` incidents as a JSON array (docs/format/events.md), oldest first; feature
 * NULL: of all. Return 0, EK_ENOMEM, or EK_EUSAGE for an unknown feature, with the nearest name. */
int ek_guard_incidents(struct ek_guard *g, uint64_t count, const char *feature, struct ek_buf *out,
                       struct ek_error *e);

#endif
