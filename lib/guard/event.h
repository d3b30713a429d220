/* Events as JSON, one object each (docs/format/events.md). */
#ifndef EK_GUARD_EVENT_H
#define EK_GUARD_EVENT_H

#include "base/buf.h"
#include "data/manifest.h"
#include "decide/cells.h"
#include "decide/policy.h"

/* Writes over `out`. EK_ENOMEM. */
int ek_event_finding(struct ek_buf *out, const struct ek_manifest *m,
                     const struct ek_finding *finding, const struct ek_decision *decision);
int ek_event_plan(struct ek_buf *out, const struct ek_manifest *m, const struct ek_cells *cells,
                  const struct ek_plan *plan, uint64_t query, int64_t time_ms);

#endif
