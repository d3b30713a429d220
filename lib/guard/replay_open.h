/* What a guard that was loaded would have told before: for whoever keeps an account of what is open
 * and in force.
 *
 * One thread at a time, that of the guard.
 */
#ifndef EK_GUARD_REPLAY_OPEN_H
#define EK_GUARD_REPLAY_OPEN_H

#include "evenkeel.h"
#include "guard/event.h"

/* Called with an event; what it returns, if not 0, ends the replay. */
typedef int ek_replay_fn(void *context, const struct ek_event *v);

/* Call `tell` for each confirmed change that is open, as `updated`, and for the plan when there
 * ever was one (docs/format/events.md). They are not among the guard's own events. EK_ENOMEM, or
 * what `tell` returned. */
int ek_guard_replay_open(struct ek_guard *g, ek_replay_fn *tell, void *context);

/* The same with what is amiss besides: for each route that a guardrail has taken back the decision,
 * and that model and upstream do not rank alike. */
int ek_guard_replay_inconsistent(struct ek_guard *g, ek_replay_fn *tell, void *context);

#endif
