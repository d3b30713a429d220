/* When a confirmed change is over. */
#include "detect/split.h"

#include <math.h>

/* Back to normal: the evidence asked for, and how much one list may say. */
static const double RECOVERY_LEVEL = 1e6, RECOVERY_MOST = 148.4, RECOVERY_LEAST = 1e-3;
/* A value of a segment that makes up such a part of the traffic must have been seen normal, and
 * somewhat surely so (ln): the more so, the more harm there is in a mistake. */
static const double PART_TO_SEE = 1.0 / 32, SURE = 1.5, SURE_PER_SHIFT = 2;
/* Lists whose spread is above the 99.5% of training: as many, and of a mixture. */
static const double INCOHERENT_USUALLY = .005, MIXTURE_LEAST = .02, MIXTURE_MOST = .99;
static const double GOES_ON = 7; /* ln likelihood ratio for a value that is faulty still */
enum {
    PATIENCE = 128,  /* lists within which a value must be seen, or it is gone */
    FOLLOWED = 1024, /* lists after which a relief that came to nothing is forgotten */
};

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

/* Whether the change shows in how many lists are incoherent, and only there. */
static int is_mixture(const struct ek_diagnosis *g)
{
    return g->class == EK_ITEMS && g->incoherent > MIXTURE_LEAST;
}

/* Bet of one list that its items belong together again as they do in training. */
static double back_together(const struct ek_detector *d, const struct ek_episode *e,
                            const struct ek_list_stats *record)
{
    const struct ek_baseline *b = &d->profile->baseline[e->feature];
    double q = fmin(e->diagnosis.incoherent, MIXTURE_MOST);
    if (!ek_spread_known(b, record->usable))
        return 1;
    return record->spread > b->spread_hi[ek_size_class(record->usable)]
               ? INCOHERENT_USUALLY / q
               : (1 - INCOHERENT_USUALLY) / (1 - q);
}

/* Classes without a level: how many of the last lists there are that look like training in every
 * respect, 0 when they do not; *row: the first of them. A small cell has few lists in the history.
 * A level that is not worth telling does not keep a change open: traffic may have drifted since. */
static int normal_lists(struct ek_detector *d, struct ek_episode *e, uint64_t *row)
{
    struct ek_window w;
    struct ek_category_diagnosis category;
    int count = ek_detector_window_of(d, e->feature, e->cell, e->since_row, EK_RECOVERY_LISTS, &w);
    *row = count ? d->window_row[0] : e->since_row;
    w.known = (struct ek_align_known){e->level_error, 1, 0};
    int usual = ek_looks_usual(&d->profile->baseline[e->feature],
                               ek_profile_density(d->profile, e->feature), &w,
                               ek_detector_rule(d, e->feature)->min_effect) &&
                !ek_categories_diagnose(d->categories, e->feature, e->cell, d->window_row, count,
                                        &category);
    return usual ? count : 0;
}

static const struct ek_value *value_of(const struct ek_split *s, int cell)
{
    for (int i = 0; i < s->count; i++)
        if (s->value[i].cell == cell)
            return &s->value[i];
    return NULL;
}

/* Whether a value that makes up a part of the traffic may still be faulty for all we know. */
static int is_awaited(const struct ek_episode *e, const struct ek_value *now, double part)
{
    int late = e->lists - e->relieved_at >= PATIENCE;
    double harm = ek_episode_has_level(e) && e->query_feature < 0
                      ? SURE_PER_SHIFT * fabs(e->diagnosis.level.shift_ln)
                      : SURE;
    if (part < PART_TO_SEE)
        return 0;
    return now ? now->evidence >= (late ? 0 : -fmin(harm, SURE)) : !late;
}

/* What one dimension says since the relief: EK_GOES_ON when some values were handed the change
 * over, EK_LASTS while some are awaited. */
