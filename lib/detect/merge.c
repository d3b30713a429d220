#include "detect/merge.h"

#include "base/alloc.h"
#include "detect/accepted_shift.h"
#include "detect/detector_internal.h"
#include "detect/evidence_export.h"

static struct ek_text text_of(const char *text)
{
    return text ? ek_text_from(text) : (struct ek_text){NULL, 0};
}

/* Retain a cell for each accepted segment of `from`, before the cells are merged. An accept without
 * an available cell is dropped. Return 0 or EK_ENOMEM. */
static int retain_accepts(struct ek_detector *into, const struct ek_detector *from)
{
    int rc = EK_OK, here;
    for (int i = 0; i < from->level_offsets.count && !rc; i++) {
        int cell = from->level_offsets.one[i].cell;
        rc = ek_detector_retain_cell(into, text_of(ek_cells_dimension_name(from->cells, cell)),
                                     text_of(ek_cells_value(from->cells, cell)), &here);
    }
    return rc;
}

/* Retain a cell for the value of each finding of `from`, before the cells are merged: the pool has
 * lists without the change. Set cell to the retained cells, -1: none. Return 0 or EK_ENOMEM. */
static int retain_findings(struct ek_detector *into, const struct ek_detector *from,
                           int cell[EK_EPISODES_MAX])
{
    int rc = EK_OK;
    for (int i = 0; i < from->episodes; i++) {
        const struct ek_episode *e = &from->episode[i];
        cell[i] = -1;
        if (!rc && e->phase != EK_PHASE_NONE)
            rc = ek_detector_retain_cell(into,
                                         text_of(ek_cells_dimension_name(from->cells, e->cell)),
                                         text_of(ek_cells_value(from->cells, e->cell)), &cell[i]);
    }
    return rc;
}

static void release_findings(struct ek_detector *into, const struct ek_detector *from,
                             const int cell[EK_EPISODES_MAX])
{
    for (int i = 0; i < from->episodes; i++)
        if (cell[i] >= 0)
            ek_cells_release(into->cells, cell[i]);
}

/* Return whether `from` has an accept of the same feature and cell. `one` uses the cells of
 * `into`. */
static bool has_place(const struct ek_detector *from, const int16_t *to,
                      const struct ek_level_offset *one)
{
    for (int i = 0; i < from->level_offsets.count; i++)
        if (from->level_offsets.one[i].feature == one->feature &&
            to[from->level_offsets.one[i].cell] == one->cell)
            return true;
    return false;
}

/* Subtract an accepted shift from the rows of one side. */
static void lower_rows(struct ek_detector *d, const struct ek_level_offset *one,
                       const struct ek_row_order *o, bool other)
{
    for (uint64_t i = one->row > o->first ? one->row : o->first; i < o->count; i++)
        if (o->is_other[i - o->first] == other && ek_history_row_in_cell(d->history, i, one->cell))
            ek_history_subtract_shift(d->history, i, one->feature, one->shift_ln);
}

/* Apply the local accepts to the rows merged from `from`. */
static void apply_offsets(struct ek_detector *into, const struct ek_detector *from,
                          const struct ek_row_order *o, const int16_t *to)
{
    for (int i = 0; i < into->level_offsets.count; i++) {
        struct ek_level_offset *one = &into->level_offsets.one[i];
        one->row = ek_row_moved(o, &o->here, one->row);
        if (has_place(from, to, one))
            continue;
        lower_rows(into, one, o, true);
        ek_accept_evidence(into, one);
    }
}

/* Return whether one of the first `own` entries has the same feature and cell. */
static bool is_used(const struct ek_level_offsets *r, int own, const struct ek_level_offset *one)
{
    int i = 0;
    while (i < own && (r->one[i].feature != one->feature || r->one[i].cell != one->cell))
        i++;
    return i < own;
}

/* Append an accept of `from`, already mapped, with a new version if its own is taken. */
static void adopt_accept(struct ek_detector *into, struct ek_level_offset one,
                         const struct ek_row_order *o)
{
    struct ek_level_offsets *r = &into->level_offsets;
    if (one.version <= r->version)
        one.version = r->version + 1;
    r->version = one.version;
    r->one[r->count++] = one;
    lower_rows(into, &one, o, false);
    ek_accept_episodes(into, &one, one.shift_ln);
    ek_accept_evidence(into, &one);
}

/* Merge the accepts after the rows and before the findings. `to` maps the cells. */
static void merge_accepts(struct ek_detector *into, const struct ek_detector *from,
                          const struct ek_row_order *o, const int16_t *to)
{
    struct ek_level_offsets *r = &into->level_offsets;
    const int own = r->count;
    apply_offsets(into, from, o, to);
    for (int i = 0; i < from->level_offsets.count; i++) {
        struct ek_level_offset one = from->level_offsets.one[i];
        one.cell = to[one.cell];
        one.row = ek_row_moved(o, &o->there, one.row);
        bool held = !one.cell || (one.cell > 0 && ek_cells_value(into->cells, one.cell));
        if (held && r->count < EK_LEVEL_OFFSETS_MAX && !is_used(r, own, &one))
            adopt_accept(into, one, o);
        else if (held)
            ek_cells_release(into->cells, one.cell);
    }
    if (from->level_offsets.version > r->version)
        r->version = from->level_offsets.version;
}

