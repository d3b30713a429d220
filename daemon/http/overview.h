/* Overview: the state of a stage in one answer: whether anything is wrong, what, since when, how
 * certain that is, what is done about it, and how lists would be ranked otherwise
 * (docs/format/overview.md). Threads: any.
 */
#ifndef EK_DAEMON_HTTP_OVERVIEW_H
#define EK_DAEMON_HTTP_OVERVIEW_H

#include "base/buf.h"
#include "daemon/views/event_log.h"
#include "guard/guard_trials.h"

#include <stdbool.h>

struct ek_overview_sources {
    const struct ek_event_log_state *open;
    const struct ek_impact_view *route; /* [routes] */
    size_t routes;
    const char *reason; /* why the stage is not ready; NULL: it is */
    bool paused;
    int64_t paused_ms; /* since when */
    const char *pause; /* as JSON */
    uint64_t queries, plan_version;
    int features, cells;
};

/* Append a JSON object. EK_ENOMEM. */
int ek_overview_write(const struct ek_overview_sources *of, struct ek_buf *out);

#endif
