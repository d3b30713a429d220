/* Test whether a level moved because the mix of the traffic did, and not the unit of the feature.
 *
 * Lists of dear hotels also have more stars and are nearer to the center. If more of them come, the
 * levels of all these features move, along the covariance that their levels have between lists; a
 * new unit moves one feature, or several by the same factor. The shift of a feature is therefore
 * predicted from the shifts of others by a linear regression over the lists before the change;
 * functions of the feature itself, such as its logarithm, are no evidence. It is a shift of the mix
 * if that explains half of it or more, give or take its error, and if lists with such levels came
 * before.
 */
#ifndef EK_DETECT_TRAFFIC_MIX_H
#define EK_DETECT_TRAFFIC_MIX_H

#include "num/list_stats.h"

enum { EK_MIX_BEFORE = 512, EK_MIX_BEFORE_MIN = 16, EK_MIX_USUAL_MIN = 64, EK_MIX_AFTER = 256 };

/* Lists, each with the statistics of all features [features], borrowed. The lists before and after
 * the change show the shifts; `usual`, also before the change, the covariance. A rare segment has
 * too few lists for the latter, which are then those of all traffic. */
struct ek_mix_rows {
    const struct ek_list_stats *before[EK_MIX_BEFORE], *after[EK_MIX_AFTER], *usual[EK_MIX_BEFORE];
    int before_count, after_count, usual_count, features;
    double repetition; /* lists worth one independent list, at least 1 */
};

enum ek_mix {
    EK_MIX_EXCLUDED,  /* hardly any list before the change, or in training, was so far away */
    EK_MIX_POSSIBLE,  /* the other features do not show it */
    EK_MIX_EXPLAINED, /* the other features predict the shift */
    EK_MIX_SHARED,    /* possible, and explained for another finding of the incident (episode.c) */
    EK_MIX_UNKNOWN, /* fewer than EK_MIX_BEFORE_MIN lists before the change, EK_MIX_USUAL_MIN usual
                     * ones, or 8 after it */
};

/* Return whether the mix of the traffic explains the shift of a feature, whose level has the
 * standard deviation `sd` (ln) between the lists of training. */
enum ek_mix ek_mix_explain(const struct ek_mix_rows *rows, int feature, double sd);

#endif
