/* Read-only HTTP resources: health, metrics, API. */
#ifndef EK_DAEMON_HTTP_PAGES_H
#define EK_DAEMON_HTTP_PAGES_H

#include "base/buf.h"
#include "daemon/http/control_api.h"

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

#endif
