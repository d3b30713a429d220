/* Split of a change by the values of a segment dimension into hit and clean ones.
 *
 * Each list contributes its ln likelihood ratio under the change of the episode: shift and fraction
 * of a level, or mean and variance of the statistic of other classes. The sum per value separates
 * hit from clean values. The change is refitted on the hit values a few times (classification
 * likelihood; Celeux and Govaert 1992). `gain` compares the split with one change of all values,
 * minus the ln number of subsets.
 */
#ifndef EK_DETECT_LOCALIZE_SEGMENT_H
#define EK_DETECT_LOCALIZE_SEGMENT_H

#include "detect/detector_internal.h"

enum { EK_SPLIT_VALUES = 320 };

/* ln likelihood ratio beyond which a value has clearly moved, or clearly not. */
#define EK_SPLIT_CLEAR 3.0

struct ek_change {
    double shift_ln, share; /* of a level */
    double mean, variance;  /* of the statistic, for other classes */
};

struct ek_value {
    int cell, lists;
    double evidence; /* ln likelihood ratio, moved against not */
};

struct ek_split {
    int count;
    struct ek_value value[EK_SPLIT_VALUES];
    double gain; /* ln odds: only values with positive evidence moved, against all */
};

/* Return the EK_SHARE_... index of the share that a class concerns, or -1. */
int ek_change_share(enum ek_class class);
/* Return share `which` (EK_SHARE_...) of a list minus its usual value, or NAN if unknown. */
double ek_change_excess_share(const struct ek_baseline *b, int which,
                              const struct ek_list_stats *o);
/* Return the ln spread of a list minus its usual value, or NAN if unknown. */
double ek_change_spread(const struct ek_baseline *b, const struct ek_list_stats *o);
/* Return the change of the episode's diagnosis, from its level or, for classes without one, fitted
 * to the lists of w. */
struct ek_change ek_change_compute(struct ek_detector *d, const struct ek_episode *e,
                                   const struct ek_window *w);
/* Return the diagnosed change of a share, as if whole lists had it. The class has a share. */
struct ek_change ek_change_of_share(const struct ek_detector *d, const struct ek_episode *e);
/* Return the evidence of list i, 0 if unknown. w must be the last result of ek_detector_window. */
double ek_change_evidence(const struct ek_detector *d, const struct ek_episode *e,
                          const struct ek_change *c, const struct ek_window *w, int i);
/* Return the evidence of the lists of w since the alarm, divided by their design effect. w must be
 * the last result of ek_detector_window. */
double ek_change_evidence_since_alarm(struct ek_detector *d, const struct ek_episode *e,
                                      const struct ek_window *w);
/* Set *out to the values of a segment dimension with the number of lists of each in w; evidence and
 * gain are 0. */
void ek_split_lists(struct ek_detector *d, const struct ek_window *w, int dimension,
                    struct ek_split *out);
/* Set *out as ek_split_lists does, and also the evidence of each value under the change c; gain is
 * 0. */
void ek_split_values(struct ek_detector *d, const struct ek_episode *e, const struct ek_change *c,
                     const struct ek_window *w, int dimension, struct ek_split *out);

#endif