/* Return whether a local accept ends a merged finding, after merge_accepts. Otherwise the finding's
 * level becomes relative to the new normal. */
static bool is_ended_by_accept(const struct ek_detector *into, const struct ek_detector *from,
                               const int16_t *to, struct ek_episode *e)
{
    bool moved, ends = false;
    for (int i = 0; i < into->level_offsets.count && !ends; i++)
        if (!has_place(from, to, &into->level_offsets.one[i]))
            ends = ek_accept_is_covering(into, &into->level_offsets.one[i],
                                         into->level_offsets.one[i].shift_ln, e, &moved);
    return ends;
}

/* Map a row number in which 0 means none. */
static uint64_t map_row(const struct ek_row_order *o, const struct ek_rows_moved *moved,
                        uint64_t row)
{
    return row ? ek_row_moved(o, moved, row) : 0;
}

static void map_episode_rows(struct ek_episode *e, const struct ek_row_order *o,
                             const struct ek_rows_moved *moved)
{
    uint64_t *row[] = {&e->alarm_row, &e->since_row, &e->span_first, &e->span_last};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        *row[i] = ek_row_moved(o, moved, *row[i]);
    e->recovery_row = map_row(o, moved, e->recovery_row);
}

static bool has_number(const struct ek_detector *d, uint32_t number)
{
    for (int i = 0; i < d->episodes; i++)
        if (d->episode[i].phase != EK_PHASE_NONE && d->episode[i].number == number)
            return true;
    return false;
}

static bool has_cause(const struct ek_detector *d, uint32_t cause)
{
    for (int i = 0; i < d->episodes; i++)
        if (d->episode[i].phase != EK_PHASE_NONE && d->episode[i].cause == cause)
            return true;
    for (int i = 0; i < EK_PAST_INCIDENTS; i++)
        if (d->past[i].cause == cause)
            return true;
    return false;
}

/* New numbers of the findings of `from`. A number already in use is replaced. Findings that shared
 * an incident still share it. */
struct numbering {
    struct ek_detector *into;
    const struct ek_detector *from;
    uint32_t number[EK_EPISODES_MAX], cause[EK_EPISODES_MAX]; /* by index in `from` */
};

static uint32_t cause_of(struct numbering *n, int place)
{
    uint32_t cause = n->from->episode[place].cause;
    if (!cause || !has_cause(n->into, cause))
        return cause;
    for (int i = 0; i < place; i++)
        if (n->from->episode[i].phase != EK_PHASE_NONE && n->from->episode[i].cause == cause)
            return n->cause[i];
    return ++n->into->causes_ever;
}

/* Assign all numbers before any finding is entered. */
static void assign_numbers(struct numbering *n)
{
    struct ek_detector *d = n->into;
    const struct ek_detector *from = n->from;
    d->episodes_ever =
        d->episodes_ever > from->episodes_ever ? d->episodes_ever : from->episodes_ever;
    d->causes_ever = d->causes_ever > from->causes_ever ? d->causes_ever : from->causes_ever;
    for (int i = 0; i < from->episodes; i++) {
        const struct ek_episode *e = &from->episode[i];
        n->number[i] = n->cause[i] = 0;
        if (e->phase == EK_PHASE_NONE)
            continue;
        n->number[i] = has_number(d, e->number) ? ++d->episodes_ever : e->number;
        n->cause[i] = cause_of(n, i);
    }
}

/* Return the new number of an episode of `from`. */
static uint32_t map_number(const struct numbering *n, uint32_t number)
{
    for (int i = 0; number && i < n->from->episodes; i++)
        if (n->number[i] && n->from->episode[i].number == number)
            return n->number[i];
    return number;
}

/* Enter a mapped finding. A confirmed one replaces a local suspected one. */
static void merge_episode(struct ek_detector *d, const struct ek_episode *e,
                          bool reported_elsewhere)
{
    struct ek_episode *own = ek_episode_at(d, e->cell, e->feature), *place;
    if (own && (own->phase == EK_PHASE_CONFIRMED || e->phase != EK_PHASE_CONFIRMED)) {
        if (!reported_elsewhere)
            ek_episode_report_dismissed(d, e, EK_REASON_OTHER_FINDING);
        return;
    }
    if (own)
        ek_episode_dismiss(d, own, EK_REASON_OTHER_FINDING);
    place = ek_episode_place(d);
    if (place) {
        *place = *e;
        ek_episode_enter(d, place);
    }
}

