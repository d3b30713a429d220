/* The limits of what is kept in mind, and how much was beyond each: nothing is left out silently.
 */
#ifndef EK_DETECT_BOUNDS_H
#define EK_DETECT_BOUNDS_H

#include <stdint.h>

enum ek_bound {
    EK_BOUND_NONE,
    EK_BOUND_CELLS,                /* lists whose segment value had no cell of its own */
    EK_BOUND_CHANGES,              /* alarms that could not be followed */
    EK_BOUND_FINDINGS,             /* findings that nobody fetched in time */
    EK_BOUND_PLAN,                 /* how often the plan had no room for all */
    EK_BOUND_ROUTED,               /* how often more was wanted than max_routed_features */
    EK_BOUND_EVENTS,               /* events that nobody fetched in time */
    EK_BOUND_SHARE,                /* how often more was wanted than max_routed_share */
    EK_BOUNDS,                     /* that states have */
    EK_BOUND_SKETCHES = EK_BOUNDS, /* cells whose live sketches took too much, and began anew */
    EK_BOUNDS_ALL
};

struct ek_limit_counters {
    uint64_t count[EK_BOUNDS_ALL];
};

/* "cells", "changes", ... */
const char *ek_bound_name(enum ek_bound b);
/* What being beyond it means, for people. */
const char *ek_bound_text(enum ek_bound b);

#endif
