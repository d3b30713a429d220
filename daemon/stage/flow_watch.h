/* Thread that evaluates the conditions of the flow once a second and reports each change: a log
 * line, an event, an alert. It takes the guard's lock only after log and alerts, so that a blocked
 * worker is reported too. Objects in `tools` must outlive it. One calling thread.
 */
#ifndef EK_DAEMON_STAGE_FLOW_WATCH_H
#define EK_DAEMON_STAGE_FLOW_WATCH_H

#include "base/error.h"
#include "daemon/base/log.h"
#include "daemon/stage/flow_monitor.h"

struct ek_alerts;
struct ek_guard_service;

struct ek_flow_watch_tools {
    struct ek_flow_monitor *flow;
    struct ek_guard_service *guard;
    struct ek_alerts *alerts; /* may be NULL */
    struct ek_log *log;
    const char *instance; /* name in a fleet, or NULL */
    void *context;
    /* Called before each evaluation, to set conditions that others observe. */
    void (*look)(void *context, int64_t now_ms);
};

struct ek_flow_watch;

/* Start the thread; end it with ek_flow_watch_stop. Return 0, EK_ENOMEM or EK_EIO. */
int ek_flow_watch_start(struct ek_flow_watch **out, const struct ek_flow_watch_tools *tools,
                        struct ek_error *e);
/* Stop the thread and free it; NULL is a no-op. */
void ek_flow_watch_stop(struct ek_flow_watch *w);

#endif
