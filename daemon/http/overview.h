/* Overview of a stage: level, problems with their action, and order without the action
 * (docs/http.md). Threads: any. */
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
    const char *reason;     /* reason of not being ready; NULL: ready */
    const char *input;      /* condition of the input, "no_data" or "ok"; NULL: ok */
    const char *input_text; /* reason of the condition, or "" */
    bool held;              /* no list is changed, because none has a segment of the rules */
    bool paused;
    int64_t paused_ms; /* start of the pause */
    const char *pause; /* JSON */
    uint64_t queries, plan_version;
    int features, cells;
    int accepts; /* accepted levels in force */
};

/* Append the overview as a JSON object. Return 0 or EK_ENOMEM. */
int ek_overview_write(const struct ek_overview_sources *in, struct ek_buf *out);

#endif
