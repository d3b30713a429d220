/* Read-only HTTP resources: health, metrics, API. */
#ifndef EK_DAEMON_HTTP_PAGES_H
#define EK_DAEMON_HTTP_PAGES_H

#include "base/buf.h"
#include "daemon/http/control_api.h"
#include "daemon/views/event_log.h"
#include "guard/guard_trials.h"

#include <stdbool.h>

/* Query parameters (`?n=10`), unparsed; NULL: absent. */
struct ek_http_query {
    const char *n, *after, *feature;
};

/* Append the response of a path to `body` and set *type to its content type, a static string.
 * `query` may be NULL. Return the status: 200, 400, 404, 500 or 503. Any thread. */
unsigned ek_http_page(const struct ek_api *api, const char *path, const struct ek_http_query *query,
                      const char **type, struct ek_buf *body);

/* Append the response {"error": why}. Return 0 or EK_ENOMEM. */
int ek_http_error(const char *why, struct ek_buf *body);

/* Return true if the path is a resource of ek_http_page. */
bool ek_http_is_page(const char *path);

/* Overview of a stage: level, problems with their action, and order without the action
 * (docs/http.md). Threads: any. */

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
