/* A finding: what happened to one feature in one cell, at one moment of its episode.
 *
 * Value type; texts point into the detector (detector.h says for how long). Factors are plain
 * ratios, NaN where the class has none.
 */
#ifndef EK_DETECT_FINDING_H
#define EK_DETECT_FINDING_H

#include "schema/enum_names.h"
#include "detect/category.h"
#include "detect/unit_match.h"

#include <stdbool.h>
#include <stdint.h>

/* So many of the lists moved: the whole cell did. */
#define EK_WHOLE_SHARE .9

enum ek_finding_state { EK_SUSPECTED, EK_CONFIRMED, EK_UPDATED, EK_DISMISSED, EK_RECOVERED };

struct ek_finding {
    enum ek_finding_state state;
    uint32_t episode, cause; /* cause 0: none yet */
    uint64_t query, since_query;
    int64_t time_ms, since_ms;
    int feature, cell;             /* item feature number, cell number */
    const char *dimension, *value; /* NULL for all traffic */
    const char *signal;            /* the bet that raised the alarm */
    enum ek_class class;           /* EK_CLASS_NONE while suspected */
    int fewer;   /* for EK_MISSING and EK_ZERO: fewer than in training are, not more */
    int passing; /* the newest lists do not show it: no reason to begin to act */
    double factor, factor_low, factor_high, error_ln, share, spread_ratio, exponent;
    int unit_count;
    struct ek_unit_match unit[EK_UNIT_MATCHES]; /* conversions that fit, likeliest first */
    int query_feature; /* the factor is this query feature's value, -1: it is one number */
    struct ek_category_change category[EK_CATEGORY_CHANGES]; /* values, for EK_NEW_CATEGORY */
    int category_count;
    const char *reason; /* for dismissed: why */
};

/* Return whether a finding in this state is no longer open: dismissed or recovered. */
bool ek_finding_is_over(enum ek_finding_state s);
/* "suspected", "confirmed", ... */
const char *ek_finding_state_name(enum ek_finding_state s);
/* Why one that was accepted is dismissed. */
const char *ek_finding_accepted(void);

#endif
