/* Accepting a confirmed shift as the new normal level, and reverting it. */
#include "detect/accepted_shift.h"

#include "detect/evidence_export.h"
#include "detect/finding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { PLACE_BYTES = 96, NEAR_BYTES = 160 };

static const char *place_text(const struct ek_accept_place *at, char text[PLACE_BYTES])
{
    if (!at->dimension)
        snprintf(text, PLACE_BYTES, "all traffic");
    else
        snprintf(text, PLACE_BYTES, "%s=%s", at->dimension, at->value ? at->value : "(other)");
    return text;
}

static int accept_too_early(const struct ek_accept_place *at, struct ek_error *e)
{
    char place[PLACE_BYTES];
    return ek_fail(e, EK_ESTATE,
                   "a change of '%s' in %s is only suspected: wait until it is confirmed",
                   at->feature, place_text(at, place));
}

int ek_accept_unconfirmed(const struct ek_accept_place *at, const struct ek_accept_place *near,
                          struct ek_error *e)
{
    char place[PLACE_BYTES], other[PLACE_BYTES];
    place_text(at, place);
    if (near)
        return ek_fail(e, EK_ESTATE, "no change of '%s' is confirmed in %s: accept it in %s",
                       at->feature, place, place_text(near, other));
    return ek_fail(e, EK_ESTATE,
                   "no change of '%s' is confirmed in %s: what is normal there needs no accept",
                   at->feature, place);
}

int ek_accept_check(const struct ek_accept_change *c, struct ek_error *e)
{
    char place[PLACE_BYTES];
    const char *name = c->at.feature;
    place_text(&c->at, place);
    if (c->class != EK_SCALE)
        return ek_fail(e, EK_ESTATE,
                       "'%s' of '%s' in %s is not a change of scale: make a new profile (evenkeel "
                       "profile --messages), or set 'watch: false'",
                       ek_class_name(c->class), name, place);
    if (c->query_feature)
        return ek_fail(e, EK_ESTATE,
                       "the factor of '%s' in %s is that list's '%s': use their quotient as the "
                       "feature, in the model and in the profile",
                       name, place, c->query_feature);
    if (c->share < EK_WHOLE_SHARE)
        return ek_fail(
            e, EK_ESTATE,
            "only %.0f%% of the lists of '%s' in %s have moved: accept it in the segment "
            "that has it",
            100 * c->share, name, place);
    if (c->at.dimension && !c->at.value)
        return ek_fail(
            e, EK_ESTATE,
            "the values of %s share one cell: set 'limits.segments' higher, so that each "
            "has its own",
            place);
    return EK_OK;
}

int ek_accept_too_many(struct ek_error *e)
{
    return ek_fail(e, EK_ELIMIT,
                   "%d accepts are active, the maximum: revert one, or make a new profile",
                   EK_LEVEL_OFFSETS_MAX);
}

/* Return the versions in force, as many as fit. */
static const char *format_versions(const struct ek_level_offsets *r, char text[NEAR_BYTES])
{
    size_t length = 0;
    text[0] = 0;
    for (int i = 0; i < r->count && length + 24 < NEAR_BYTES; i++)
        length += (size_t)snprintf(text + length, NEAR_BYTES - length, "%s%" PRIu64, i ? ", " : "",
                                   r->one[i].version);
    return text;
}

int ek_accept_not_found(const struct ek_level_offsets *r, uint64_t version, struct ek_error *e)
{
    char text[NEAR_BYTES];
    if (!r->count)
        return ek_fail(e, EK_ESTATE, "nothing was accepted that could be reverted");
    return ek_fail(e, EK_ESTATE, "there is no accept %" PRIu64 ": there are %s", version,
                   format_versions(r, text));
}

static const char *feature_name(const struct ek_detector *d, int feature)
{
    return d->manifest->item[feature]->name;
}

static struct ek_accept_place make_place(const struct ek_detector *d, int feature, int cell)
{
    return (struct ek_accept_place){feature_name(d, feature),
                                    ek_cells_dimension_name(d->cells, cell),
                                    ek_cells_value(d->cells, cell)};
}

static const struct ek_episode *confirmed_elsewhere(const struct ek_detector *d, int feature)
{
    for (int i = 0; i < d->episodes; i++)
        if (d->episode[i].phase == EK_PHASE_CONFIRMED && d->episode[i].feature == feature)
            return &d->episode[i];
    return NULL;
}

