/* Fit of the levels of segments (assets/segment_levels.h), and the choice of the dimensions that
 * have some.
 *
 * The level of a list is the sum of its stratum's and of one term by segment dimension, fitted by
 * backfitting (Buja, Hastie and Tibshirani 1989), so that a difference that two dimensions share
 * counts once; the dimension with fewer values gets it. Terms of few lists are pulled towards 0 by
 * their variance (empirical Bayes). A feature has terms in a dimension if one of them exceeds the
 * dead band and the noise, and both halves of training show it. The dimension of the strata has
 * none.
 */
#ifndef EK_OFFLINE_FIT_SEGMENT_LEVEL_FIT_H
#define EK_OFFLINE_FIT_SEGMENT_LEVEL_FIT_H

#include "assets/profile.h"

struct ek_profile_fit;

/* Lists that a value needs for a level, and to show that a dimension differs. */
enum { EK_SEGMENT_LISTS_MIN = 30, EK_SEGMENT_LISTS_DIFFER = 50 };

/* Set *out to the levels of the lists of a fit, which the caller frees; NULL if no dimension
 * differs. The baselines and levels of p are those of the lists without levels of segments. Return
 * 0, or EK_ENOMEM with *out NULL. */
int ek_segment_level_fit(const struct ek_profile_fit *fit, const struct ek_profile *p,
                         struct ek_segment_levels **out);

#endif
