/* Log lines of guard events: one per event, in logfmt (docs/log-events.md). */
#ifndef EK_DAEMON_GUARD_EVENT_LINE_H
#define EK_DAEMON_GUARD_EVENT_LINE_H

#include "daemon/base/log.h"
#include "guard/event.h"

/* Log an event, or `event_dropped` if memory runs out. Never suppressed. Reload and fleet events
 * are not written: their sources log them. */
void ek_event_line_write(struct ek_log *log, const struct ek_event *v);

#endif
