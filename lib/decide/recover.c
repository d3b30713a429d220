/* When a confirmed change is over. */
#include "decide/detector_internal.h"

#include <math.h>

/* Back to normal: the evidence asked for, and how much one list may say. */
static const double RECOVERY_LEVEL = 1e6, RECOVERY_MOST = 148.4, RECOVERY_LEAST = 1e-3;

/* Bet of one list that the level is back: training density over that of the finding. */
static double back_to_level(const struct ek_detector *d, const struct ek_episode *e,
                            const struct ek_list_stats *record, float r, const float *query)
{
    const float *density = ek_profile_density(d->profile, e->feature);
    double normal = ek_density_at(density, r), moved;
    if (!record->usable)
        return 1;
    if (e->query_feature >= 0) {
        float value = query[e->query_feature];
        moved = ek_density_at(density, value > 0 && isfinite(value) ? r - logf(value) : r);
    } else {
        double q = e->diagnosis.level.share;
        moved = (1 - q) * normal + q * ek_density_at(density, r - e->diagnosis.level.shift_ln);
    }
    return fmin(fmax(normal / moved, RECOVERY_LEAST), RECOVERY_MOST);
}

/* A level that is not worth telling does not keep a change open: traffic may have drifted since. */
static int is_nothing(const struct ek_diagnosis *g, double min_effect)
{
    return g->class == EK_CLASS_NONE ||
           (g->class == EK_SCALE && fabs(g->level.shift_ln) < log(min_effect));
}

/* Classes without a level: how many of the last lists there are that look like training in every
 * respect, 0 when they do not. A small cell has few lists in the history. */
static int normal_lists(struct ek_detector *d, struct ek_episode *e)
{
    struct ek_window w;
    struct ek_diagnosis now;
    int n = ek_detector_window(d, e->feature, e->cell, e->since_row, &w);
    int count = n < EK_RECOVERY_LISTS ? n : EK_RECOVERY_LISTS;
    w.record += n - count;
    w.count = count;
    w.known = (struct ek_align_known){e->level_error, 1};
    ek_classify(&d->profile->baseline[e->feature], ek_profile_density(d->profile, e->feature), &w,
                &now);
    return is_nothing(&now, ek_detector_rule(d, e->feature)->min_effect) ? count : 0;
}

int ek_recovered(struct ek_detector *d, struct ek_episode *e, const struct ek_list_stats *record,
                 float r, const float *query)
{
    if (ek_episode_has_level(e)) {
        e->recovery = (e->recovery + 1) * back_to_level(d, e, record, r, query);
        return e->recovery > RECOVERY_LEVEL;
    }
    if (e->lists % EK_RECOVERY_LISTS)
        return 0;
    int normal = normal_lists(d, e);
    e->recovery = normal ? e->recovery + normal : 0;
    return e->recovery >= EK_RECOVERY_LISTS;
}