static void adopt_change(struct numbering *n, int place, const struct ek_row_order *o,
                         const int16_t *to)
{
    struct ek_detector *d = n->into;
    struct ek_episode e = n->from->episode[place];
    if (e.phase == EK_PHASE_NONE || to[e.cell] < 0)
        return;
    bool renumbered = e.number != n->number[place];
    bool pooled = ek_cells_value(n->from->cells, e.cell) && !ek_cells_value(d->cells, to[e.cell]);
    e.cell = to[e.cell];
    e.number = n->number[place];
    e.cause = n->cause[place];
    e.handed_from = map_number(n, e.handed_from);
    map_episode_rows(&e, o, &o->there);
    if (e.since_row >= o->first)
        e.since_query = ek_history_row(d->history, e.since_row)->query;
    if (!pooled && !is_ended_by_accept(d, n->from, to, &e))
        merge_episode(d, &e, renumbered);
    else if (!renumbered)
        ek_episode_report_dismissed(d, &e, pooled ? EK_REASON_NO_LISTS : EK_REASON_OTHER_NORMAL);
}

/* Merge the findings; row numbers are those of the merged order afterwards. `to` maps the cells. */
static void merge_episodes(struct ek_detector *into, const struct ek_detector *from,
                           const struct ek_row_order *o, const int16_t *to)
{
    struct numbering n = {.into = into, .from = from};
    for (int i = 0; i < into->episodes; i++)
        if (into->episode[i].phase != EK_PHASE_NONE)
            map_episode_rows(&into->episode[i], o, &o->here);
    for (int i = 0; i < EK_PAST_INCIDENTS; i++)
        into->past[i].ended_row = ek_row_moved(o, &o->here, into->past[i].ended_row);
    for (int f = 0; f < into->features; f++) {
        uint64_t here = map_row(o, &o->here, into->recovered_row[f]);
        uint64_t there = map_row(o, &o->there, from->recovered_row[f]);
        into->recovered_row[f] = here > there ? here : there;
    }
    assign_numbers(&n);
    for (int i = 0; i < from->episodes; i++)
        adopt_change(&n, i, o, to);
    into->claims++;
}

int ek_detector_adopt_cells(struct ek_detector *into, const struct ek_cells *from, int16_t *to)
{
    int rc = ek_cells_merge(into->cells, from, to);
    return rc ? rc : ek_detector_reserve_cells(into, ek_cells_count(into->cells));
}

bool ek_detector_has_open(const struct ek_detector *d, int feature, int cell)
{
    return ek_episode_at(d, cell, feature) != NULL;
}

/* Evidence restarts if either side has an open finding. */
static void merge_cell(struct ek_detector *into, const struct ek_detector *from, int cell, int to)
{
    ek_evidence_cells_merge(into->evidence, to, from->evidence, cell);
    ek_categories_merge(into->categories, to, from->categories, cell);
    if (ek_detector_calibrates(into, to))
        ek_cell_calibration_merge(into->calibrations, to, from->calibrations, cell);
    for (int f = 0; f < into->features; f++)
        if (ek_detector_has_open(into, f, to) || ek_detector_has_open(from, f, cell)) {
            ek_evidence_restart(into->evidence, to, f);
            ek_categories_restart(into->categories, f, to);
        }
}

static void merge_evidence(struct ek_detector *into, const struct ek_detector *from,
                           const int16_t *to)
{
    for (int cell = 0; cell < ek_cells_count(from->cells); cell++)
        if (to[cell] >= 0)
            merge_cell(into, from, cell, to[cell]);
    for (int i = 0; i < EK_BOUNDS_ALL; i++)
        into->exceeded.count[i] += from->exceeded.count[i];
}

static int merge_lists(struct ek_detector *into, const struct ek_detector *from, const int16_t *to)
{
    struct ek_row_order *order = ek_calloc(1, sizeof *order);
    int rc = order ? EK_OK : EK_ENOMEM;
    if (!rc) {
        ek_row_order(into->history, from->history, order);
        rc = ek_history_merge(into->history, from->history, order, to);
    }
    if (!rc)
        rc = ek_categories_merge_rows(into->categories, from->categories, order);
    if (!rc) {
        ek_dedup_merge(into->repeats, from->repeats, into->queries, from->queries);
        merge_accepts(into, from, order, to);
        merge_episodes(into, from, order, to);
        into->walk.cell = -1; /* cached rows are stale */
    }
    ek_free(order);
    return rc;
}

int ek_detector_merge(struct ek_detector *into, const struct ek_detector *from, int16_t *to)
{
    int held[EK_EPISODES_MAX], rc = retain_accepts(into, from);
    if (!rc)
        rc = retain_findings(into, from, held);
    if (!rc)
        rc = ek_detector_adopt_cells(into, from->cells, to);
    if (!rc)
        release_findings(into, from, held);
    if (rc)
        return rc;
    merge_evidence(into, from, to);
    if (into->learned && from->learned)
        ek_learned_levels_merge(into->learned, from->learned);
    return merge_lists(into, from, to);
}
