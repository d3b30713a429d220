/* A text that is shown again and again, as long as somebody looks: on a terminal one screen that is
 * drawn over, sized to it, until q or Ctrl-C; anywhere else a line each time, until it is ended or
 * nobody reads.
 *
 * Owner: the caller. One thread, which has SIGINT, SIGTERM and SIGWINCH meanwhile.
 */
#ifndef EK_DAEMON_COMMANDS_LIVE_VIEW_H
#define EK_DAEMON_COMMANDS_LIVE_VIEW_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

struct ek_live_view_source {
    void *of;
    /* Writes what there is to see now, lines without control characters, for a screen of that size:
     * what is more is cut. */
    int (*screen)(void *of, int columns, int rows, FILE *to, struct ek_error *e);
    /* Writes one line. */
    int (*line)(void *of, FILE *to, struct ek_error *e);
};

/* The lines of `text` as a screen of that size: what is too long or too many is cut, and said.
 * Exposed for tests. */
void ek_live_view_draw(const char *text, int columns, int rows, bool colour, FILE *to);

/* `evenkeel status --watch`: how an instance is doing, what is open and what is in force, on one
 * screen or in lines. */
struct ek_live_view {
    const char *url; /* as people know it */
    bool json;       /* lines, as they came */
    int every_ms;
    void *of;
    /* The answer, until the next is asked for; NULL with an error. */
    const struct ek_buf *(*ask)(void *of, const char *path, struct ek_error *e);
};

/* Until somebody ends it. Fails when nobody answers at first. */
int ek_live_view_run(const struct ek_live_view *watch, struct ek_error *e);

#endif