static enum ek_recovery look_at(struct ek_detector *d, struct ek_episode *e, int dimension)
{
    struct ek_split all, now;
    struct ek_window w;
    int faulty = 0, fine = 0, awaited = 0;
    int lists = ek_detector_window(d, e->feature, e->cell, e->since_row, &w);
    struct ek_change c = ek_change_of(d, e, &w);
    ek_split_lists(d, &w, dimension, &all);
    ek_detector_window(d, e->feature, e->cell, e->relief_row, &w);
    ek_split_values(d, e, &c, &w, dimension, &now);
    for (int i = 0; i < all.count; i++)
        awaited +=
            is_awaited(e, value_of(&now, all.value[i].cell), (double)all.value[i].lists / lists);
    for (int i = 0; i < now.count; i++) {
        fine += now.value[i].evidence < 0;
        faulty += now.value[i].cell >= 0 && now.value[i].evidence > GOES_ON;
        if (now.value[i].evidence <= GOES_ON)
            now.value[i].evidence = 0; /* not to be handed anything */
    }
    if (faulty && fine)
        return ek_attribute_to(d, e, &now) ? EK_GOES_ON : EK_LASTS;
    return faulty || awaited ? EK_LASTS : EK_OVER;
}

/* A change of all traffic is over when it is over in every value that makes up a part of it; it
 * goes on in those that show it still. That of a segment is not handed to another one, whose other
 * lists have nothing to do with it. */
static enum ek_recovery look_at_segments(struct ek_detector *d, struct ek_episode *e)
{
    enum ek_recovery verdict = EK_OVER;
    int count = e->cell ? 0 : ek_cells_dimensions(d->cells);
    for (int i = 0; i < count && verdict != EK_GOES_ON; i++) {
        enum ek_recovery one = look_at(d, e, i);
        if (one != EK_OVER)
            verdict = one;
    }
    return verdict;
}

/* Where the bets last began to add up for good (Page 1954): the relief began there. */
static void follow_relief(const struct ek_detector *d, struct ek_episode *e, double bet_ln)
{
    if (e->relieved)
        return;
    if (e->relief_ln <= 0) {
        e->relief_ln = 0;
        e->relief_row = ek_history_count(d->history) - 1;
    }
    e->relief_ln += bet_ln;
}

/* Whether the whole cell looks normal, with what has come since. */
static int looks_normal(struct ek_detector *d, struct ek_episode *e,
                        const struct ek_list_stats *record, float r, const float *query)
{
    if (ek_episode_has_level(e) || is_mixture(&e->diagnosis)) {
        double bet = is_mixture(&e->diagnosis) ? back_together(d, e, record)
                                               : back_to_level(d, e, record, r, query);
        follow_relief(d, e, log(bet));
        e->recovery = (e->recovery + 1) * bet;
        return e->recovery > RECOVERY_LEVEL;
    }
    if ((e->lists + e->number - 1) % EK_RECOVERY_LISTS) /* those that began together take turns */
        return 0;
    uint64_t row;
    int normal = normal_lists(d, e, &row);
    if (!(e->recovery > 0) && !e->relieved)
        e->relief_row = row;
    e->recovery = normal ? e->recovery + normal : 0;
    return e->recovery >= EK_RECOVERY_LISTS;
}

enum ek_recovery ek_recovered(struct ek_detector *d, struct ek_episode *e,
                              const struct ek_list_stats *record, float r, const float *query)
{
    if (looks_normal(d, e, record, r, query) && !e->relieved) {
        e->relieved = 1;
        e->relieved_at = e->lists;
    }
    if (!e->relieved)
        return EK_LASTS;
    enum ek_recovery verdict = EK_LASTS;
    if (ek_turn_to_relief(d, e, e->relieved_at == e->lists))
        verdict = look_at_segments(d, e);
    if (verdict == EK_LASTS && e->lists - e->relieved_at >= FOLLOWED) {
        e->relieved = 0;
        e->recovery = 0;
    }
    return verdict;
}
