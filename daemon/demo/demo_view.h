/* Display of the demo: a table redrawn in place on a terminal, or lines in a log, and a final
 * table.
 *
 * ASCII only; colors only on a terminal without NO_COLOR. One thread.
 */
#ifndef EK_DAEMON_DEMO_DEMO_VIEW_H
#define EK_DAEMON_DEMO_DEMO_VIEW_H

#include "daemon/demo/demo_report.h"

#include <stdio.h>

struct ek_demo_view {
    FILE *to;
    bool live, color;
    int lines;        /* drawn last, to be redrawn */
    int64_t drawn_ms; /* time of the last drawing */
};

/* Set live and color by `to` and the environment. */
void ek_demo_view_init(struct ek_demo_view *d, FILE *to);
/* Print the introduction. */
void ek_demo_view_start(struct ek_demo_view *d);
/* Draw if the interval has passed or `force` is set. */
void ek_demo_view_draw(struct ek_demo_view *d, const struct ek_demo_report *s, int64_t now_ms,
                       bool force);
/* Print the final table; its last line is the verdict. */
void ek_demo_view_end(struct ek_demo_view *d, const struct ek_demo_report *s);

#endif
