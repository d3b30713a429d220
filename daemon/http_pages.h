/* What the HTTP server answers, apart from HTTP itself. */
#ifndef EK_DAEMON_HTTP_PAGES_H
#define EK_DAEMON_HTTP_PAGES_H

#include "base/buf.h"
#include "daemon/stage.h"

/* Writes the page of a path to `body` and its content type to *type. `n` is the query argument of
 * that name or NULL. Returns the status: 200, 400, 404, 500 or 503. Any thread. */
unsigned ek_http_page(struct ek_stage *stage, const char *path, const char *n, const char **type,
                      struct ek_buf *body);

#endif
