#include "detect/merge.h"

#include "base/alloc.h"
#include "detect/detector_internal.h"
#include "detect/merge_accepts.h"
#include "detect/merge_changes.h"

int ek_detector_adopt_cells(struct ek_detector *into, const struct ek_cells *from, int16_t *to)
{
    int rc = ek_cells_merge(into->cells, from, to);
    return rc ? rc : ek_detector_grow(into, ek_cells_count(into->cells));
}

bool ek_detector_has_open(const struct ek_detector *d, int feature, int cell)
{
    return ek_episode_at(d, cell, feature) != NULL;
}

/* A change that is open somewhere has its own lists to go by. */
static void merge_cell(struct ek_detector *into, const struct ek_detector *from, int cell, int to)
{
    ek_evidence_cells_merge(into->evidence, to, from->evidence, cell);
    ek_categories_merge(into->categories, to, from->categories, cell);
    if (into->habits && ek_cells_dimension(into->cells, to) == into->baseline)
        ek_habits_merge(into->habits, to, from->habits, cell);
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
        into->beyond.count[i] += from->beyond.count[i];
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
        ek_repeats_merge(into->repeats, from->repeats, into->queries, from->queries);
        ek_repeats_merge(into->relatives, from->relatives, into->queries, from->queries);
        ek_accepts_merge(into, from, order, to);
        ek_changes_merge(into, from, order, to);
        into->walk.cell = -1; /* its rows are others now */
    }
    ek_free(order);
    return rc;
}

int ek_detector_merge(struct ek_detector *into, const struct ek_detector *from, int16_t *to)
{
    int rc = ek_accepts_hold(into, from);
    if (!rc)
        rc = ek_detector_adopt_cells(into, from->cells, to);
    if (rc)
        return rc;
    merge_evidence(into, from, to);
    return merge_lists(into, from, to);
}
