/* Live view: text that is refreshed at an interval. On a terminal it is a screen, fitted to its
 * size, until q or Ctrl-C; otherwise a line each time, until a signal or a closed pipe.
 *
 * One thread, with SIGINT, SIGTERM and SIGWINCH handled meanwhile.
 */
#ifndef EK_DAEMON_COMMANDS_LIVE_VIEW_H
#define EK_DAEMON_COMMANDS_LIVE_VIEW_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

struct ek_live_view_source {
    void *of;
    /* Write the current contents without control characters; lines beyond the size are cut. */
    int (*screen)(void *of, int columns, int rows, FILE *to, struct ek_error *e);
    int (*line)(void *of, FILE *to, struct ek_error *e);
};

/* Print lines of `text` as a screen. Long lines and the number of omitted lines are marked. Exposed
 * for tests. */
void ek_live_view_draw(const char *text, int columns, int rows, bool color, FILE *to);

/* View of `evenkeel status --watch`: health, open findings and active routes. */
struct ek_live_view {
    const char *url; /* shown in the title */
    bool json;       /* print responses unchanged */
    int every_ms;
    void *of;
    /* Return the response, valid until the next call; NULL with an error. */
    const struct ek_buf *(*request)(void *of, const char *path, struct ek_error *e);
};

/* Run until it is ended. Fails if the first request fails. */
int ek_live_view_run(const struct ek_live_view *watch, struct ek_error *e);

#endif
