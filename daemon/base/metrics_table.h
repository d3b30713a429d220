/* The families of series on /metrics: the one table that HELP and TYPE lines and docs/metrics.md
 * come from. Who writes series asks for the head of their family by its name.
 *
 * Invariants: names are unique, in base units, counters end in _total; those of a group stand
 * together. Constants: any thread.
 */
#ifndef EK_DAEMON_BASE_METRICS_TABLE_H
#define EK_DAEMON_BASE_METRICS_TABLE_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

enum ek_family_type {
    EK_FAMILY_COUNTER,
    EK_FAMILY_GAUGE,
    EK_FAMILY_HISTOGRAM,
    EK_FAMILY_SUMMARY /* quantiles over the last lists; without sum and count */
};

struct ek_family {
    const char *name;
    enum ek_family_type type;
    const char *labels; /* their names, with a blank between; "" none */
    const char *help;   /* one sentence */
    const char *note;   /* what a page has room for besides, in Markdown; "" nothing */
    const char *group;  /* heading of the page; NULL: that of the family before */
};

/* In the order of the page; NULL after the last. */
const struct ek_family *ek_family_at(size_t i);
/* NULL: there is none of that name. */
const struct ek_family *ek_family_find(const char *name);
const char *ek_family_type_name(enum ek_family_type type);

/* Append the lines above the series of a family. A name that is not in the table is EK_EUSAGE,
 * which the buffer keeps. */
int ek_metrics_head(const char *name, struct ek_buf *out);

#endif
