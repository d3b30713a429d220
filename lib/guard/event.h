/* Events as JSON, one object each (docs/format/events.md). */
#ifndef EK_GUARD_EVENT_H
#define EK_GUARD_EVENT_H

#include "base/buf.h"
#include "schema/manifest.h"
#include "detect/cells.h"
#include "plan/plan.h"
#include "plan/policy.h"

#include <stdbool.h>

/* What the value of a cell is called that several values share. */
#define EK_SEGMENT_OTHER "(other)"

/* Appends null for all traffic (dimension NULL), {"dimension":"value"}, or for value NULL the name
 * of the shared cell. EK_ENOMEM. */
int ek_segment_json(struct ek_buf *out, const char *dimension, const char *value);
/* Writes over `out`. EK_ENOMEM. members [count]: features that share the cause of the finding. */
int ek_event_finding(struct ek_buf *out, const struct ek_manifest *m,
                     const struct ek_finding *finding, const struct ek_decision *decision,
                     const int *members, int count);
/* That a limit was reached: said once. most: the limit. */
int ek_event_limit(struct ek_buf *out, enum ek_bound bound, int64_t most,
                   const struct ek_cells *cells, uint64_t query, int64_t time_ms);
int ek_event_plan(struct ek_buf *out, const struct ek_manifest *m, const struct ek_cells *cells,
                  const struct ek_plan *plan, uint64_t query, int64_t time_ms);
/* Whether it is one of that kind: "finding", "plan", ... */
bool ek_event_is(const char *json, const char *kind);

#endif