static int fail_unconfirmed(const struct ek_detector *d, int feature, int cell, struct ek_error *e)
{
    const struct ek_accept_place at = make_place(d, feature, cell);
    const struct ek_episode *near = confirmed_elsewhere(d, feature);
    if (ek_episode_at(d, cell, feature))
        return accept_too_early(&at, e);
    if (!near)
        return ek_accept_unconfirmed(&at, NULL, e);
    const struct ek_accept_place other = make_place(d, feature, near->cell);
    return ek_accept_unconfirmed(&at, &other, e);
}

static int check_shift(const struct ek_detector *d, const struct ek_episode *now,
                       struct ek_error *e)
{
    int query = now->query_feature;
    const struct ek_accept_change c = {.at = make_place(d, now->feature, now->cell),
                                       .class = now->diagnosis.class,
                                       .query_feature =
                                           query < 0 ? NULL : d->manifest->query[query]->name,
                                       .share = now->diagnosis.level.share};
    return ek_accept_check(&c, e);
}

static void shift_rows(struct ek_detector *d, const struct ek_level_offset *one, double shift_ln)
{
    uint64_t first = ek_history_first(d->history), end = ek_history_count(d->history);
    for (uint64_t i = one->row > first ? one->row : first; i < end; i++)
        if (ek_history_row_in_cell(d->history, i, one->cell))
            ek_history_subtract_shift(d->history, i, one->feature, shift_ln);
    d->walk.cell = -1; /* the cached residuals are stale */
}

bool ek_accept_is_covering(const struct ek_detector *d, const struct ek_level_offset *one,
                           double shift_ln, struct ek_episode *e, bool *moved)
{
    struct ek_alignment *level = &e->diagnosis.level;
    *moved = false;
    if (e->feature != one->feature || !ek_cells_share_lists(d->cells, e->cell, one->cell))
        return false;
    if (e->phase == EK_PHASE_SUSPECTED)
        return true; /* its evidence is stale; a remaining change is detected again */
    if ((one->cell && e->cell != one->cell) || !ek_episode_has_level(e) || e->query_feature >= 0)
        return false;
    *moved = true;
    level->shift_ln -= shift_ln;
    level->low_ln -= shift_ln;
    level->high_ln -= shift_ln;
    return fabs(level->shift_ln) < log(ek_detector_rule(d, e->feature)->report_threshold);
}

void ek_accept_episodes(struct ek_detector *d, const struct ek_level_offset *one, double shift_ln)
{
    bool moved;
    for (int i = 0; i < d->episodes; i++) {
        struct ek_episode *e = &d->episode[i];
        if (e->phase == EK_PHASE_NONE)
            continue;
        if (ek_accept_is_covering(d, one, shift_ln, e, &moved))
            ek_episode_dismiss(d, e, EK_REASON_OTHER_NORMAL);
        else if (moved)
            ek_episode_report_updated(d, e);
    }
}

void ek_accept_evidence(struct ek_detector *d, const struct ek_level_offset *one)
{
    for (int cell = 0; cell < ek_cells_count(d->cells); cell++)
        if (ek_cells_share_lists(d->cells, cell, one->cell))
            ek_evidence_restart(d->evidence, cell, one->feature);
}

/* Apply an accepted shift of shift_ln to rows, findings and evidence. */
static void apply_shift(struct ek_detector *d, const struct ek_level_offset *one, double shift_ln)
{
    shift_rows(d, one, shift_ln);
    ek_accept_episodes(d, one, shift_ln);
    ek_accept_evidence(d, one);
}

/* Return the ln factor of the unit that the finding names with certainty (guard/finding_text.h), if
 * it lies in the interval; else the estimate. */
static double settled_shift(const struct ek_detector *d, const struct ek_episode *e)
{
    const struct ek_alignment *level = &e->diagnosis.level;
    struct ek_unit_match match[EK_UNIT_MATCHES];
    int count = e->diagnosis.class == EK_SCALE
                    ? ek_units_match(d->rules, d->manifest, e->feature, level->shift_ln,
                                     level->low_ln, level->high_ln, match)
                    : 0;
    for (int i = 0; i < count; i++) {
        double shift_ln = log(match[i].unit->factor);
        bool expected = match[i].listed || match[i].fit < EK_UNIT_ANY || !match[i].unit->quantity;
        if (expected && shift_ln >= level->low_ln && shift_ln <= level->high_ln)
            return shift_ln;
    }
    return level->shift_ln;
}

