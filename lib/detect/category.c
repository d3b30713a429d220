#include "detect/category.h"

#include "base/alloc.h"
#include "detect/category_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ek_category_list_release(struct ek_category_list *l)
{
    ek_free(l->of);
    ek_free(l->scratch);
    *l = (struct ek_category_list){0};
}

static int reserve_for(struct ek_category_list *l, int items)
{
    if (items <= l->capacity)
        return EK_OK;
    size_t want = (size_t)items + (size_t)items / 2;
    struct ek_category_share *of = ek_realloc(l->of, want, sizeof *of);
    if (!of)
        return EK_ENOMEM;
    l->of = of;
    float *scratch = ek_realloc(l->scratch, want, sizeof *scratch);
    if (!scratch)
        return EK_ENOMEM;
    l->scratch = scratch;
    l->capacity = (int)want;
    return EK_OK;
}

static int rising(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static int sort_values(struct ek_category_list *l, const struct ek_list *q, int feature)
{
    int present = 0;
    for (int i = 0; i < q->items; i++) {
        float x = q->x[(size_t)i * (size_t)q->item_features + (size_t)feature];
        if (!isnan(x))
            l->scratch[present++] = x == 0 ? 0 : x;
    }
    qsort(l->scratch, (size_t)present, sizeof *l->scratch, rising);
    return present;
}

int ek_category_list_read(struct ek_category_list *l, const struct ek_list *q, int feature)
{
    if (reserve_for(l, q->items))
        return EK_ENOMEM;
    int present = sort_values(l, q, feature);
    l->count = 0;
    for (int i = 0, end; i < present; i = end) {
        for (end = i + 1; end < present && l->scratch[end] == l->scratch[i];)
            end++;
        l->of[l->count++] =
            (struct ek_category_share){l->scratch[i], (float)(end - i) / (float)present};
    }
    return EK_OK;
}

enum { UNKNOWN_BETS = 2, UNKNOWN_KEPT = 4, CELL_PRIOR = 10 };
/* Stakes on unknown values: for faults of all items of a list, and of about one item in a
 * hundred. */
static const float UNKNOWN_STAKE[UNKNOWN_BETS] = {.4f, .1f}, SHARE_STAKE = .5f, GONE_STAKE = .8f;
/* Weights in the total evidence. SHARES_WEIGHT is split over the trained values and UNKNOWN_VALUES
 * unknown ones, because at most ten values can each exceed a tenth of a list. */
static const float UNKNOWN_WEIGHT = .25f, SHARES_WEIGHT = .4f, GONE_WEIGHT = .1f,
                   UNKNOWN_VALUES = 16;
/* Bound of the unknown share: UNKNOWN_RATIO times training, at least UNKNOWN_LEAST. */
static const float UNKNOWN_RATIO = 3, UNKNOWN_LEAST = .002f, UNKNOWN_MOST = .9f;
static const double RULE_OF_THREE =
    3; /* 95% bound on the frequency of an event absent from n lists: 3 / n */
static const float SHARE_RATIO = 3, SHARE_MOVE = .1f, SHARE_ROOM = .5f, SHARE_MOST = .9f;
static const float GONE_RATIO = 3,
                   GONE_USUAL = .15f; /* a fall to a third of a usual share of at least .15 */
static const float CELL_RATE = 0.6931472f / 2500; /* half-life of 2,500 lists */
static const float SCALE_LEAST = 1e-12f;

/* Insert a value into `top` [most], by descending share; the lightest drops out when full. Return
 * the new count. */
static int retain_heaviest(struct ek_category_share *top, int count, int most,
                           struct ek_category_share value)
{
    int full = count == most;
    if (full && top[most - 1].share >= value.share)
        return count;
    int at = full ? most - 1 : count;
    for (; at > 0 && top[at - 1].share < value.share; at--)
        top[at] = top[at - 1];
    top[at] = value;
    return full ? count : count + 1;
}

static float category_fall(float usual)
{
    return usual < GONE_USUAL ? 0 : usual / GONE_RATIO;
}

/* Select the values frequent enough to detect their absence. */
static void find_heavy(struct ek_category *k)
{
    struct ek_category_share top[EK_CATEGORY_HEAVY];
    for (int v = 0; v < k->table->count; v++) {
        float share = k->table->share[(size_t)v * (size_t)k->table->strata];
        if (category_fall(share) > 0)
            k->heavy_count = retain_heaviest(top, k->heavy_count, EK_CATEGORY_HEAVY,
                                             (struct ek_category_share){k->table->value[v], share});
    }
    for (int i = 0; i < k->heavy_count; i++)
        k->heavy[i] = ek_category_find(k->table, top[i].value);
}

static int category_init(struct ek_category *k, const struct ek_profile *p, int feature)
{
    k->feature = feature;
    k->table = &p->category[feature];
    k->power = (float)(1 / ek_bet_deff(&p->baseline[feature], 0));
    k->bound = ek_calloc((size_t)p->strata, sizeof *k->bound);
    k->row = ek_calloc(EK_HISTORY, sizeof *k->row);
    if (!k->bound || !k->row)
        return EK_ENOMEM;
    find_heavy(k);
    double unseen = RULE_OF_THREE / (double)(p->queries ? p->queries : 1);
    for (int s = 0; s < p->strata; s++)
        k->bound[s] = fmaxf(UNKNOWN_RATIO * (k->table->unknown[s] + (float)unseen), UNKNOWN_LEAST);
    return EK_OK;
}

int ek_categories_new(struct ek_categories **out, const struct ek_profile *p)
{
    struct ek_categories *c = ek_calloc(1, sizeof *c);
    if (!c)
        return EK_ENOMEM;
    int categories = 0, rc = EK_OK;
    for (int f = 0; f < p->features; f++)
        categories += p->category[f].strata > 0;
    c->features = p->features;
    c->number = ek_calloc((size_t)p->features, sizeof *c->number);
    c->of = ek_calloc((size_t)categories, sizeof *c->of);
    if (!c->number || !c->of)
        rc = EK_ENOMEM;
    for (int f = 0; !rc && f < p->features; f++) {
        c->number[f] = p->category[f].strata ? c->count++ : -1;
        if (c->number[f] >= 0)
            rc = category_init(&c->of[c->number[f]], p, f);
    }
    if (rc)
        ek_categories_free(c);
    else
        *out = c;
    return rc;
}

void ek_categories_free(struct ek_categories *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->count; i++) {
        ek_category_list_release(&c->of[i].list);
        ek_free(c->of[i].bound);
        ek_free(c->of[i].row);
        ek_free(c->of[i].evidence);
        ek_free(c->of[i].mean);
    }
    ek_free(c->of);
    ek_free(c->number);
    ek_free(c);
}

