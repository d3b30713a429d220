/* Which values of a segment dimension a change has hit, and which it has not.
 *
 * Each list says something for or against having moved: the ln likelihood ratio under the change of
 * the episode (shift and share of a level; mean and variance of what its class is about otherwise).
 * Summed per value that tells the hit from the clean; the change is fitted again on the hit ones
 * alone, a few times (classification likelihood; Celeux and Govaert 1992). `gain` compares that
 * with all values having moved alike, at the price of having chosen among so many subsets.
 */
#ifndef EK_DETECT_LOCALIZE_SEGMENT_H
#define EK_DETECT_LOCALIZE_SEGMENT_H

#include "detect/detector_internal.h"

enum { EK_SPLIT_VALUES = 320 };

/* ln likelihood ratio beyond which a value is said to have moved, or not to. */
#define EK_SPLIT_CLEAR 3.0

struct ek_change {
    double shift_ln, share; /* of a level */
    double mean, variance;  /* of the statistic of other classes */
};

struct ek_value {
    int cell, lists;
    double evidence; /* ln likelihood ratio: moved against not */
};

struct ek_split {
    int count;
    struct ek_value value[EK_SPLIT_VALUES];
    double gain; /* ln odds: only those with positive evidence moved, against all alike */
};

/* The share that a class is about, EK_SHARE_...; -1: none. */
int ek_change_share(enum ek_class class);
/* What a list has of it, less what is so in training. NaN: unknown. */
double ek_change_excess_share(const struct ek_detector *d, const struct ek_episode *e,
                              const struct ek_list_stats *o);
/* How far its spread is from that of training (ln). NaN: unknown. */
double ek_change_spread(const struct ek_detector *d, int feature, const struct ek_list_stats *o);
/* The change as the episode's diagnosis has it, and as the lists of w show it. */
struct ek_change ek_change_compute(struct ek_detector *d, const struct ek_episode *e,
                                   const struct ek_window *w);
/* What list i of the window says; 0 when it says nothing. w as ek_detector_window left it. */
double ek_change_evidence(const struct ek_detector *d, const struct ek_episode *e,
                          const struct ek_change *c, const struct ek_window *w, int i);
/* How many lists each value has; evidence and gain are 0. */
void ek_split_lists(struct ek_detector *d, const struct ek_window *w, int dimension,
                    struct ek_split *out);
/* Evidence of each value under one change; gain is 0. */
void ek_split_values(struct ek_detector *d, const struct ek_episode *e, const struct ek_change *c,
                     const struct ek_window *w, int dimension, struct ek_split *out);

#endif
