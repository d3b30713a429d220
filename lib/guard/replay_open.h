/* Replay of the open findings and active routes of a restored guard, for consumers of its events.
 * Call in the thread of the guard. */
#ifndef EK_GUARD_REPLAY_OPEN_H
#define EK_GUARD_REPLAY_OPEN_H

#include "evenkeel.h"
#include "guard/event.h"

/* Receive an event. A nonzero result ends the replay. */
typedef int ek_replay_fn(void *context, const struct ek_event *v);

/* Call the function for each open confirmed finding, as `updated`, and for the plan if it has a
 * version (docs/format/events.md). These events are not queued in the guard. Return 0, EK_ENOMEM,
 * or the first nonzero result, which ends the replay. */
int ek_guard_replay_open(struct ek_guard *g, ek_replay_fn *receive, void *context);

/* Call the function for each rollback decision of a route, and for model drift. Return 0,
 * EK_ENOMEM, or the first nonzero result of the function, which ends the replay. */
int ek_guard_replay_inconsistent(struct ek_guard *g, ek_replay_fn *receive, void *context);

#endif
