#include "decide/merge.h"

#include "decide/detector_internal.h"

int ek_detector_adopt_cells(struct ek_detector *into, const struct ek_cells *from, int16_t *to)
{
    int rc = ek_cells_merge(into->cells, from, to);
    return rc ? rc : ek_detector_grow(into, ek_cells_count(into->cells));
}

/* A change that is open somewhere has its own lists to go by. */
static bool is_open(const struct ek_detector *d, int cell, int feature)
{
    return d->episode_of[ek_detector_slot(d, cell, feature)] != 0;
}

static void merge_cell(struct ek_detector *into, const struct ek_detector *from, int cell, int to)
{
    ek_evidence_cells_merge(into->evidence, to, from->evidence, cell);
    ek_categories_merge(into->categories, to, from->categories, cell);
    if (into->habits && ek_cells_dimension(into->cells, to) == into->baseline)
        ek_habits_merge(into->habits, to, from->habits, cell);
    for (int f = 0; f < into->features; f++)
        if (is_open(into, to, f) || is_open(from, cell, f)) {
            ek_evidence_restart(into->evidence, to, f);
            ek_categories_restart(into->categories, f, to);
        }
}

int ek_detector_merge(struct ek_detector *into, const struct ek_detector *from, int16_t *to)
{
    int rc = ek_detector_adopt_cells(into, from->cells, to);
    for (int cell = 0; cell < ek_cells_count(from->cells) && !rc; cell++)
        if (to[cell] >= 0)
            merge_cell(into, from, cell, to[cell]);
    for (int i = 0; i < EK_BOUNDS && !rc; i++)
        into->beyond.count[i] += from->beyond.count[i];
    return rc;
}
