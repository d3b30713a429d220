#include "decide/shows.h"

#include "decide/detector_internal.h"
#include "decide/split.h"

#include <math.h>

enum { NEWEST = 128 };                /* lists that are asked whether a change lasts, at most */
static const double SHARE_MOST = .99; /* a single list may be an exception */
static const double HALF = .5;        /* of the move that was told */
/* Of `act_share` of so few lists one at least is expected; and how far fewer are chance. */
static const double EXPECTED = 1, DEVIATIONS = 2;

/* Chance that a list has moved. */
static double shows_level(const struct ek_detector *d, const struct ek_episode *e, uint64_t row,
                          const struct ek_list_stats *o, double r)
{
    const float *density = ek_profile_density(d->profile, e->feature);
    double q = fmin(e->diagnosis.level.share, SHARE_MOST), shift = e->diagnosis.level.shift_ln;
    if (e->query_feature >= 0) {
        float value = ek_history_query(d->history, row)[e->query_feature];
        shift = value > 0 && isfinite(value) ? logf(value) : 0;
        q = SHARE_MOST;
    }
    if (!o->usable)
        return q;
    double moved = q * ek_density_at(density, r - shift);
    return moved / (moved + (1 - q) * ek_density_at(density, r));
}

/* By how much the spread of the lists, or a share, moved in all. */
static double move_of(const struct ek_detector *d, const struct ek_episode *e)
{
    int which = ek_change_share(e->diagnosis.class);
    return which < 0 ? log(e->diagnosis.spread_ratio)
                     : e->diagnosis.share[which] - d->profile->baseline[e->feature].share[which];
}

/* How far a list shows a change of another class. */
static double shows_move(const struct ek_detector *d, const struct ek_episode *e, uint64_t row,
                         const struct ek_list_stats *o)
{
    double x, move;
    if (e->diagnosis.class == EK_NEW_CATEGORY) {
        x = ek_categories_moved(d->categories, e->feature, &e->category, row);
        return isnan(x) || x > 0;
    }
    x = ek_change_share(e->diagnosis.class) < 0 ? ek_change_spread(d, e->feature, o)
                                                : ek_change_in_share(d, e, o);
    move = move_of(d, e);
    return isnan(x) || x * move >= HALF * move * move;
}

static double shows(const struct ek_detector *d, const struct ek_episode *e, uint64_t row)
{
    const struct ek_list_stats *o = &ek_history_records(d->history, row)[e->feature];
    double r = (double)(o->r - ek_detector_level(d, e->cell, e->feature));
    return ek_episode_has_level(e) ? shows_level(d, e, row, o, r) : shows_move(d, e, row, o);
}

static bool is_of(const struct ek_detector *d, const struct ek_episode *e, uint64_t row)
{
    const int16_t *cells = ek_history_row(d->history, row)->cell;
    return ek_history_in(d->history, row, e->cell) &&
           !(d->open[e->feature] && ek_detector_explained(d, cells, e->feature, e->cell));
}

bool ek_change_lasts(const struct ek_detector *d, const struct ek_episode *e)
{
    uint64_t first = ek_history_first(d->history);
    uint64_t from = e->alarm_row >= first ? e->alarm_row + 1 : first;
    int newest = e->lists / 2 < NEWEST ? (int)e->lists / 2 : NEWEST, seen = 0;
    double expected = ek_detector_rule(d, e->feature)->act_share * newest, shown = 0;
    if (expected < EXPECTED)
        return true;
    for (uint64_t row = ek_history_count(d->history); row > from && seen < newest; row--)
        if (is_of(d, e, row - 1)) {
            shown += shows(d, e, row - 1);
            seen++;
        }
    return seen < newest || shown >= fmax(HALF, expected - DEVIATIONS * sqrt(expected));
}

/* NULL: none is confirmed. */
static const struct ek_episode *confirmed(const struct ek_detector *d, int feature, int cell)
{
    if (cell < 0 || cell >= d->cell_capacity)
        return NULL;
    const struct ek_episode *e = ek_episode_at(d, cell, feature);
    return e && e->phase == EK_PHASE_CONFIRMED ? e : NULL;
}

double ek_detector_shows(const struct ek_detector *d, int feature, int cell, uint32_t *episode)
{
    const struct ek_episode *e = confirmed(d, feature, cell);
    uint64_t last = ek_history_count(d->history) - 1;
    *episode = 0;
    if (!e || ek_history_row(d->history, last)->query + 1 != d->queries || !is_of(d, e, last))
        return 0;
    *episode = e->number;
    return shows(d, e, last);
}

double ek_detector_shown(const struct ek_detector *d, int feature, int cell)
{
    const struct ek_episode *e = confirmed(d, feature, cell);
    double shown = 0;
    if (!e)
        return 0;
    uint64_t first = ek_history_first(d->history);
    for (uint64_t row = e->since_row > first ? e->since_row : first;
         row < ek_history_count(d->history); row++)
        if (is_of(d, e, row))
            shown += shows(d, e, row);
    return shown;
}
