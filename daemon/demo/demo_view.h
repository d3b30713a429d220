/* Draws the demonstration's story: a table that is redrawn in place on a terminal, a line now and
 * then in a log, and the final table for both.
 *
 * Only ASCII; colour only on a terminal, and not when NO_COLOR is set. Owner: the caller; no memory
 * of its own. One thread.
 */
#ifndef EK_DAEMON_DEMO_DEMO_VIEW_H
#define EK_DAEMON_DEMO_DEMO_VIEW_H

#include "daemon/demo/demo_report.h"

#include <stdio.h>

struct ek_demo_view {
    FILE *to;
    bool live, colour;
    int lines;        /* drawn last, to be drawn over */
    int64_t drawn_ms; /* when */
};

/* live and colour follow from `to` and the environment. */
void ek_demo_view_init(struct ek_demo_view *d, FILE *to);
/* Says what will be seen. */
void ek_demo_view_start(struct ek_demo_view *d);
/* Draws when it is time to; `force` draws in any case. */
void ek_demo_view_draw(struct ek_demo_view *d, const struct ek_demo_report *s, int64_t now_ms,
                       bool force);
/* The table of what happened, with the verdict as its last line. */
void ek_demo_view_end(struct ek_demo_view *d, const struct ek_demo_report *s);

#endif
