/* Live view of `evenkeel status --watch`: text that is refreshed at an interval. On a terminal it
 * is a screen, fitted to its size, until q or Ctrl-C; otherwise a line each time, until a signal or
 * a closed pipe.
 *
 * One thread, with SIGINT, SIGTERM and SIGWINCH handled meanwhile.
 */
#ifndef EK_DAEMON_COMMANDS_LIVE_VIEW_H
#define EK_DAEMON_COMMANDS_LIVE_VIEW_H

#include "base/buf.h"
#include "base/error.h"
#include "yaml/json_parse.h"

#include <stdbool.h>
#include <stdio.h>

/* Print lines of `text` as a screen of columns x rows. Long lines and the number of omitted lines
 * are marked. Exposed for tests. */
void ek_live_view_draw(const char *text, int columns, int rows, bool color, FILE *to);

/* View of `evenkeel status --watch`: health, open findings and active mitigations. */
struct ek_live_view {
    const char *url; /* shown in the title */
    bool json;       /* print responses unchanged */
    int every_ms;
    void *context;
    int (*request)(void *context, const char *path, struct ek_error *e); /* GET */
    /* Response to the last request, as text and parsed (*doc NULL: no JSON). Set and owned by the
     * caller. */
    const struct ek_buf *answer;
    yyjson_doc *const *doc;
};

/* Show the status until the user, a signal or a closed pipe ends it. Return 0, EK_ENOMEM, or the
 * error of the first request; later errors are shown. */
int ek_live_view_run(const struct ek_live_view *watch, struct ek_error *e);

#endif
