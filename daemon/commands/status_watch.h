/* `evenkeel status --watch`: how an instance is doing, what is open and what is in force, on one
 * screen or in lines. */
#ifndef EK_DAEMON_STATUS_WATCH_H
#define EK_DAEMON_STATUS_WATCH_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

struct ek_status_watch {
    const char *url; /* as people know it */
    bool json;       /* lines, as they came */
    int every_ms;
    void *of;
    /* The answer, until the next is asked for; NULL with an error. */
    const struct ek_buf *(*ask)(void *of, const char *path, struct ek_error *e);
};

/* Until somebody ends it. Fails when nobody answers at first. */
int ek_status_watch(const struct ek_status_watch *watch, struct ek_error *e);

#endif
