#include "detect/history.h"

#include "base/alloc.h"

#include <stddef.h>
#include <string.h>

static uint64_t retained_rows(uint64_t count)
{
    return count < EK_HISTORY ? count : EK_HISTORY;
}

/* Return whether the next merged row is from `there`. Rows of `here` precede rows of equal time. */
static bool is_theirs(const struct ek_history *here, uint64_t h, const struct ek_history *there,
                      uint64_t t)
{
    if (t == ek_history_count(there))
        return false;
    return h == ek_history_count(here) ||
           ek_history_row(there, t)->time_ms < ek_history_row(here, h)->time_ms;
}

void ek_row_order(const struct ek_history *here, const struct ek_history *there,
                  struct ek_row_order *o)
{
    uint64_t h = ek_history_first(here), t = ek_history_first(there);
    o->here.count = ek_history_count(here);
    o->there.count = ek_history_count(there);
    o->count = o->here.count + o->there.count;
    o->first = o->count - retained_rows(o->count);
    uint64_t row = o->count - retained_rows(o->here.count) - retained_rows(o->there.count);
    for (; row < o->count; row++) {
        bool theirs = is_theirs(here, h, there, t);
        uint64_t place = (theirs ? t++ : h++) % EK_HISTORY;
        (theirs ? &o->there : &o->here)->number[place] = row;
        if (row < o->first)
            continue;
        o->place[row - o->first] = (uint16_t)place;
        o->is_other[row - o->first] = theirs;
    }
}

uint64_t ek_row_moved(const struct ek_row_order *o, const struct ek_rows_moved *moved, uint64_t row)
{
    uint64_t first = moved->count - retained_rows(moved->count);
    if (row >= moved->count)
        return o->count;
    if (row >= first)
        return moved->number[row % EK_HISTORY];
    uint64_t before = moved->number[first % EK_HISTORY], behind = first - row;
    return before > behind ? before - behind : 0;
}

enum { LISTS_FOR_TRAFFIC = 256 };
static const double DAY_MS = 24 * 3600 * 1000;

struct ek_history {
    uint64_t count;
    int features, query_features, cells;
    struct ek_history_row *row;   /* [EK_HISTORY] */
    struct ek_list_stats *record; /* [EK_HISTORY, features] */
    float *query;                 /* [EK_HISTORY, query_features] */
};

int ek_history_new(struct ek_history **out, int features, int query_features, int cells_per_query)
{
    struct ek_history *h = ek_calloc(1, sizeof *h);
    if (!h)
        return EK_ENOMEM;
    h->features = features;
    h->query_features = query_features;
    h->cells = cells_per_query;
    h->row = ek_calloc(EK_HISTORY, sizeof *h->row);
    h->record = ek_calloc((size_t)EK_HISTORY * (size_t)features, sizeof *h->record);
    h->query = ek_calloc((size_t)EK_HISTORY * (size_t)query_features, sizeof *h->query);
    if (!h->row || !h->record || !h->query) {
        ek_history_free(h);
        return EK_ENOMEM;
    }
    *out = h;
    return EK_OK;
}

void ek_history_free(struct ek_history *h)
{
    if (!h)
        return;
    ek_free(h->row);
    ek_free(h->record);
    ek_free(h->query);
    ek_free(h);
}

struct ek_history_row *ek_history_push(struct ek_history *h, struct ek_list_stats **records,
                                       float **query)
{
    size_t at = h->count++ % EK_HISTORY;
    *records = h->record + at * (size_t)h->features;
    *query = h->query + at * (size_t)h->query_features;
    const char *next = (const char *)(h->record + (at + 1) % EK_HISTORY * (size_t)h->features);
    for (size_t i = 0; i < (size_t)h->features * sizeof **records; i += 64)
        __builtin_prefetch(next + i, 1);
    return &h->row[at];
}

uint64_t ek_history_count(const struct ek_history *h)
{
    return h->count;
}

uint64_t ek_history_first(const struct ek_history *h)
{
    return h->count > EK_HISTORY ? h->count - EK_HISTORY : 0;
}

const struct ek_history_row *ek_history_row(const struct ek_history *h, uint64_t i)
{
    return &h->row[i % EK_HISTORY];
}

const struct ek_list_stats *ek_history_records(const struct ek_history *h, uint64_t i)
{
    return h->record + i % EK_HISTORY * (size_t)h->features;
}

const float *ek_history_query(const struct ek_history *h, uint64_t i)
{
    return h->query + i % EK_HISTORY * (size_t)h->query_features;
}

void ek_history_subtract_shift(struct ek_history *h, uint64_t i, int feature, double shift_ln)
{
    struct ek_list_stats *record =
        &h->record[i % EK_HISTORY * (size_t)h->features + (size_t)feature];
    record->r = ek_residual_lowered(record->r, shift_ln);
}