int ek_categories_count(const struct ek_categories *c)
{
    return c->count;
}

int ek_categories_feature(const struct ek_categories *c, int number)
{
    return c->of[number].feature;
}

static void clear_evidence(struct ek_category_evidence *s)
{
    memset(s->unknown, 0, sizeof s->unknown);
    memset(s->gone, 0, sizeof s->gone);
    for (int i = 0; i < EK_CATEGORY_SLOTS; i++) {
        s->r[i] = 0;
        s->value[i] = NAN;
    }
}

static void begin_cells(struct ek_category *k, int from, int to)
{
    size_t values = (size_t)k->table->count, strata = (size_t)k->table->strata;
    for (int cell = from; cell < to; cell++) {
        clear_evidence(&k->evidence[cell]);
        k->evidence[cell].scale = 1;
        k->evidence[cell].lists = 0;
        for (size_t v = 0; v < values; v++)
            k->mean[(size_t)cell * values + v] = k->table->share[v * strata];
    }
}

int ek_categories_reserve(struct ek_categories *c, int cells)
{
    if (cells <= c->capacity)
        return EK_OK;
    size_t want = (size_t)cells;
    for (int i = 0; i < c->count; i++) {
        struct ek_category *k = &c->of[i];
        struct ek_category_evidence *evidence = ek_realloc(k->evidence, want, sizeof *evidence);
        if (!evidence)
            return EK_ENOMEM;
        k->evidence = evidence;
        float *mean = ek_realloc(k->mean, want * (size_t)k->table->count, sizeof *mean);
        if (!mean)
            return EK_ENOMEM;
        k->mean = mean;
        begin_cells(k, c->capacity, cells);
    }
    c->capacity = cells;
    return EK_OK;
}

