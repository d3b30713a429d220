/* How much was beyond the limits of a guard: for its metrics. Each limit is told once, as an event.
 */
#ifndef EK_PLAN_LIMIT_COUNTERS_H
#define EK_PLAN_LIMIT_COUNTERS_H

#include "detect/bounds.h"

struct ek_guard;

struct ek_limit_counters ek_guard_limit_counters(const struct ek_guard *g);

#endif
