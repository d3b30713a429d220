#include "base/alloc.h"
#include "detect/category_internal.h"
#include "detect/history.h"

#include <math.h>

static void row_serialize(struct ek_category *k, struct ek_serialize *s, uint64_t number)
{
    struct ek_category_row *row = &k->row[number % EK_HISTORY];
    ek_serialize_raw(s, &row->unknown, sizeof row->unknown);
    ek_serialize_raw(s, &row->stratum, sizeof row->stratum);
    ek_serialize_raw(s, &row->count, sizeof row->count);
    ek_serialize_require(s, row->stratum < k->table->strata && row->count <= EK_CATEGORY_TOP);
    if (!s->rc)
        ek_serialize_raw(s, row->top, row->count * sizeof *row->top);
}

static void rows_serialize(struct ek_category *k, struct ek_serialize *s, uint64_t first,
                           uint64_t end)
{
    for (uint64_t row = first; row < end && !s->rc; row++)
        row_serialize(k, s, row);
}

static void cell_serialize(struct ek_category *k, struct ek_serialize *s, int cell)
{
    struct ek_category_evidence *e = &k->evidence[cell];
    size_t values = (size_t)k->table->count;
    ek_serialize_raw(s, e->unknown, sizeof e->unknown);
    ek_serialize_raw(s, e->gone, sizeof e->gone);
    ek_serialize_raw(s, e->r, sizeof e->r);
    ek_serialize_raw(s, e->value, sizeof e->value);
    ek_serialize_raw(s, &e->scale, sizeof e->scale);
    ek_serialize_u32(s, &e->lists);
    ek_serialize_raw(s, k->mean + (size_t)cell * values, values * sizeof *k->mean);
}

/* Serialize the feature number and the number of values; reading requires equality. */
static void kind_serialize(struct ek_category *k, struct ek_serialize *s)
{
    int feature = k->feature, values = k->table->count;
    ek_serialize_int(s, &feature, feature, feature);
    ek_serialize_int(s, &values, values, values);
}

void ek_categories_kind_serialize(struct ek_categories *c, struct ek_serialize *s)
{
    int count = c->count;
    ek_serialize_int(s, &count, c->count, c->count);
    for (int i = 0; i < c->count; i++)
        kind_serialize(&c->of[i], s);
}

void ek_categories_rows_serialize(struct ek_categories *c, struct ek_serialize *s, uint64_t first,
                                  uint64_t end)
{
    for (int i = 0; i < c->count; i++)
        rows_serialize(&c->of[i], s, first, end);
}

void ek_categories_cell_serialize(struct ek_categories *c, struct ek_serialize *s, int cell)
{
    for (int i = 0; i < c->count; i++)
        cell_serialize(&c->of[i], s, cell);
}

/* Return the slot of a value, else a free slot, else -1. */
static int place_of(const struct ek_category_evidence *e, float value)
{
    int free = -1;
    for (int i = 0; i < EK_CATEGORY_SLOTS; i++) {
        if (e->value[i] == value)
            return i;
        if (isnan(e->value[i]))
            free = i;
    }
    return free;
}

static void merge_evidence(struct ek_category_evidence *to, const struct ek_category_evidence *from)
{
    for (int i = 0; i < 2; i++)
        to->unknown[i] += from->unknown[i];
    for (int i = 0; i < EK_CATEGORY_HEAVY; i++)
        to->gone[i] += from->gone[i];
    for (int i = 0; i < EK_CATEGORY_SLOTS; i++) {
        int place = isnan(from->value[i]) ? -1 : place_of(to, from->value[i]);
        if (place < 0)
            continue;
        to->r[place] = (isnan(to->value[place]) ? 0 : to->r[place]) + from->r[i];
        to->value[place] = from->value[i];
    }
}

static void merge_cell(struct ek_category *k, int cell, const struct ek_category *others, int of)
{
    struct ek_category_evidence *to = &k->evidence[cell];
    const struct ek_category_evidence *from = &others->evidence[of];
    size_t values = (size_t)k->table->count;
    double lists = (double)to->lists + (double)from->lists;
    if (!from->lists)
        return;
    for (size_t v = 0; v < values; v++) {
        float *mean = &k->mean[(size_t)cell * values + v];
        double here = (double)(*mean * to->scale) * (double)to->lists;
        double there =
            (double)(others->mean[(size_t)of * values + v] * from->scale) * (double)from->lists;
        *mean = (float)((here + there) / lists);
    }
    merge_evidence(to, from);
    to->scale = 1;
    to->lists = lists < UINT32_MAX ? (uint32_t)lists : UINT32_MAX;
}

void ek_categories_merge(struct ek_categories *c, int cell, const struct ek_categories *others,
                         int of)
{
    for (int i = 0; i < c->count; i++)
        merge_cell(&c->of[i], cell, &others->of[i], of);
}

static int merge_rows(struct ek_category *k, const struct ek_category *others,
                      const struct ek_row_order *o)
{
    struct ek_category_row *rows = ek_calloc(EK_HISTORY, sizeof *rows);
    if (!rows)
        return EK_ENOMEM;
    for (uint64_t i = o->first; i < o->count; i++) {
        const struct ek_category *from = o->is_other[i - o->first] ? others : k;
        rows[i % EK_HISTORY] = from->row[o->place[i - o->first]];
    }
    ek_free(k->row);
    k->row = k->now = rows;
    return EK_OK;
}

int ek_categories_merge_rows(struct ek_categories *c, const struct ek_categories *others,
                             const struct ek_row_order *o)
{
    int rc = EK_OK;
    for (int i = 0; i < c->count && !rc; i++)
        rc = merge_rows(&c->of[i], &others->of[i], o);
    return rc;
}