int ek_detector_accept(struct ek_detector *d, int feature, int cell, struct ek_level_offset *out,
                       struct ek_error *e)
{
    struct ek_episode *now = ek_episode_at(d, cell, feature);
    if (!now || now->phase != EK_PHASE_CONFIRMED)
        return fail_unconfirmed(d, feature, cell, e);
    int rc = check_shift(d, now, e);
    if (rc)
        return rc;
    if (ek_level_offsets_add(&d->level_offsets, feature, cell, settled_shift(d, now),
                             now->since_row))
        return ek_accept_too_many(e);
    *out = d->level_offsets.one[d->level_offsets.count - 1];
    ek_cells_retain(d->cells, cell);
    ek_episode_dismiss(d, now, EK_REASON_ACCEPTED);
    apply_shift(d, out, out->shift_ln);
    return EK_OK;
}

int ek_detector_revert(struct ek_detector *d, uint64_t version, struct ek_level_offset *out,
                       struct ek_error *e)
{
    const struct ek_level_offset *one = ek_level_offsets_find_version(&d->level_offsets, version);
    if (!one)
        return ek_accept_not_found(&d->level_offsets, version, e);
    *out = *one;
    ek_level_offsets_remove(&d->level_offsets, one);
    ek_cells_release(d->cells, out->cell);
    apply_shift(d, out, -out->shift_ln);
    return EK_OK;
}

/* ------------------------------------------------------------------- fleet */

static bool is_among(const struct ek_level_offsets *r, const struct ek_level_offset *one)
{
    const struct ek_level_offset *is = ek_level_offsets_find_version(r, one->version);
    return is && is->feature == one->feature && is->cell == one->cell &&
           is->shift_ln == one->shift_ln;
}

/* Remove local entries that are not in `want`. Return whether any were removed. */
static bool remove_stale(struct ek_detector *d, const struct ek_level_offsets *want)
{
    int before = d->level_offsets.count;
    for (int i = before - 1; i >= 0; i--) {
        const struct ek_level_offset one = d->level_offsets.one[i];
        if (is_among(want, &one))
            continue;
        ek_level_offsets_remove(&d->level_offsets, &d->level_offsets.one[i]);
        apply_shift(d, &one, -one.shift_ln);
        ek_cells_release(d->cells, one.cell);
    }
    return d->level_offsets.count != before;
}

/* Return the first row of a change that another instance reported. A local confirmed finding of the
 * same change has a better date. */
static uint64_t find_row(const struct ek_detector *d, const struct ek_episode *own,
                         int64_t since_ms)
{
    uint64_t row = ek_history_first(d->history), end = ek_history_count(d->history);
    if (own && own->phase == EK_PHASE_CONFIRMED)
        return own->since_row;
    while (row < end && ek_history_row(d->history, row)->time_ms < since_ms)
        row++;
    return row;
}

static void apply_offset(struct ek_detector *d, struct ek_level_offset *one, int64_t since_ms)
{
    struct ek_episode *own = ek_episode_at(d, one->cell, one->feature);
    one->row = find_row(d, own, since_ms);
    ek_cells_retain(d->cells, one->cell);
    if (own && own->phase == EK_PHASE_CONFIRMED)
        ek_episode_dismiss(d, own, EK_REASON_ACCEPTED);
    apply_shift(d, one, one->shift_ln);
}

void ek_detector_set_normal(struct ek_detector *d, const struct ek_level_offsets *want,
                            const int64_t *since_ms)
{
    struct ek_level_offsets now = {.version = want->version, .count = want->count};
    bool changed = remove_stale(d, want);
    for (int i = 0; i < want->count; i++) {
        const struct ek_level_offset *one = &want->one[i];
        bool known = is_among(&d->level_offsets, one);
        now.one[i] = known ? *ek_level_offsets_find_version(&d->level_offsets, one->version) : *one;
        if (!known)
            apply_offset(d, &now.one[i], since_ms[i]);
        changed |= !known;
    }
    d->level_offsets = now;
    if (changed && d->evidence_sum)
        ek_evidence_sum_clear(d->evidence_sum); /* its lists used the previous normal level */
}

const struct ek_level_offsets *ek_detector_offsets(const struct ek_detector *d)
{
    return &d->level_offsets;
}

void ek_detector_offsets_serialize(struct ek_detector *d, struct ek_serialize *s)
{
    ek_level_offsets_serialize(&d->level_offsets, s, d->features, ek_cells_count(d->cells));
    for (int i = 0; ek_serialize_is_reading(s) && !s->rc && i < d->level_offsets.count; i++)
        ek_cells_retain(d->cells, d->level_offsets.one[i].cell);
}