static void add_row(struct ek_category *k, int stratum, uint64_t number)
{
    struct ek_category_row *row = &k->row[number % EK_HISTORY];
    struct ek_category_share known[EK_CATEGORY_TOP];
    int known_count = 0;
    memset(row, 0, sizeof *row);
    int unknown = 0;
    for (int i = 0; i < k->list.count; i++) {
        struct ek_category_share one = k->list.of[i];
        if (ek_category_find(k->table, one.value) >= 0) {
            known_count = retain_heaviest(known, known_count, EK_CATEGORY_TOP, one);
            continue;
        }
        row->unknown += one.share;
        unknown = retain_heaviest(row->top, unknown, UNKNOWN_KEPT, one);
    }
    row->unknown = fminf(row->unknown, 1);
    row->stratum = (uint16_t)stratum;
    for (int i = 0; i < known_count && unknown < EK_CATEGORY_TOP; i++)
        row->top[unknown++] = known[i];
    row->count = (uint8_t)unknown;
    k->now = row;
}

int ek_categories_read(struct ek_categories *c, const struct ek_list *q)
{
    for (int i = 0; i < c->count; i++)
        if (ek_category_list_read(&c->of[i].list, q, c->of[i].feature))
            return EK_ENOMEM;
    return EK_OK;
}

void ek_categories_add_row(struct ek_categories *c, int stratum, uint64_t row)
{
    for (int i = 0; i < c->count; i++)
        add_row(&c->of[i], stratum, row);
}

/* Return the range of the usual share of a value; `value` is its index, -1: unknown. */
static struct ek_category_usual category_usual(const struct ek_category *k, int cell, int value,
                                               int stratum)
{
    size_t v = (size_t)value, strata = (size_t)k->table->strata;
    if (value < 0)
        return (struct ek_category_usual){0, 0};
    float lately = k->mean[(size_t)cell * (size_t)k->table->count + v] * k->evidence[cell].scale;
    float trained = k->table->share[v * strata + (size_t)stratum];
    return (struct ek_category_usual){fminf(trained, lately), fmaxf(trained, lately)};
}

/* Return the share that a value must exceed to count as risen. category_fall returns the share it
 * must fall below, or 0 if its absence is not detectable. */
static float category_rise(float usual)
{
    return fminf(fmaxf(SHARE_RATIO * usual, usual + SHARE_MOVE), 1 - SHARE_ROOM * (1 - usual));
}

/* Temper a bet by the design effect (evalue_tests.h). */
static float tempered(const struct ek_category *k, float e)
{
    return k->power < 1 ? powf(e, k->power) : e;
}

static float unknown_bet(const struct ek_category *k, const struct ek_category_row *row, int which)
{
    float bound = k->bound[row->stratum], stake = UNKNOWN_STAKE[which];
    return bound > UNKNOWN_MOST || !row->count
               ? 1
               : tempered(k, 1 - stake + stake * row->unknown / bound);
}

static float share_bet(const struct ek_category *k, int cell, float value, int stratum, float share)
{
    float usual = category_usual(k, cell, ek_category_find(k->table, value), stratum).most;
    if (usual > SHARE_MOST)
        return 1;
    return tempered(k, 1 - SHARE_STAKE + SHARE_STAKE * share / category_rise(usual));
}

static float missing_bet(const struct ek_category *k, int cell, int value, int stratum, float share)
{
    float bound = category_fall(category_usual(k, cell, value, stratum).least);
    return bound > 0 ? tempered(k, 1 - GONE_STAKE + GONE_STAKE * (1 - share) / (1 - bound)) : 1;
}

static float share_in(const struct ek_category_list *l, float value)
{
    for (int i = 0; i < l->count; i++)
        if (l->of[i].value == value)
            return l->of[i].share;
    return 0;
}

