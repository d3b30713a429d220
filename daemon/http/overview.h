/* The state of a stage in one answer: is anything wrong, what, since when, how sure, what is done
 * about it, and what would be if it were not (docs/format/overview.md).
 *
 * Made of what other pages say, so that it never says anything else than they do. Threads: any.
 */
#ifndef EK_DAEMON_OVERVIEW_H
#define EK_DAEMON_OVERVIEW_H

#include "base/buf.h"

#include <stdbool.h>

/* Pages as they are written, JSON each. */
struct ek_overview_of {
    const char *findings, *plan, *ranks, *status, *ready;
    int features, cells;
};

/* Appends a JSON object. EK_EFORMAT for a page that is none; EK_ENOMEM. */
int ek_overview_write(const struct ek_overview_of *of, struct ek_buf *out);

#endif
