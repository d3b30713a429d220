#include "detect/fault_membership.h"

#include "assets/residual_grid.h"
#include "detect/detector_internal.h"
#include "detect/localize_segment.h"

#include <math.h>

static const double REACH = 4;     /* standard deviations; at most 7% of the lists are beyond */
static const double SMOOTHED = .1; /* ln; minimum width of a peak of the density */

static double density_at(const float *density, double r)
{
    return density[ek_residual_bin((float)r)];
}

double ek_shift_probability(const float *density, double share, double shift_ln, double r)
{
    double moved = share * density_at(density, r - shift_ln);
    return moved / (moved + (1 - share) * density_at(density, r));
}

double ek_share_bound(const float *density, double sd, double share, double shift_ln)
{
    double moved = 0, usual = 0, all = 0;
    int steps =
        (int)fmin(ceil(REACH * hypot(sd, SMOOTHED) / SMOOTHED), -EK_RESIDUAL_LOW / SMOOTHED);
    for (int i = -steps; i <= steps; i++) {
        double r = SMOOTHED * i, weight = density_at(density, r);
        moved += weight * ek_shift_probability(density, share, shift_ln, r + shift_ln);
        usual += weight * ek_shift_probability(density, share, shift_ln, r);
        all += weight;
    }
    return all > usual ? fmin(fmax((moved - usual) / (all - usual), 0), 1) : 0;
}

enum { NEWEST = 128 };                 /* maximum number of lists checked for a lasting change */
static const double SHARE_MOST = .99;  /* a single list may be an exception */
static const double LEAST = .5;        /* of a list, required for a lasting change */
static const double WEIGHT_LEAST = .5; /* lower bound of the weight of a level's lists */
static const double SPREADS = 2;       /* standard deviations beyond the noise of one list */
/* Minimum expected number of affected lists, and the tolerated deviation in standard deviations. */
static const double EXPECTED = 1, DEVIATIONS = 2;

/* Return the probability that a list moved, or NAN if it has no usable value. */
static double level_membership(const struct ek_detector *d, const struct ek_episode *e,
                               uint64_t row, const struct ek_list_stats *o, double r)
{
    const float *density = ek_profile_density(d->profile, e->feature);
    double q = fmin(e->diagnosis.level.share, SHARE_MOST), shift = e->diagnosis.level.shift_ln;
    if (!o->usable)
        return (double)NAN;
    if (ek_episode_is_by_list(e)) {
        float value = ek_history_query(d->history, row)[e->query_feature];
        shift = ek_query_factor_ln(value);
        q = SHARE_MOST;
    }
    return ek_shift_probability(density, q, shift, r);
}

/* Return the weight of each list's membership. For a partial shift this is the sure part, at least
 * half. Otherwise a true fault in twice `action_min_fraction` of the lists could lose its route
 * when levels overlap. */
static double list_weight(const struct ek_detector *d, const struct ek_episode *e)
{
    const struct ek_alignment *level = &e->diagnosis.level;
    if (!ek_episode_has_level(e) || ek_episode_is_by_list(e) || level->share > EK_WHOLE_SHARE)
        return 1;
    return fmax(ek_share_bound(ek_profile_density(d->profile, e->feature),
                               d->profile->baseline[e->feature].sd, level->share, level->shift_ln),
                WEIGHT_LEAST);
}

/* Distance from training: as diagnosed, in one list, the standard deviation in training, and the
 * maximum. */
struct move {
    double diagnosed, list, sd, most;
};

/* The Bernoulli variance is an upper bound for a share. */
static struct move share_move(double diagnosed, double list, double trained)
{
    double p = fmin(fmax(trained, 0), 1);
    return (struct move){diagnosed, list, sqrt(p * (1 - p)), diagnosed < 0 ? p : 1 - p};
}

static struct move move_of_category(const struct ek_detector *d, const struct ek_episode *e,
                                    uint64_t row)
{
    const struct ek_category_diagnosis *c = &e->category;
    double trained = 0, diagnosed = 0;
    for (int i = 0; i < c->count; i++) {
        bool more = c->change[i].share > c->change[i].trained;
        trained += more ? c->change[i].trained : 1 - c->change[i].trained;
        diagnosed += fabs(c->change[i].share - c->change[i].trained);
    }
    trained = c->count ? trained / c->count : 0;
    return share_move(diagnosed, ek_categories_shift_probability(d->categories, e->feature, c, row),
                      trained);
}

