/* Counters of exceeded limits of a guard, for its metrics. */
#ifndef EK_GUARD_LIMIT_COUNTERS_H
#define EK_GUARD_LIMIT_COUNTERS_H

#include "detect/bounds.h"

struct ek_guard;

/* Return the sums of the counters of guard, detector and live sketches, since the start. */
struct ek_limit_counters ek_guard_limit_counters(const struct ek_guard *g);

#endif
