#include "detect/detector_parts.h"

#include "base/hash.h"
#include "detect/detector_internal.h"

struct ek_detector_kind ek_detector_kind_of(const struct ek_detector *d)
{
    return (struct ek_detector_kind){
        .profile = d->profile_hash,
        .features = d->features,
        .query_features = d->query_features,
        .strata = d->profile->strata,
        .bets = EK_BETS,
        .bounds = EK_BOUNDS,
        .history = EK_HISTORY,
        .cells = ek_cells_limit(d->cells),
        .dimensions = ek_cells_dimensions(d->cells),
    };
}

void ek_detector_kind_snap(struct ek_detector_kind *k, struct ek_snap *s)
{
    int *size[] = {&k->features, &k->query_features, &k->strata, &k->bets,
                   &k->bounds,   &k->history,        &k->cells,  &k->dimensions};
    ek_snap_u64(s, &k->profile);
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        ek_snap_int(s, size[i], 0, INT32_MAX);
}

int ek_detector_part_count(const struct ek_detector *d, enum ek_detector_part part)
{
    uint64_t rows = ek_history_count(d->history) - ek_history_first(d->history);
    switch (part) {
    case EK_PART_EVIDENCE:
        return ek_cells_count(d->cells);
    case EK_PART_ROWS:
        return (int)((rows + EK_PART_ROWS_EACH - 1) / EK_PART_ROWS_EACH);
    case EK_PART_ACCEPTS:
        return d->rebases.version > 0;
    case EK_PART_CELLS:
    case EK_PART_LISTS:
    case EK_PART_CHANGES:
        break;
    }
    return 1;
}

/* Rows ever that went to the places below one. */
static uint64_t rows_below(uint64_t rows, uint64_t place)
{
    uint64_t last = rows % EK_HISTORY;
    return rows / EK_HISTORY * place + (last < place ? last : place);
}

uint64_t ek_detector_part_mark(const struct ek_detector *d, enum ek_detector_part part, int number)
{
    if (part != EK_PART_ROWS)
        return 0;
    uint64_t rows = ek_history_count(d->history), first = (uint64_t)number * EK_PART_ROWS_EACH;
    uint64_t mark[] = {rows_below(rows, first + EK_PART_ROWS_EACH) - rows_below(rows, first),
                       ek_cells_taken_ever(d->cells), /* which forgets cells of rows */
                       d->rebases.version};           /* which moves rows */
    return ek_hash(mark, sizeof mark, 0) | 1;
}

static void cells_snap(struct ek_detector *d, struct ek_snap *s)
{
    ek_cells_snap(d->cells, s);
    if (ek_snap_reads(s) && !s->rc)
        s->rc = ek_detector_grow(d, ek_cells_count(d->cells));
    for (int cell = 0; cell < ek_cells_count(d->cells) && !s->rc; cell++) {
        ek_snap_raw(s, &d->planned[cell], 1);
        ek_snap_require(s, d->planned[cell] <= 1);
        if (ek_snap_reads(s) && d->planned[cell])
            ek_cells_hold(d->cells, cell);
    }
}

static void lists_snap(struct ek_detector *d, struct ek_snap *s)
{
    int per_query = 1 + ek_cells_dimensions(d->cells);
    ek_snap_u64(s, &d->queries);
    ek_snap_raw(s, d->cell_of, (size_t)per_query * sizeof *d->cell_of);
    for (int i = 0; i < per_query; i++)
        ek_snap_require(s, d->cell_of[i] >= -1 && d->cell_of[i] < ek_cells_count(d->cells));
    ek_snap_raw(s, d->beyond.count, EK_BOUNDS * sizeof *d->beyond.count);
    ek_repeats_snap(d->repeats, s, d->queries);
    ek_repeats_snap(d->relatives, s, d->queries);
    ek_history_count_snap(d->history, s);
    ek_categories_kind_snap(d->categories, s);
}

static void rows_snap(struct ek_detector *d, int number, struct ek_snap *s)
{
    int first = number * EK_PART_ROWS_EACH, end = first + EK_PART_ROWS_EACH;
    if ((uint64_t)end > ek_history_count(d->history))
        end = (int)ek_history_count(d->history);
    ek_history_places_snap(d->history, s, first, end, d->profile->strata, ek_cells_count(d->cells));
    ek_categories_rows_snap(d->categories, s, (uint64_t)first, (uint64_t)end);
}

static void evidence_snap(struct ek_detector *d, int cell, struct ek_snap *s)
{
    int habits = d->habits && ek_cells_dimension(d->cells, cell) == d->baseline;
    ek_evidence_cells_snap(d->evidence, cell, s);
    ek_snap_int(s, &habits, habits, habits);
    if (habits)
        ek_habits_snap(d->habits, s, cell);
    ek_categories_cell_snap(d->categories, s, cell);
}

static void changes_snap(struct ek_detector *d, struct ek_snap *s)
{
    for (int f = 0; f < d->features; f++) {
        ek_snap_u64(s, &d->settled[f]);
        ek_snap_require(s, d->settled[f] <= ek_history_count(d->history));
    }
    ek_episodes_snap(d, s);
    ek_findings_snap(d, s);
}

void ek_detector_part_snap(struct ek_detector *d, enum ek_detector_part part, int number,
                           struct ek_snap *s)
{
    switch (part) {
    case EK_PART_CELLS:
        cells_snap(d, s);
        break;
    case EK_PART_LISTS:
        lists_snap(d, s);
        break;
    case EK_PART_ROWS:
        rows_snap(d, number, s);
        break;
    case EK_PART_EVIDENCE:
        evidence_snap(d, number, s);
        break;
    case EK_PART_CHANGES:
        changes_snap(d, s);
        break;
    case EK_PART_ACCEPTS:
        ek_detector_rebases_snap(d, s);
        break;
    }
}
