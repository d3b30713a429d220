#include "detect/category_internal.h"

static void row_snap(struct ek_category *k, struct ek_snap *s, uint64_t number)
{
    struct ek_category_row *row = &k->row[number % EK_HISTORY];
    ek_snap_raw(s, &row->unknown, sizeof row->unknown);
    ek_snap_raw(s, &row->stratum, sizeof row->stratum);
    ek_snap_raw(s, &row->count, sizeof row->count);
    ek_snap_require(s, row->stratum < k->table->strata && row->count <= EK_CATEGORY_TOP);
    if (!s->rc)
        ek_snap_raw(s, row->top, row->count * sizeof *row->top);
}

static void rows_snap(struct ek_category *k, struct ek_snap *s, uint64_t first, uint64_t end)
{
    for (uint64_t row = first; row < end && !s->rc; row++)
        row_snap(k, s, row);
}

static void cell_snap(struct ek_category *k, struct ek_snap *s, int cell)
{
    struct ek_category_evidence *e = &k->evidence[cell];
    size_t values = (size_t)k->table->count;
    ek_snap_raw(s, e->unknown, sizeof e->unknown);
    ek_snap_raw(s, e->gone, sizeof e->gone);
    ek_snap_raw(s, e->r, sizeof e->r);
    ek_snap_raw(s, e->value, sizeof e->value);
    ek_snap_raw(s, &e->scale, sizeof e->scale);
    ek_snap_u32(s, &e->lists);
    ek_snap_raw(s, k->mean + (size_t)cell * values, values * sizeof *k->mean);
}

/* Which one it is: reading, it has to be the same. */
static void kind_snap(struct ek_category *k, struct ek_snap *s)
{
    int feature = k->feature, values = k->table->count;
    ek_snap_int(s, &feature, feature, feature);
    ek_snap_int(s, &values, values, values);
}

void ek_categories_kind_snap(struct ek_categories *c, struct ek_snap *s)
{
    int count = c->count;
    ek_snap_int(s, &count, c->count, c->count);
    for (int i = 0; i < c->count; i++)
        kind_snap(&c->of[i], s);
}

void ek_categories_rows_snap(struct ek_categories *c, struct ek_snap *s, uint64_t first,
                             uint64_t end)
{
    for (int i = 0; i < c->count; i++)
        rows_snap(&c->of[i], s, first, end);
}

void ek_categories_cell_snap(struct ek_categories *c, struct ek_snap *s, int cell)
{
    for (int i = 0; i < c->count; i++)
        cell_snap(&c->of[i], s, cell);
}
