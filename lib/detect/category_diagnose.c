#include "detect/category_internal.h"

#include <math.h>
#include <string.h>

/* Values that are followed over the lists of a change. */
enum { CANDIDATES = 64 };

struct candidate {
    float value;
    double share; /* summed over lists since it is followed */
};

static double share_at(const struct ek_category_row *r, float value)
{
    for (int i = 0; i < r->count; i++)
        if (r->top[i].value == value)
            return (double)r->top[i].share;
    return 0;
}

static struct candidate *candidate_of(struct candidate *of, int count, float value)
{
    for (int i = 0; i < count; i++)
        if (of[i].value == value)
            return &of[i];
    return NULL;
}

/* Values that may be the news: as they come, then one takes the place of another that weighs less
 * in all lists than it does in its own. */
static int candidates(const struct ek_category *k, const uint64_t *row, int rows,
                      struct candidate *of)
{
    int count = 0;
    for (int i = 0; i < rows; i++) {
        const struct ek_category_row *r = ek_category_row_at(k, row[i]);
        for (int j = 0; j < r->count; j++) {
            struct candidate *c = candidate_of(of, count, r->top[j].value);
            if (!c && count < CANDIDATES) {
                c = &of[count++];
                *c = (struct candidate){.value = r->top[j].value};
            }
            for (int m = 0; !c && m < count; m++)
                if (of[m].share < (double)r->top[j].share) {
                    c = &of[m];
                    *c = (struct candidate){.value = r->top[j].value};
                }
            if (c)
                c->share += (double)r->top[j].share;
        }
    }
    return count;
}

static double trained_of(const struct ek_category *k, int value, const struct ek_category_row *row)
{
    size_t at = (size_t)value * (size_t)k->table->strata + row->stratum;
    return (double)k->table->share[at];
}

/* A value over the rows: its share now and in training, and whether either is beyond what training
 * and the cell's own past allow. */
struct news {
    struct ek_category_change change;
    int risen, gone;
};

static struct news news_of(const struct ek_category *k, int cell, float value, const uint64_t *row,
                           int rows)
{
    struct news n = {.change = {.value = value}};
    double least = 0, most = 0;
    int v = ek_category_find(k->table, value);
    for (int i = 0; i < rows; i++) {
        const struct ek_category_row *r = ek_category_row_at(k, row[i]);
        struct ek_category_usual usual = ek_category_usual(k, cell, v, r->stratum);
        n.change.share += share_at(r, value) / rows;
        n.change.trained += v < 0 ? 0 : trained_of(k, v, r) / rows;
        least += (double)usual.least / rows;
        most += (double)usual.most / rows;
    }
    n.risen = n.change.share > (double)ek_category_rise((float)most);
    n.gone = n.change.share < (double)ek_category_fall((float)least);
    return n;
}

static double size_of(const struct ek_category_change *c)
{
    return fabs(c->share - c->trained);
}

static void name(struct ek_category_diagnosis *g, struct ek_category_change change)
{
    int full = g->count == EK_CATEGORY_CHANGES;
    if (full && size_of(&g->change[g->count - 1]) >= size_of(&change))
        return;
    int at = full ? g->count - 1 : g->count++;
    for (; at > 0 && size_of(&g->change[at - 1]) < size_of(&change); at--)
        g->change[at] = g->change[at - 1];
    g->change[at] = change;
}

static int have_unknown(const struct ek_category *k, const uint64_t *row, int rows, double *lists)
{
    double unknown = 0, bound = 0, holding = 0;
    for (int i = 0; i < rows; i++) {
        const struct ek_category_row *r = ek_category_row_at(k, row[i]);
        unknown += (double)r->unknown;
        bound += (double)k->bound[r->stratum];
        holding += r->unknown > 0;
    }
    *lists = holding / rows;
    return unknown > bound;
}

int ek_categories_diagnose(const struct ek_categories *c, int feature, int cell,
                           const uint64_t *row, int rows, struct ek_category_diagnosis *out)
{
    struct candidate of[CANDIDATES];
    double lists = 0;
    memset(out, 0, sizeof *out);
    if (c->number[feature] < 0 || !rows)
        return 0;
    const struct ek_category *k = &c->of[c->number[feature]];
    int unknown = have_unknown(k, row, rows, &lists), count = candidates(k, row, rows, of);
    int known = 0;
    for (int i = 0; i < count; i++) {
        struct news n = news_of(k, cell, of[i].value, row, rows);
        int fresh = ek_category_find(k->table, of[i].value) < 0;
        if (n.risen || (unknown && fresh))
            name(out, n.change);
        known |= n.risen && !fresh;
    }
    for (int i = 0; i < k->heavy_count; i++) {
        struct news n = news_of(k, cell, k->table->value[k->heavy[i]], row, rows);
        if (n.gone)
            name(out, n.change);
        known |= n.gone;
    }
    out->lists = known ? 1 : lists;
    return unknown || out->count;
}

/* What training has of a value in the row's stratum is taken off: what is left is the change. */
double ek_categories_moved(const struct ek_categories *c, int feature,
                           const struct ek_category_diagnosis *g, uint64_t number)
{
    const struct ek_category *k = &c->of[c->number[feature]];
    const struct ek_category_row *row = ek_category_row_at(k, number);
    double moved = 0;
    int unknown = !g->count;
    if (!row->count)
        return NAN;
    for (int i = 0; i < g->count; i++) {
        const struct ek_category_change *change = &g->change[i];
        int v = ek_category_find(k->table, change->value);
        unknown |= v < 0;
        if (v < 0)
            continue;
        double more = share_at(row, change->value) - trained_of(k, v, row);
        moved += change->share > change->trained ? more : -more;
    }
    return unknown ? moved + (double)row->unknown : moved;
}
