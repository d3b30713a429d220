/* Memory limits of the detector and counters of the events beyond each. */
#ifndef EK_DETECT_BOUNDS_H
#define EK_DETECT_BOUNDS_H

#include <stdint.h>

enum ek_bound {
    EK_BOUND_NONE,
    EK_BOUND_CELLS,                /* lists with a segment value without a cell */
    EK_BOUND_CHANGES,              /* alarms without a free episode */
    EK_BOUND_FINDINGS,             /* findings overwritten before they were fetched */
    EK_BOUND_PLAN,                 /* times the plan was full */
    EK_BOUND_ROUTED,               /* times the plan exceeded max_routed_features */
    EK_BOUND_EVENTS,               /* events overwritten before they were fetched */
    EK_BOUND_SHARE,                /* times the plan exceeded max_routed_share */
    EK_BOUNDS,                     /* number of limits in the checkpoint */
    EK_BOUND_SKETCHES = EK_BOUNDS, /* resets of live sketches for lack of memory */
    EK_BOUND_STRATA,  /* lists without a level while most lists have an unknown stratum */
    EK_BOUND_ITEMS,   /* lists without levels by item while most lists have unknown items */
    EK_BOUND_REPEATS, /* repeats while 90% of the lists are repeats */
    EK_BOUND_QUERIES, /* lists with a query feature out of range while most lists have one */
    EK_BOUNDS_ALL
};

struct ek_limit_counters {
    uint64_t count[EK_BOUNDS_ALL];
};

/* Return the name of a limit, a static string: "cells", "changes", ... */
const char *ek_bound_name(enum ek_bound b);
/* Return a one-line description for operators, a static string. */
const char *ek_bound_text(enum ek_bound b);

#endif
