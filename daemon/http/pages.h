/* What the HTTP server answers, apart from HTTP itself. */
#ifndef EK_DAEMON_HTTP_PAGES_H
#define EK_DAEMON_HTTP_PAGES_H

#include "base/buf.h"
#include "daemon/stage/stage.h"

#include <stdbool.h>

/* What is asked for behind the path (`?n=10`), as it came; NULL: not said. */
struct ek_http_query {
    const char *n, *after, *feature;
};

/* Writes the page of a path to `body` and its content type to *type. query: NULL: none. Returns the
 * status: 200, 400, 404, 500 or 503. Any thread. */
unsigned ek_http_page(struct ek_stage *stage, const char *path, const struct ek_http_query *query,
                      const char **type, struct ek_buf *body);

/* Whether there is a page at that path. */
bool ek_http_is_page(const char *path);

#endif
