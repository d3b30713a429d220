/* What the lists of an episode say: where the change began, of what class it is, and whether that
 * is worth telling.
 */
#include "decide/detector_internal.h"

#include <math.h>

enum {
    SINCE_REACH = 64 /* rows before the first guess that a change point is looked for in */
};
static const double SINCE_SHARE = .99; /* a single list may be an exception */
static const double NORMAL_95 = 1.959964;

void ek_episode_begin(struct ek_detector *d, struct ek_episode *e, uint64_t row)
{
    e->since_row = row;
    e->since_query = ek_history_row(d->history, row)->query;
    e->since_ms = ek_history_row(d->history, row)->time_ms;
}

uint64_t ek_change_point(struct ek_detector *d, int feature, int cell, int bet)
{
    struct ek_window w;
    int n = ek_detector_window(d, feature, cell, d->settled[feature], &w), best = n - 1;
    double tail = 0, largest = -INFINITY;
    for (int i = n - 1; i >= 0; i--) {
        float bets[EK_BETS];
        ek_bets_of(&d->tables, &d->profile->baseline[feature], &d->shares[feature], &w.record[i],
                   w.record[i].r - w.mu, bets);
        tail += log(bets[bet] > 1e-6f ? bets[bet] : 1e-6f);
        if (tail > largest) {
            largest = tail;
            best = i;
        }
    }
    return n ? d->window_row[best] : ek_history_count(d->history) - 1;
}

static int verdict(const struct ek_detector *d, const struct ek_episode *e)
{
    const struct ek_diagnosis *g = &e->diagnosis;
    if (g->class == EK_CLASS_NONE)
        return 0;
    if (g->class != EK_SCALE || e->query_feature >= 0)
        return 1;
    double effect = log(ek_detector_rule(d, e->feature)->min_effect),
           size = fabs(g->level.shift_ln);
    double reach = NORMAL_95 * g->level.error_ln;
    return size - reach > effect ? 1 : size + reach < effect ? -1 : 0;
}

/* Related lists say the same again: the error is that of as many lists as there are families (the
 * design effect of cluster sampling; Kish 1965). */
int ek_diagnose(struct ek_detector *d, struct ek_episode *e, struct ek_window *w)
{
    const struct ek_baseline *b = &d->profile->baseline[e->feature];
    if (!ek_detector_window(d, e->feature, e->cell, e->since_row, w))
        return -1;
    ek_classify(b, ek_profile_density(d->profile, e->feature), w, &e->diagnosis);
    if (ek_detector_resembles(d, e->feature))
        e->diagnosis.level.error_ln *= sqrt(1 + (d->profile->related_lists - 1) * b->related);
    e->query_feature = e->diagnosis.class == EK_SCALE ? ek_factor_feature(d, e, w) : -1;
    return verdict(d, e);
}

void ek_refine_since(struct ek_detector *d, struct ek_episode *e)
{
    const float *density = ek_profile_density(d->profile, e->feature);
    uint64_t from = e->since_row > SINCE_REACH ? e->since_row - SINCE_REACH : 0;
    uint64_t settled = d->settled[e->feature];
    double q = fmin(e->diagnosis.level.share, SINCE_SHARE), tail = 0, largest = -INFINITY;
    struct ek_window w;
    int best = -1;
    if (from < settled && settled <= e->since_row)
        from = settled;
    for (int i = ek_detector_window(d, e->feature, e->cell, from, &w) - 1; i >= 0; i--) {
        double r = w.record[i].r - w.mu, normal = ek_density_at(density, r);
        if (!w.record[i].usable)
            continue;
        tail += log(1 - q + q * ek_density_at(density, r - e->diagnosis.level.shift_ln) / normal);
        if (tail > largest) {
            largest = tail;
            best = i;
        }
    }
    if (best >= 0)
        ek_episode_begin(d, e, d->window_row[best]);
}
