/* Dependence between training lists in their order: design effects, wander of levels, daily season.
 *
 * Design effect: variance of the means of neighboring lists over that of as many independent lists
 * (Kish 1965), the largest over blocks of 16 to 1,024 lists, of all lists and of those of a stratum
 * or segment, where a user's lists are closer together. Linear trends within 4,096 lists are
 * removed first: the tracked level follows those. A variance of the means that stays within the
 * dead band is no dependence, since the bets leave that much out. A large design effect is mostly a
 * level that wanders slowly, and would make x100 take hundreds of lists: such a feature has the
 * dead band of 2% to 50% that finds x1.2 and x2 soonest.
 *
 * The estimates of one feature are noisy, and dependence is a property of the traffic: features are
 * pulled towards the median of all (empirical Bayes; Efron and Morris 1973), and an excess over 1
 * of a single feature counts when chance would give it once in 4,000 times. Independent lists
 * get 1.
 */
#ifndef EK_OFFLINE_FIT_DEPENDENCE_FIT_H
#define EK_OFFLINE_FIT_DEPENDENCE_FIT_H

#include "offline/fit/stratum_fit.h"

/* Return the time from the first to the last list; 0 if a list has none. */
int64_t ek_training_span(const int64_t *time_ms, size_t queries);
/* Set b->season and fit->season to the daily season of the level, if training has days; else to 0.
 * Return whether there is a season. */
bool ek_dependence_fit_season(const struct ek_baseline_fit *fit, const float *level,
                              struct ek_baseline *b);

/* All lists; the large and the small groups of each other view. */
enum { EK_BLOCK_LENGTHS = 7, EK_FIT_SLICES = 2 * EK_FIT_VIEWS - 1 };
/* Sums over windows of one feature. */
struct ek_dependence {
    struct ek_variance_ratio {
        double excess, freedom; /* variance ratio times degrees of freedom; these */
        double allowed;         /* as excess, of a wander that the dead-band covers */
    } ratio[EK_RESPECTS][EK_FIT_SLICES][EK_BLOCK_LENGTHS];
};
/* Set *out to the dependence of the feature whose moments are in `b`. level [strata]: levels of the
 * strata. */
void ek_dependence_measure(const struct ek_baseline_fit *fit, const float *level,
                           const struct ek_baseline *b, struct ek_dependence *out);
/* Set the design effects and the smallest dead bands of all features, b [features], from their
 * measurements `of`. Return 0 or EK_ENOMEM. */
int ek_dependence_pool(const struct ek_dependence *of, int features, struct ek_baseline *b);
/* Fill range and wander of `b`, whose moments, design effects and smallest dead band are known,
 * widen its dead band to the wander, and fill the bands of the strata, band [strata]. */
void ek_dependence_fit_wander(const struct ek_baseline_fit *fit, const float *level,
                              struct ek_baseline *b, float *band);

#endif
