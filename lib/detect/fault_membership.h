/* Membership of lists in a confirmed change, and a lower bound on the fraction of shifted lists. */
#ifndef EK_DETECT_FAULT_MEMBERSHIP_H
#define EK_DETECT_FAULT_MEMBERSHIP_H

#include "detect/detector.h"

/* Lower bound on the fraction of shifted lists, for any distribution of the shifted lists.
 *
 * The maximum likelihood fraction (align.h) assumes that shifted lists are distributed as in
 * training and adds those hidden among the others. Forged lists can all be at the most extreme
 * value, which inflates that estimate. The membership probability p of a list is at most 1, so at
 * least
 *   (mean of p - its mean in training) / (1 - its mean in training)
 * of the lists moved. At the maximum likelihood fraction this equals the fraction times
 * ek_share_bound. Fractions in 0..1, shifts in ln. Pure functions.
 */
/* Return the probability that a list with residual r moved, if the fraction `share` of lists moved
 * by shift_ln. density [EK_DENSITY_BINS]. */
double ek_shift_probability(const float *density, double share, double shift_ln, double r);

/* Return the factor, 0..1, by which to multiply the fitted fraction `share` to get a lower bound on
 * the fraction of shifted lists. sd: of the residuals in training. */
double ek_share_bound(const float *density, double sd, double share, double shift_ln);

/* Membership: how far each list shows a confirmed change (plan/policy.h, plan/route_controller.h).
 *
 * A route affects every list of its segment, so it must be justified by lists that show the change.
 * A list counts up to 1. For a level, this is its membership probability times the sure part
 * (without the latter in ek_episode_is_lasting). For other classes it is the distance from training
 * toward the diagnosis, negative on the other side. A list without a value counts
 * `action_min_fraction`, at most .5, as much as it costs. Lists explained by another finding do not
 * count. Computed from the history, which keeps EK_HISTORY lists. Not thread-safe.
 */
/* Return whether the last list was observed in all its cells, and is neither a repeat nor empty. */
bool ek_detector_has_counted(const struct ek_detector *d);
/* Return the number of the confirmed finding of a feature in a cell, or 0. */
uint32_t ek_detector_finding_number(const struct ek_detector *d, int feature, int cell);
/* Return the membership of the list last observed and set *episode to the number of the finding.
 * Both are 0 without a confirmed finding, for a list outside it and for a repeat. */
double ek_detector_membership(const struct ek_detector *d, int feature, int cell,
                              uint32_t *episode);
/* Return the sum of memberships over the lists in the history that count for the finding of a
 * feature in a cell, except the list last observed. */
double ek_detector_sum_memberships(const struct ek_detector *d, int feature, int cell);

#endif