/* Assign the slot with the least evidence to a value with a winning bet. */
static void assign_slot(struct ek_category_evidence *s, float value, float e)
{
    int least = 0;
    for (int i = 0; i < EK_CATEGORY_SLOTS; i++) {
        if (s->value[i] == value)
            return;
        if (s->r[i] < s->r[least])
            least = i;
    }
    if (s->r[least] < e) {
        s->r[least] = e;
        s->value[least] = value;
    }
}

static float add_shares(struct ek_category *k, struct ek_category_evidence *s, int cell)
{
    const struct ek_category_list *l = &k->list;
    int stratum = k->now->stratum;
    float sum = 0;
    for (int i = 0; i < EK_CATEGORY_SLOTS; i++)
        if (!isnan(s->value[i]))
            s->r[i] =
                (s->r[i] + 1) * share_bet(k, cell, s->value[i], stratum, share_in(l, s->value[i]));
    for (int i = 0; i < l->count; i++) {
        float e = l->of[i].share > SHARE_MOVE
                      ? share_bet(k, cell, l->of[i].value, stratum, l->of[i].share)
                      : 0;
        if (e > 1)
            assign_slot(s, l->of[i].value, e);
    }
    for (int i = 0; i < EK_CATEGORY_SLOTS; i++)
        sum += s->r[i];
    return sum;
}

static float add_missing(struct ek_category *k, struct ek_category_evidence *s, int cell)
{
    float sum = 0;
    for (int i = 0; i < k->heavy_count; i++) {
        float share = share_in(&k->list, k->table->value[k->heavy[i]]);
        s->gone[i] = (s->gone[i] + 1) * missing_bet(k, cell, k->heavy[i], k->now->stratum, share);
        sum += s->gone[i];
    }
    return sum;
}

/* Update the recent share of each value in the cell, an exponentially weighted mean. A common scale
 * factor keeps the cost proportional to the values of the list. */
static void update_mean(struct ek_category *k, struct ek_category_evidence *s, int cell)
{
    size_t values = (size_t)k->table->count;
    float *mean = k->mean + (size_t)cell * values;
    float rate = fmaxf(1 / ((float)++s->lists + CELL_PRIOR), CELL_RATE);
    s->scale *= 1 - rate;
    for (int i = 0; i < k->list.count; i++) {
        int v = ek_category_find(k->table, k->list.of[i].value);
        if (v >= 0)
            mean[v] += rate * k->list.of[i].share / s->scale;
    }
    if (s->scale > SCALE_LEAST)
        return;
    for (size_t v = 0; v < values; v++)
        mean[v] *= s->scale;
    s->scale = 1;
}

static int find_strongest(const float *r, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (r[i] > r[best])
            best = i;
    return best;
}

int ek_categories_add(struct ek_categories *c, int number, int cell,
                      const struct ek_alarm_level *level)
{
    struct ek_category *k = &c->of[number];
    struct ek_category_evidence *s = &k->evidence[cell];
    float kind[3] = {0, 0, 0}, total = 0;
    if (!k->list.count)
        return -1;
    for (int i = 0; i < UNKNOWN_BETS; i++) {
        s->unknown[i] = (s->unknown[i] + 1) * unknown_bet(k, k->now, i);
        kind[0] += UNKNOWN_WEIGHT * s->unknown[i];
    }
    kind[1] = SHARES_WEIGHT / ((float)k->table->count + UNKNOWN_VALUES) * add_shares(k, s, cell);
    kind[2] = GONE_WEIGHT / EK_CATEGORY_HEAVY * add_missing(k, s, cell);
    for (int i = 0; i < 3; i++)
        total += kind[i];
    if (total < level->hot)
        update_mean(k, s, cell);
    return total < level->alarm ? -1 : EK_BET_NEW_VALUE + find_strongest(kind, 3);
}

void ek_categories_reset_cell(struct ek_categories *c, int cell)
{
    for (int i = 0; i < c->count; i++)
        begin_cells(&c->of[i], cell, cell + 1);
}

