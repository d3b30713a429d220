/* Episodes as a part of the state; what follows from them is made anew. */
#include "detect/detector_internal.h"

#include <limits.h>

static void alignment_snap(struct ek_alignment *a, struct ek_snap *s)
{
    ek_snap_f64(s, &a->shift_ln);
    ek_snap_f64(s, &a->share);
    ek_snap_f64(s, &a->gain_ln);
    ek_snap_f64(s, &a->low_ln);
    ek_snap_f64(s, &a->high_ln);
    ek_snap_f64(s, &a->error_ln);
}

static void class_snap(enum ek_class *class, struct ek_snap *s)
{
    int number = (int)*class;
    ek_snap_int(s, &number, EK_CLASS_NONE, EK_CLASS_COUNT - 1);
    *class = (enum ek_class)number;
}

static void diagnosis_snap(struct ek_diagnosis *g, struct ek_snap *s)
{
    int class = (int)g->class;
    ek_snap_int(s, &class, EK_CLASS_NONE, EK_CLASS_COUNT - 1);
    g->class = (enum ek_class) class;
    alignment_snap(&g->level, s);
    ek_snap_f64(s, &g->mean_ln);
    ek_snap_f64(s, &g->mean_error_ln);
    ek_snap_f64(s, &g->spread_ratio);
    ek_snap_f64(s, &g->spread_test);
    ek_snap_f64(s, &g->incoherent);
    ek_snap_raw(s, g->share, sizeof g->share);
    ek_snap_raw(s, g->share_error, sizeof g->share_error);
    ek_snap_f64(s, &g->exponent);
    ek_snap_int(s, &g->lists, 0, EK_HISTORY);
}

void ek_category_changes_snap(struct ek_category_change *change, int *count, struct ek_snap *s)
{
    ek_snap_int(s, count, 0, EK_CATEGORY_CHANGES);
    for (int i = 0; i < *count; i++) {
        ek_snap_raw(s, &change[i].value, sizeof change[i].value);
        ek_snap_f64(s, &change[i].share);
        ek_snap_f64(s, &change[i].trained);
    }
}

/* When it began and what has come since. */
static void course_snap(struct ek_episode *e, struct ek_snap *s)
{
    ek_snap_u64(s, &e->alarm_row);
    ek_snap_u64(s, &e->since_row);
    ek_snap_u64(s, &e->since_query);
    ek_snap_i64(s, &e->since_ms);
    ek_snap_u64(s, &e->span_first);
    ek_snap_u64(s, &e->span_last);
    ek_snap_u32(s, &e->lists);
    ek_snap_u32(s, &e->due);
    ek_snap_f64(s, &e->level_error);
    ek_snap_f64(s, &e->recovery);
    ek_snap_f64(s, &e->relief_ln);
    ek_snap_u64(s, &e->relief_row);
    ek_snap_int(s, &e->relieved, 0, 1);
    ek_snap_u32(s, &e->relieved_at);
}

static void place_snap(struct ek_episode *e, struct ek_snap *s, const struct ek_snap_bounds *b)
{
    ek_snap_u32(s, &e->number);
    ek_snap_u32(s, &e->cause);
    ek_snap_int(s, &e->feature, 0, b->features - 1);
    ek_snap_int(s, &e->cell, 0, b->cells - 1);
    ek_snap_int(s, &e->bet, 0, EK_BET_VALUE_GONE);
    ek_snap_int(s, &e->claimed, 0, 1);
    ek_snap_int(s, &e->quiet, 0, 1);
    ek_snap_int(s, &e->attempts, 0, INT_MAX);
    ek_snap_int(s, &e->looks, 0, INT_MAX);
    ek_snap_int(s, &e->waits, 0, INT_MAX);
    ek_snap_u32(s, &e->through);
    ek_snap_u32(s, &e->kin);
    ek_snap_int(s, &e->query_feature, -1, b->query_features - 1);
}

/* An episode on values is one of a category. */
static void check(const struct ek_detector *d, const struct ek_episode *e, struct ek_snap *s)
{
    int on_values = e->bet >= EK_BETS || e->diagnosis.class == EK_NEW_CATEGORY;
    ek_snap_require(s, !on_values || d->profile->category[e->feature].strata);
    ek_snap_require(s, e->number && e->number <= d->episodes_ever && e->cause <= d->causes_ever);
    ek_snap_require(s, e->since_row < ek_history_count(d->history) &&
                           e->alarm_row < ek_history_count(d->history));
}

void ek_episode_snap(struct ek_episode *e, struct ek_snap *s, const struct ek_snap_bounds *b)
{
    int phase = (int)e->phase;
    ek_snap_int(s, &phase, EK_WATCHING, EK_PHASE_CONFIRMED);
    e->phase = (enum ek_phase)phase;
    if (e->phase == EK_WATCHING)
        return;
    place_snap(e, s, b);
    course_snap(e, s);
    diagnosis_snap(&e->diagnosis, s);
    class_snap(&e->rival, s);
    ek_category_changes_snap(e->category.change, &e->category.count, s);
    ek_snap_f64(s, &e->category.lists);
}

static void one_snap(struct ek_detector *d, struct ek_episode *e, struct ek_snap *s)
{
    const struct ek_snap_bounds bounds = {d->features, d->query_features, ek_cells_count(d->cells)};
    ek_episode_snap(e, s, &bounds);
    if (e->phase == EK_WATCHING)
        return;
    check(d, e, s);
    if (ek_snap_reads(s) && !s->rc) {
        ek_snap_require(s, !ek_episode_at(d, e->cell, e->feature));
        ek_episode_enter(d, e);
    }
}

void ek_episodes_snap(struct ek_detector *d, struct ek_snap *s)
{
    ek_snap_u32(s, &d->episodes_ever);
    ek_snap_u32(s, &d->causes_ever);
    ek_snap_int(s, &d->episodes, 0, EK_EPISODES_MAX);
    for (int i = 0; i < d->episodes && !s->rc; i++)
        one_snap(d, &d->episode[i], s);
}
