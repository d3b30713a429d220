/* When a change is the new normal, because somebody said so, and when it is that no longer. */
#include "decide/accept.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { PLACE_BYTES = 96, NEAR_BYTES = 160 };

/* "all traffic", or "arm=B". */
static const char *place_of(const struct ek_detector *d, int cell, char text[PLACE_BYTES])
{
    const char *value = ek_cells_value(d->cells, cell);
    if (!cell)
        snprintf(text, PLACE_BYTES, "all traffic");
    else
        snprintf(text, PLACE_BYTES, "%s=%s", ek_cells_dimension_name(d->cells, cell),
                 value ? value : "(other)");
    return text;
}

static const char *name_of(const struct ek_detector *d, int feature)
{
    return d->manifest->item[feature]->name;
}

static const struct ek_episode *confirmed_elsewhere(const struct ek_detector *d, int feature)
{
    for (int i = 0; i < d->episodes; i++)
        if (d->episode[i].phase == EK_PHASE_CONFIRMED && d->episode[i].feature == feature)
            return &d->episode[i];
    return NULL;
}

static int nothing_there(const struct ek_detector *d, int feature, int cell, struct ek_error *e)
{
    char place[PLACE_BYTES], other[PLACE_BYTES];
    const struct ek_episode *own = ek_episode_at(d, cell, feature);
    const struct ek_episode *near = confirmed_elsewhere(d, feature);
    place_of(d, cell, place);
    if (own)
        return ek_fail(e, EK_ESTATE,
                       "a change of '%s' in %s is only suspected: wait until it is confirmed",
                       name_of(d, feature), place);
    if (near)
        return ek_fail(e, EK_ESTATE, "no change of '%s' is confirmed in %s: accept it in %s",
                       name_of(d, feature), place, place_of(d, near->cell, other));
    return ek_fail(e, EK_ESTATE,
                   "no change of '%s' is confirmed in %s: what is normal there needs no accept",
                   name_of(d, feature), place);
}

/* Only what a shift of all lists of a cell undoes. */
static int check(const struct ek_detector *d, const struct ek_episode *now, struct ek_error *e)
{
    char place[PLACE_BYTES];
    const char *name = name_of(d, now->feature);
    place_of(d, now->cell, place);
    if (!ek_episode_has_level(now))
        return ek_fail(e, EK_ESTATE,
                       "'%s' of '%s' in %s is no other scale: make the profile anew (evenkeel "
                       "profile --messages), or set 'watch: false'",
                       ek_class_name(now->diagnosis.class), name, place);
    if (now->query_feature >= 0)
        return ek_fail(e, EK_ESTATE,
                       "the factor of '%s' in %s is that list's '%s': use their quotient as the "
                       "feature, in the model and in the profile",
                       name, place, d->manifest->query[now->query_feature]->name);
    if (now->diagnosis.level.share < EK_WHOLE_SHARE)
        return ek_fail(
            e, EK_ESTATE,
            "only %.0f%% of the lists of '%s' in %s have moved: accept it in the segment "
            "that has it",
            100 * now->diagnosis.level.share, name, place);
    if (now->cell && !ek_cells_value(d->cells, now->cell))
        return ek_fail(e, EK_ESTATE,
                       "the values of %s share one cell: set 'limits.cells' higher, so that each "
                       "has its own",
                       place);
    return EK_OK;
}

/* Whether a list can have both. */
static bool share_lists(const struct ek_detector *d, int a, int b)
{
    return a == b || !a || !b || ek_cells_dimension(d->cells, a) != ek_cells_dimension(d->cells, b);
}

static void lower_rows(struct ek_detector *d, const struct ek_rebase *one, double shift_ln)
{
    uint64_t first = ek_history_first(d->history), end = ek_history_count(d->history);
    for (uint64_t i = one->row > first ? one->row : first; i < end; i++)
        if (ek_history_in(d->history, i, one->cell))
            ek_history_lower(d->history, i, one->feature, shift_ln);
    d->walk.cell = -1; /* its rows say something else now */
}