void ek_categories_restart(struct ek_categories *c, int feature, int cell)
{
    if (c->number[feature] >= 0)
        clear_evidence(&c->of[c->number[feature]].evidence[cell]);
}

static float share_at(const struct ek_category_row *row, float value)
{
    for (int i = 0; i < row->count; i++)
        if (row->top[i].value == value)
            return row->top[i].share;
    return 0;
}

double ek_categories_bet(const struct ek_categories *c, int feature, int cell, int bet,
                         uint64_t number)
{
    const struct ek_category *k = &c->of[c->number[feature]];
    const struct ek_category_evidence *s = &k->evidence[cell];
    const struct ek_category_row *row = ek_category_row_at(k, number);
    if (bet == EK_BET_NEW_VALUE)
        return (double)unknown_bet(k, row, UNKNOWN_BETS - 1);
    if (!row->count)
        return 1;
    if (bet == EK_BET_VALUE_GONE && k->heavy_count) {
        int value = k->heavy[find_strongest(s->gone, k->heavy_count)];
        return (double)missing_bet(k, cell, value, row->stratum,
                                   share_at(row, k->table->value[value]));
    }
    float value = s->value[find_strongest(s->r, EK_CATEGORY_SLOTS)];
    return isnan(value) ? 1 : (double)share_bet(k, cell, value, row->stratum, share_at(row, value));
}

const char *ek_category_bet_name(int bet)
{
    static const char *const names[] = {"new value", "value share", "value gone"};
    return names[bet - EK_BET_NEW_VALUE];
}

/* Values tracked over the lists of a change. */
enum { CANDIDATES = 64 };

struct candidate {
    float value;
    double share; /* sum over the lists since tracking began */
};

static struct candidate *candidate_of(struct candidate *of, int count, float value)
{
    for (int i = 0; i < count; i++)
        if (of[i].value == value)
            return &of[i];
    return NULL;
}

/* Collect the values that may have changed. When full, a value replaces one with a total share
 * below its own share in the list. */
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

/* A value over the rows: its change, and whether it exceeds the bounds of training and of the
 * cell. */
struct news {
    struct ek_category_change change;
    int risen, gone;
};

static struct news change_of(const struct ek_category *k, int cell, float value,
                             const uint64_t *row, int rows)
{
    struct news n = {.change = {.value = value}};
    double least = 0, most = 0;
    int v = ek_category_find(k->table, value);
    for (int i = 0; i < rows; i++) {
        const struct ek_category_row *r = ek_category_row_at(k, row[i]);
        struct ek_category_usual usual = category_usual(k, cell, v, r->stratum);
        n.change.share += (double)share_at(r, value) / rows;
        n.change.trained += v < 0 ? 0 : trained_of(k, v, r) / rows;
        least += (double)usual.least / rows;
        most += (double)usual.most / rows;
    }
    n.risen = n.change.share > (double)category_rise((float)most);
    n.gone = n.change.share < (double)category_fall((float)least);
    return n;
}

static double size_of(const struct ek_category_change *c)
{
    return fabs(c->share - c->trained);
}

static void insert_change(struct ek_category_diagnosis *g, struct ek_category_change change)
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
        struct news n = change_of(k, cell, of[i].value, row, rows);
        int fresh = ek_category_find(k->table, of[i].value) < 0;
        if (n.risen || (unknown && fresh))
            insert_change(out, n.change);
        known |= n.risen && !fresh;
    }
    for (int i = 0; i < k->heavy_count; i++) {
        struct news n = change_of(k, cell, k->table->value[k->heavy[i]], row, rows);
        if (n.gone)
            insert_change(out, n.change);
        known |= n.gone;
    }
    out->lists = known ? 1 : lists;
    return unknown || out->count;
}

/* Subtracting the share in training leaves the change. */
double ek_categories_shift_probability(const struct ek_categories *c, int feature,
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
        double more = (double)share_at(row, change->value) - trained_of(k, v, row);
        moved += change->share > change->trained ? more : -more;
    }
    return unknown ? moved + (double)row->unknown : moved;
}
