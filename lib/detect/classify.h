/* What happened: the class of a change, from the lists since it began (rules in order, first that
 * fits; docs/detection.md).
 */
#ifndef EK_DETECT_CLASSIFY_H
#define EK_DETECT_CLASSIFY_H

#include "detect/align.h"
#include "num/list_stats.h"
#include "schema/enum_names.h"

#include <stdbool.h>

/* Lists of one feature in one cell since a change, oldest first. */
struct ek_window {
    const struct ek_list_stats *record; /* [count]; r against the stratum's level */
    const float *level;                 /* [count] of its stratum in training */
    int count;
    float mu;       /* level before the change, to be taken off r */
    float *scratch; /* [count] */
    struct ek_align_known known;
};

struct ek_diagnosis {
    enum ek_class class;
    struct ek_alignment level;
    double mean_ln, mean_error_ln; /* of the residual */
    double spread_ratio; /* rho: spread of the lists over that in training; 1 if unknown */
    double spread_test;  /* of its move, in standard errors */
    double incoherent;   /* share of lists with a spread above training's 99.5% */
    double share[EK_SHARES], share_error[EK_SHARES]; /* missing, zero, negative, tied */
    double exponent;                                 /* for EK_POWER */
    int lists;                                       /* with a spread */
};

/* Whether training knows the spread of lists with so many values: it had enough of that size. */
static inline bool ek_spread_known(const struct ek_baseline *b, int usable)
{
    return usable >= 3 && b->spread_hi[ek_size_class(usable)] < EK_SPREAD_UNKNOWN;
}

/* Whether the class is EK_MISSING or EK_ZERO because fewer values are so than in training. */
int ek_fewer(const struct ek_baseline *b, const struct ek_diagnosis *d);

/* All that can be said without asking what explains the lists, which is what is laborious. */
void ek_describe(const struct ek_baseline *b, const float *density, const struct ek_window *w,
                 struct ek_diagnosis *out);
void ek_classify(const struct ek_baseline *b, const float *density, const struct ek_window *w,
                 struct ek_diagnosis *out);

/* Whether the lists look like training in every respect, a level inside report_threshold (a factor)
 * apart. */
int ek_window_is_normal(const struct ek_baseline *b, const float *density,
                        const struct ek_window *w, double report_threshold);

/* Whether two descriptions of lists (classify.h) say the same as far as chance goes, so that what
 * explains the one explains the other.
 */
/* now: as ek_describe leaves it. Levels and shares of lists are compared where `then` is EK_SCALE;
 * both are to be measured on about `measured` lists. */
int ek_diagnosis_is_same(const struct ek_diagnosis *then, const struct ek_diagnosis *now,
                         int measured);

#endif
