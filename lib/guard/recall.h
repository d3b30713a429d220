/* What a guard that was loaded would have told before: for whoever keeps an account of what is open
 * and in force.
 *
 * One thread at a time, that of the guard.
 */
#ifndef EK_GUARD_RECALL_H
#define EK_GUARD_RECALL_H

#include "evenkeel.h"

/* Calls tell with an event for each confirmed change that is open, as `updated`, and one for the
 * plan when there ever was one (docs/format/events.md). They are not among the guard's own events.
 * EK_ENOMEM, or what tell returned. */
int ek_guard_recall(struct ek_guard *g, int (*tell)(void *context, const char *json),
                    void *context);

/* The same with what is amiss besides: for each route that a guardrail has taken back the decision,
 * and that model and upstream do not rank alike. */
int ek_guard_recall_amiss(struct ek_guard *g, int (*tell)(void *context, const char *json),
                          void *context);

#endif