double ek_history_lists_per_day(const struct ek_history *h)
{
    if (h->count < LISTS_FOR_TRAFFIC)
        return 0;
    uint64_t first = ek_history_first(h), last = h->count - 1;
    int64_t from = ek_history_row(h, first)->time_ms, to = ek_history_row(h, last)->time_ms;
    return to > from ? DAY_MS * (double)(last - first) / ((double)to - (double)from) : 0;
}

int ek_history_is_observed(const struct ek_history *h, uint64_t i, int cell)
{
    const struct ek_history_row *row = ek_history_row(h, i);
    for (int c = 0; c < h->cells; c++)
        if (row->cell[c] == cell)
            return 1;
    return 0;
}

int ek_history_row_in_cell(const struct ek_history *h, uint64_t i, int cell)
{
    const struct ek_history_row *row = ek_history_row(h, i);
    for (int c = 0; c < h->cells; c++)
        if (ek_row_cell(row->cell[c]) == cell)
            return 1;
    return 0;
}

void ek_history_reset_cell(struct ek_history *h, int cell)
{
    for (uint64_t i = ek_history_first(h); i < h->count; i++)
        for (int c = 0; c < h->cells; c++)
            if (ek_row_cell(h->row[i % EK_HISTORY].cell[c]) == cell)
                h->row[i % EK_HISTORY].cell[c] = -1;
}

_Static_assert(sizeof(struct ek_list_stats) == 16, "a record is written as it lies");

static void row_serialize(struct ek_history *h, struct ek_serialize *s, uint64_t i, int strata,
                          int cells)
{
    struct ek_history_row *row = &h->row[i % EK_HISTORY];
    ek_serialize_u64(s, &row->query);
    ek_serialize_i64(s, &row->time_ms);
    ek_serialize_int(s, &row->stratum, 0, strata - 1);
    ek_serialize_raw(s, row->cell, (size_t)h->cells * sizeof *row->cell);
    for (int c = 0; c < h->cells; c++) {
        int cell = ek_row_cell(row->cell[c]);
        ek_serialize_require(s, cell < cells && cell >= (c ? -1 : 0));
    }
    struct ek_list_stats *record = h->record + i % EK_HISTORY * (size_t)h->features;
    for (int f = 0; f < h->features; f++)
        ek_serialize_raw(s, &record[f], sizeof record[f]);
    ek_serialize_raw(s, h->query + i % EK_HISTORY * (size_t)h->query_features,
                     (size_t)h->query_features * sizeof *h->query);
}

void ek_history_count_serialize(struct ek_history *h, struct ek_serialize *s)
{
    ek_serialize_u64(s, &h->count);
}

void ek_history_cells_serialize(struct ek_history *h, struct ek_serialize *s, int first, int end,
                                int strata, int cells)
{
    for (int i = first; i < end && !s->rc; i++)
        row_serialize(h, s, (uint64_t)i, strata, cells);
}

/* Copy the row in slot `place` of `old` to row i of `new`. */
static void move_row(struct ek_history *new, uint64_t i, const struct ek_history *old, size_t place)
{
    size_t at = i % EK_HISTORY, features = (size_t) new->features;
    size_t query = (size_t) new->query_features;
    new->row[at] = old->row[place];
    memcpy(new->record + at *features, old->record + place * features,
           features * sizeof *new->record);
    memcpy(new->query + at *query, old->query + place * query, query * sizeof *new->query);
}

static void rename_row(struct ek_history *h, uint64_t i, uint64_t query, const int16_t *to)
{
    struct ek_history_row *row = &h->row[i % EK_HISTORY];
    row->query = query;
    for (int c = 0; c < h->cells; c++) {
        int16_t cell = ek_row_cell(row->cell[c]), renamed = cell < 0 ? -1 : to[cell];
        row->cell[c] = row->cell[c] < -1 && renamed >= 0 ? ek_row_skipped(renamed) : renamed;
    }
}

int ek_history_merge(struct ek_history *h, const struct ek_history *there,
                     const struct ek_row_order *o, const int16_t *to)
{
    struct ek_history *new, old = *h;
    uint64_t query = 0;
    int rc = ek_history_new(&new, h->features, h->query_features, h->cells);
    if (rc)
        return rc;
    new->count = o->count;
    for (uint64_t i = o->first; i < o->count; i++) {
        bool other = o->is_other[i - o->first];
        move_row(new, i, other ? there : h, o->place[i - o->first]);
        if (other)
            rename_row(new, i, query, to);
        query = ek_history_row(new, i)->query;
    }
    *h = *new;
    *new = old;
    ek_history_free(new);
    return EK_OK;
}