static struct move move_of(const struct ek_detector *d, const struct ek_episode *e, uint64_t row,
                           const struct ek_list_stats *o)
{
    struct ek_baseline own;
    const struct ek_baseline *b = ek_episode_baseline(d, e, &own);
    int which = ek_change_share(e->diagnosis.class);
    if (e->diagnosis.class == EK_NEW_CATEGORY)
        return move_of_category(d, e, row);
    if (which < 0)
        return (struct move){log(e->diagnosis.spread_ratio), ek_change_spread(b, o),
                             b->spread_sd[ek_size_class(o->usable)], INFINITY};
    return share_move(e->diagnosis.share[which] - b->share[which],
                      ek_change_excess_share(b, which, o), b->share[which]);
}

/* Return the membership of a list for classes without a level, or NAN if unknown. It is
 * proportional to the distance and negative on the other side of training. So lists without the
 * fault sum to at most 0. */
static double move_membership(const struct ek_detector *d, const struct ek_episode *e, uint64_t row,
                              const struct ek_list_stats *o)
{
    struct move m = move_of(d, e, row, o);
    double whole = fmin(fmax(fabs(m.diagnosed), SPREADS * m.sd), m.most);
    double part = m.diagnosed < 0 ? -m.list : m.list;
    if (isnan(part))
        return part;
    return whole > 0 ? fmin(part / whole, 1) : part > 0;
}

/* A list without a value counts as much as it costs. */
static double membership(const struct ek_detector *d, const struct ek_episode *e, uint64_t row,
                         double each)
{
    const struct ek_list_stats *o = &ek_history_records(d->history, row)[e->feature];
    double r = (double)(o->r - ek_detector_level(d, e->cell, e->feature));
    double x =
        ek_episode_has_level(e) ? level_membership(d, e, row, o, r) : move_membership(d, e, row, o);
    return isnan(x) ? fmin(ek_detector_rule(d, e->feature)->action_min_fraction, LEAST) : each * x;
}

static bool is_list_of(const struct ek_detector *d, const struct ek_episode *e, uint64_t row)
{
    const int16_t *cells = ek_history_row(d->history, row)->cell;
    return ek_history_is_observed(d->history, row, e->cell) &&
           !(d->open[e->feature] && ek_detector_is_explained(d, cells, e->feature, e->cell));
}

bool ek_episode_is_lasting(const struct ek_detector *d, const struct ek_episode *e)
{
    uint64_t first = ek_history_first(d->history);
    uint64_t from = e->alarm_row >= first ? e->alarm_row + 1 : first;
    int newest = e->lists / 2 < NEWEST ? (int)e->lists / 2 : NEWEST, seen = 0;
    double expected = ek_detector_rule(d, e->feature)->action_min_fraction * newest, shown = 0;
    if (expected < EXPECTED)
        return true;
    for (uint64_t row = ek_history_count(d->history); row > from && seen < newest; row--)
        if (is_list_of(d, e, row - 1)) {
            shown += membership(d, e, row - 1, 1);
            seen++;
        }
    return seen < newest || shown >= fmax(LEAST, expected - DEVIATIONS * sqrt(expected));
}

static const struct ek_episode *confirmed(const struct ek_detector *d, int feature, int cell)
{
    if (cell < 0 || cell >= d->cell_capacity)
        return NULL;
    const struct ek_episode *e = ek_episode_at(d, cell, feature);
    return e && e->phase == EK_PHASE_CONFIRMED ? e : NULL;
}

uint32_t ek_detector_finding_number(const struct ek_detector *d, int feature, int cell)
{
    const struct ek_episode *e = confirmed(d, feature, cell);
    return e ? e->number : 0;
}

bool ek_detector_has_counted(const struct ek_detector *d)
{
    uint64_t rows = ek_history_count(d->history);
    return rows > ek_history_first(d->history) &&
           ek_history_row(d->history, rows - 1)->query + 1 == d->queries &&
           ek_history_is_observed(d->history, rows - 1, 0);
}

double ek_detector_membership(const struct ek_detector *d, int feature, int cell, uint32_t *episode)
{
    const struct ek_episode *e = confirmed(d, feature, cell);
    uint64_t last = ek_history_count(d->history) - 1;
    *episode = 0;
    if (!e || !ek_detector_has_counted(d) || !is_list_of(d, e, last))
        return 0;
    *episode = e->number;
    return membership(d, e, last, list_weight(d, e));
}

double ek_detector_sum_memberships(const struct ek_detector *d, int feature, int cell)
{
    const struct ek_episode *e = confirmed(d, feature, cell);
    double shown = 0;
    if (!e)
        return 0;
    double each = list_weight(d, e);
    uint64_t first = ek_history_first(d->history);
    uint64_t end = ek_history_count(d->history) - ek_detector_has_counted(d);
    for (uint64_t row = e->since_row > first ? e->since_row : first; row < end; row++)
        if (is_list_of(d, e, row))
            shown += membership(d, e, row, each);
    return shown;
}
