/* Table of metric families, the source of HELP and TYPE lines and of docs/metrics.md.
 *
 * Names are unique, in base units; counters end in _total; families of a group are consecutive.
 * Constant; any thread.
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
    EK_FAMILY_SUMMARY /* quantiles of the last lists, without sum and count */
};

struct ek_family {
    const char *name;
    enum ek_family_type type;
    const char *labels; /* names, separated by blanks; "": none */
    const char *help;   /* one sentence */
    const char *note;   /* additional text of the page in Markdown; "": none */
    const char *group;  /* heading of the page; NULL: that of the previous family */
};

/* Return a family in the order of the page, a static row; NULL after the last. */
const struct ek_family *ek_family_at(size_t i);
/* Return the family with this name, a static row, or NULL. */
const struct ek_family *ek_family_find(const char *name);
/* Return the type for TYPE lines, a static string: "counter", "gauge", "histogram" or "summary". */
const char *ek_family_type_name(enum ek_family_type type);

/* Append the HELP and TYPE lines of a family. Return 0, EK_ENOMEM, or EK_EUSAGE for an unknown
 * name; errors are also stored in the buffer, so that later appends fail. */
int ek_metrics_head(const char *name, struct ek_buf *out);

#endif
