/* Which cell explains a change: all traffic, or one value of a segment dimension. */
#include "decide/detector_internal.h"

#include <math.h>
#include <string.h>

enum {
    LISTS_PER_VALUE = 12, /* fewer say nothing about a value */
    VALUES_MAX = 256
};
/* A value is hit when it moved by more than this part of the most moved one, clean when by less. */
static const double HIT = .6, CLEAN = .25;
static const double APART = 3; /* standard errors between the hit and the clean */

/* How one value of a dimension moved, on the scale of the finding: 0 not at all, about 1 wholly. */
struct movement {
    int cell, lists;
    double sum, squares;
};

/* What a single list says about the change of the episode. NaN: nothing. */
static double moved(const struct ek_detector *d, const struct ek_episode *e,
                    const struct ek_list_stats *o, float mu)
{
    const struct ek_baseline *b = &d->profile->baseline[e->feature];
    int which;
    switch (e->diagnosis.class) {
    case EK_MISSING:
        which = EK_SHARE_MISSING;
        break;
    case EK_ZERO:
        which = EK_SHARE_ZERO;
        break;
    case EK_SIGN:
        which = EK_SHARE_NEGATIVE;
        break;
    case EK_STUCK:
    case EK_CLIP:
        which = EK_SHARE_TIED;
        break;
    case EK_SHAPE:
    case EK_ITEMS:
        return ek_spread_known(b, o->usable) ? o->spread - b->spread_mean[ek_size_class(o->usable)]
                                             : NAN;
    default:
        return o->usable ? o->r - mu : NAN;
    }
    return o->share[which] == EK_SHARE_UNKNOWN
               ? NAN
               : (double)o->share[which] / EK_SHARE_WHOLE - b->share[which];
}

static struct movement *movement_of(struct movement *m, int *count, int cell)
{
    for (int i = 0; i < *count; i++)
        if (m[i].cell == cell)
            return &m[i];
    if (*count == VALUES_MAX)
        return NULL;
    m[*count] = (struct movement){.cell = cell};
    return &m[(*count)++];
}

static int measure(struct ek_detector *d, const struct ek_episode *e, const struct ek_window *w,
                   int dimension, struct movement *m)
{
    int count = 0;
    for (int i = 0; i < w->count; i++) {
        int cell = ek_history_row(d->history, d->window_row[i])->cell[1 + dimension];
        double size = moved(d, e, &w->record[i], w->mu);
        struct movement *one = cell < 0 || isnan(size) ? NULL : movement_of(m, &count, cell);
        if (!one)
            continue;
        one->lists++;
        one->sum += size;
        one->squares += size * size;
    }
    return count;
}

static double mean_of(const struct movement *m)
{
    return m->sum / m->lists;
}

static double variance_of_mean(const struct movement *m)
{
    double mean = mean_of(m), variance = m->squares / m->lists - mean * mean;
    return fmax(variance, 1e-6) / m->lists;
}

/* Of the values with enough lists: the one that moved most; NULL when there are fewer than two. */
static const struct movement *most_moved(const struct movement *m, int count)
{
    const struct movement *most = NULL;
    int known = 0;
    for (int i = 0; i < count; i++) {
        if (m[i].lists < LISTS_PER_VALUE)
            continue;
        known++;
        if (!most || fabs(mean_of(&m[i])) > fabs(mean_of(most)))
            most = &m[i];
    }
    return known >= 2 ? most : NULL;
}

/* 1 hit, -1 clean, 0 neither. */
static int side_of(const struct movement *m, const struct movement *most)
{
    double part = mean_of(m) / mean_of(most);
    if (m == most || part > HIT)
        return 1;
    double apart = fabs(mean_of(most) - mean_of(m));
    double error = sqrt(variance_of_mean(m) + variance_of_mean(most));
    return fabs(part) < CLEAN && apart > APART * error ? -1 : 0;
}

static void hand_over(struct ek_detector *d, const struct ek_episode *from, int cell)
{
    struct ek_episode *e = ek_episode_at(d, cell, from->feature);
    if (!e)
        e = ek_episode_open(d, from->feature, cell, from->bet);
    if (!e)
        return;
    if (e->since_row > from->since_row && e->lists == 0) {
        e->since_row = from->since_row;
        e->since_query = from->since_query;
        e->since_ms = from->since_ms;
    }
    int own = ek_cells_dimension(d->cells, from->cell);
    e->through |= from->through | (own < 0 ? 0 : 1u << own);
    ek_episode_claim(d, e);
}

static int attribute_to(struct ek_detector *d, struct ek_episode *e, const struct ek_window *w,
                        int dimension)
{
    struct movement m[VALUES_MAX];
    int count = measure(d, e, w, dimension, m), hits = 0, clean = 0;
    const struct movement *most = most_moved(m, count);
    for (int i = 0; most && i < count; i++) {
        if (m[i].lists < LISTS_PER_VALUE)
            continue;
        int side = side_of(&m[i], most);
        if (!side)
            return 0;
        hits += side > 0;
        clean += side < 0;
    }
    if (!hits || !clean || hits > clean)
        return 0;
    for (int i = 0; i < count; i++)
        if (m[i].lists >= LISTS_PER_VALUE && side_of(&m[i], most) > 0)
            hand_over(d, e, m[i].cell);
    return 1;
}

/* A change of arm B in app 7.1 alone is explained by either: no dimension gets it back. */
int ek_attribute(struct ek_detector *d, struct ek_episode *e, const struct ek_window *w)
{
    int own = ek_cells_dimension(d->cells, e->cell);
    if (e->diagnosis.class == EK_CLASS_NONE)
        return 0;
    for (int dimension = 0; dimension < ek_cells_dimensions(d->cells); dimension++)
        if (dimension != own && !(e->through >> dimension & 1) && attribute_to(d, e, w, dimension))
            return 1;
    return 0;
}
