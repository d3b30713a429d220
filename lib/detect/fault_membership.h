/* What of a share of lists is there whatever the lists that moved look like.
 *
 * The likeliest share (align.h) takes it that lists that moved are spread as those of training are,
 * only further on, so it adds those that would be hidden among the others. Forged ones hide
 * nothing: all stand where a list says most, and some of the others are taken for the rest of them.
 * By the chance p that a list has moved no list counts more than 1, so whatever moved, in at least
 *   (mean of p - its mean in training) / (1 - its mean in training)
 * of the lists it did. With the likeliest share that is the share times what stands here. Shares in
 * 0..1, shifts in ln. Pure.
 */
#ifndef EK_DETECT_FAULT_MEMBERSHIP_H
#define EK_DETECT_FAULT_MEMBERSHIP_H

#include "detect/detector.h"

/* Chance that a list has moved whose residual is r. density [EK_DENSITY_BINS]. */
double ek_shift_probability(const float *density, double share, double shift_ln, double r);

/* The part of a share that is sure, 0..1; sd: of the residuals in training. */
double ek_share_bound(const float *density, double sd, double share, double shift_ln);

/* Which lists show a change: what acting on it is borne out by.
 *
 * A route acts on all lists of its cell, also on those that nothing is wrong with; so it is asked
 * of a confirmed change how many of its lists have it, and whether the newest have
 * (plan/policy.h, plan/route_controller.h). A list counts up to 1: of a level, by the chance that
 * it has moved, given shift and share, times what of that share is sure (not where it is asked
 * whether a change lasts); of other classes by how far it is from training towards what was told,
 * and less than 0 on the other side. Where it cannot say (it has no value) it counts
 * action_min_fraction, as much as it takes. Lists that another finding explains are none of the
 * change. Nothing is kept: all is read from the history, which forgets after EK_HISTORY lists.
 * Threads: those of the detector.
 */
/* Whether the list last observed was taken: it was no repeat, and had items. */
bool ek_detector_has_counted(const struct ek_detector *d);
/* Number of the confirmed change of a place, 0: there is none. */
uint32_t ek_detector_finding_number(const struct ek_detector *d, int feature, int cell);
/* How far the list last observed shows the confirmed change, and the number of that; 0 and 0:
 * there is none, the list is not of it, or it was a repeat, of which nothing was learnt. */
double ek_detector_membership(const struct ek_detector *d, int feature, int cell,
                              uint32_t *episode);
/* The same of all its lists before that one since it began, as far as they are remembered. */
double ek_detector_mean_membership(const struct ek_detector *d, int feature, int cell);

#endif