bool ek_accept_ends(const struct ek_detector *d, const struct ek_rebase *one, double shift_ln,
                    struct ek_episode *e, bool *moved)
{
    struct ek_alignment *level = &e->diagnosis.level;
    *moved = false;
    if (e->feature != one->feature || !share_lists(d, e->cell, one->cell))
        return false;
    if (e->phase == EK_PHASE_SUSPECTED)
        return true; /* by lists that say something else now; what there is is found again */
    if ((one->cell && e->cell != one->cell) || !ek_episode_has_level(e) || e->query_feature >= 0)
        return false;
    *moved = true;
    level->shift_ln -= shift_ln;
    level->low_ln -= shift_ln;
    level->high_ln -= shift_ln;
    return fabs(level->shift_ln) < log(ek_detector_rule(d, e->feature)->min_effect);
}

void ek_accept_episodes(struct ek_detector *d, const struct ek_rebase *one, double shift_ln)
{
    bool moved;
    for (int i = 0; i < d->episodes; i++) {
        struct ek_episode *e = &d->episode[i];
        if (e->phase == EK_WATCHING)
            continue;
        if (ek_accept_ends(d, one, shift_ln, e, &moved))
            ek_episode_dismiss(d, e, EK_OTHER_NORMAL);
        else if (moved)
            ek_episode_tell_updated(d, e);
    }
}

void ek_accept_evidence(struct ek_detector *d, const struct ek_rebase *one)
{
    for (int cell = 0; cell < ek_cells_count(d->cells); cell++)
        if (share_lists(d, cell, one->cell))
            ek_evidence_restart(d->evidence, cell, one->feature);
}

/* What is normal has risen by shift_ln where `one` says. */
static void lower(struct ek_detector *d, const struct ek_rebase *one, double shift_ln)
{
    lower_rows(d, one, shift_ln);
    ek_accept_episodes(d, one, shift_ln);
    ek_accept_evidence(d, one);
}

int ek_detector_accept(struct ek_detector *d, int feature, int cell, struct ek_rebase *out,
                       struct ek_error *e)
{
    struct ek_episode *now = ek_episode_at(d, cell, feature);
    if (!now || now->phase != EK_PHASE_CONFIRMED)
        return nothing_there(d, feature, cell, e);
    int rc = check(d, now, e);
    if (rc)
        return rc;
    if (ek_rebases_add(&d->rebases, feature, cell, now->diagnosis.level.shift_ln, now->since_row))
        return ek_fail(e, EK_ELIMIT,
                       "%d accepts are in force, which is the most: revert one, or make the "
                       "profile anew",
                       EK_REBASES_MAX);
    *out = d->rebases.one[d->rebases.count - 1];
    ek_cells_hold(d->cells, cell);
    ek_episode_dismiss(d, now, EK_ACCEPTED);
    lower(d, out, out->shift_ln);
    return EK_OK;
}

/* Numbers of those in force, as far as there is room. */
static const char *numbers_of(const struct ek_rebases *r, char text[NEAR_BYTES])
{
    size_t length = 0;
    text[0] = 0;
    for (int i = 0; i < r->count && length + 24 < NEAR_BYTES; i++)
        length += (size_t)snprintf(text + length, NEAR_BYTES - length, "%s%" PRIu64, i ? ", " : "",
                                   r->one[i].version);
    return text;
}

int ek_detector_revert(struct ek_detector *d, uint64_t version, struct ek_rebase *out,
                       struct ek_error *e)
{
    char text[NEAR_BYTES];
    const struct ek_rebase *one = ek_rebases_of_version(&d->rebases, version);
    if (!one && !d->rebases.count)
        return ek_fail(e, EK_ESTATE, "nothing was accepted that could be reverted");
    if (!one)
        return ek_fail(e, EK_ESTATE, "there is no accept %" PRIu64 ": there are %s", version,
                       numbers_of(&d->rebases, text));
    *out = *one;
    ek_rebases_remove(&d->rebases, one);
    ek_cells_release(d->cells, out->cell);
    lower(d, out, -out->shift_ln);
    return EK_OK;
}

const struct ek_rebases *ek_detector_rebases(const struct ek_detector *d)
{
    return &d->rebases;
}

void ek_detector_rebases_snap(struct ek_detector *d, struct ek_snap *s)
{
    ek_rebases_snap(&d->rebases, s, d->features, ek_cells_count(d->cells));
    for (int i = 0; ek_snap_reads(s) && !s->rc && i < d->rebases.count; i++)
        ek_cells_hold(d->cells, d->rebases.one[i].cell);
}
