/* Finding: state and diagnosis of a change of one feature in one cell at one time.
 *
 * Value type. Strings belong to the detector and are valid as documented in detector.h. Factors are
 * ratios, NaN for classes without a factor.
 */
#ifndef EK_DETECT_FINDING_H
#define EK_DETECT_FINDING_H

#include "schema/enum_names.h"
#include "detect/category.h"
#include "rules/unit_match.h"

#include <stdbool.h>
#include <stdint.h>

/* Fraction of moved lists from which the whole cell counts as moved. */
#define EK_WHOLE_SHARE .9

enum { EK_FINDING_FLAGS_ALL = 63 }; /* of ek_finding_get_flags */
enum ek_finding_state { EK_SUSPECTED, EK_CONFIRMED, EK_UPDATED, EK_DISMISSED, EK_RECOVERED };

struct ek_finding {
    enum ek_finding_state state;
    uint32_t episode, cause; /* cause 0: none yet */
    uint64_t query, since_query;
    int64_t time_ms, since_ms;
    int feature, cell;             /* item feature number, cell number */
    const char *dimension, *value; /* NULL for all traffic */
    const char *signal;            /* name of the bet that raised the alarm */
    enum ek_class class;           /* EK_CLASS_NONE while suspected */
    int fewer;   /* for EK_MISSING and EK_ZERO: fewer such values than in training; for EK_SIGN:
                  * fewer missing ones, which became negative, such as -1 */
    int passing; /* the newest lists are not affected: no route starts */
    int weak;    /* the fraction of lists may be below action_min_fraction, or an offset is small:
                  * no automatic action */
    int gradual; /* the level moved little by little, as no change of unit does */
    int varies;  /* of EK_SCALE: different factors per list, as with a currency per list */
    int mix;     /* the mix of the traffic explains the shift of the level (traffic_mix.h) */
    double factor, factor_low, factor_high, error_ln, share, spread_ratio, exponent;
    double offset, offset_error; /* of EK_OFFSET, in the unit of the feature; 0: unknown */
    /* Of EK_MISSING, EK_ZERO and EK_SIGN: fraction of the values that are missing, zero or
     * negative, now and in training; else 0. */
    double value_share, trained_share;
    int unit_count;
    struct ek_unit_match unit[EK_UNIT_MATCHES]; /* matching conversions, most likely first */
    int query_feature;                          /* the factor is its value; -1: constant factor */
    struct ek_category_change category[EK_CATEGORY_CHANGES]; /* values, for EK_NEW_CATEGORY */
    int category_count;
    const char *reason; /* of a dismissal, or of a recovery because lists stopped; else NULL */
};

/* Return fewer, passing, gradual, weak, varies and mix as the bits of a number, their form in files
 * and records. */
static inline int ek_finding_get_flags(const struct ek_finding *f)
{
    return f->fewer | f->passing << 1 | f->gradual << 2 | f->weak << 3 | f->varies << 4 |
           f->mix << 5;
}

/* Set these members from the bits. */
static inline void ek_finding_set_flags(struct ek_finding *f, int flags)
{
    f->fewer = flags & 1;
    f->passing = flags >> 1 & 1;
    f->gradual = flags >> 2 & 1;
    f->weak = flags >> 3 & 1;
    f->varies = flags >> 4 & 1;
    f->mix = flags >> 5 & 1;
}

/* Return whether a class is a fraction of values: missing, zero or negative ones. */
static inline bool ek_class_counts_values(enum ek_class c)
{
    return c == EK_MISSING || c == EK_ZERO || c == EK_SIGN;
}

/* Return whether a finding in this state is no longer open: dismissed or recovered. */
bool ek_finding_is_over(enum ek_finding_state s);
/* Return the name of a state, a static string: "suspected", "confirmed", ... */
const char *ek_finding_state_name(enum ek_finding_state s);
/* Return the dismissal reason of an accepted finding, a static string. */
const char *ek_finding_accepted(void);

#endif
