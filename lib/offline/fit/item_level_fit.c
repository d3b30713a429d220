#include "offline/fit/item_level_fit.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "num/ln.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUES_MAX = 1 << 24, /* items times features while fitting */
    TRIAL_LISTS = 4096,   /* after which ids that hardly return end the fit */
    LISTS_MIN = 2048,     /* of the later half, with a level */
    BLOCK = 512,          /* lists whose mean shows wander */
    OWN_VALUES_MIN = 3,
    HALVED_MIN = 4, /* values of a list of which half is left out */
    SLOTS_MIN = 1024,
};
static const double RETURNS_MIN = .25; /* fraction of items that must be known after the trial */
static const double COVERED_MIN = .8;  /* fraction of lists that must have a level */
static const double SD_MOST = .5;      /* of the sd relative to the strata */
static const double OWN_SD_MIN = .05;  /* of the own spread of lists (ln) */
static const double WANDER_MOST = .05; /* of a block's mean (ln) */
/* Levels learned so far lag behind a season, so the lists may wander more than without them. */
static const double WANDER_RATIO_MOST = 1.25;
/* An item ages if more than SAME_WAY of its moves go the same way, of at least MOVES_MIN. */
static const double SAME_WAY = .9, AGING_MOST = .1 /* of the items that move */, MOVED = 1e-5;
enum { MOVES_MIN = 6 };

struct ek_item_level_fit {
    int features;
    size_t stride; /* features of a list in the records */
    bool *suits;   /* [features] no category */
    size_t items, capacity, slots;
    uint64_t *key;   /* [capacity] */
    uint32_t *slot;  /* [slots] item + 1 */
    uint32_t *lists; /* [capacity] of each item */
    struct item_values {
        double sum; /* of ln|x| */
        float last;
        uint32_t count;
        uint16_t up, down; /* moves from one list to the next, up to UINT16_MAX */
    } * values;            /* [capacity, features] */
    size_t queries, query_capacity;
    float *r;             /* [query_capacity, features] relative to the items; NaN: no level */
    int16_t *own_spread;  /* [query_capacity, features] of num/list_stats.h */
    uint64_t seen, known; /* items of all lists; those with a level */
    bool ended;           /* the ids do not return */
    double *ln;           /* scratch [features] */
    int (*used)[2];       /* scratch [features]: values, those averaged by r */
    double *squares;      /* scratch [features]: of the distances averaged by r */
    int *present;         /* scratch [features]: values of the list */
    struct ek_rng rng;
};

int ek_item_level_fit_new(struct ek_item_level_fit **out, const struct ek_manifest *m)
{
    size_t features = (size_t)m->item_count;
    struct ek_item_level_fit *fit = ek_calloc(1, sizeof *fit);
    if (!fit)
        return EK_ENOMEM;
    fit->features = m->item_count;
    fit->stride = (size_t)m->watched_count;
    fit->slots = SLOTS_MIN;
    fit->suits = ek_calloc(features, sizeof *fit->suits);
    fit->slot = ek_calloc(fit->slots, sizeof *fit->slot);
    fit->ln = ek_calloc(features, sizeof *fit->ln);
    fit->used = ek_calloc(features, sizeof *fit->used);
    fit->present = ek_calloc(features, sizeof *fit->present);
    fit->squares = ek_calloc(features, sizeof *fit->squares);
    if (!fit->suits || !fit->slot || !fit->ln || !fit->used || !fit->present || !fit->squares) {
        ek_item_level_fit_free(fit);
        return EK_ENOMEM;
    }
    for (int f = 0; f < fit->features; f++)
        fit->suits[f] = m->item[f]->type != EK_TYPE_CATEGORY;
    ek_rng_seed(&fit->rng, 1);
    *out = fit;
    return EK_OK;
}

static void release_items(struct ek_item_level_fit *fit)
{
    ek_free(fit->key);
    ek_free(fit->slot);
    ek_free(fit->lists);
    ek_free(fit->values);
    ek_free(fit->r);
    ek_free(fit->own_spread);
    fit->key = NULL;
    fit->slot = fit->lists = NULL;
    fit->values = NULL;
    fit->r = NULL;
    fit->own_spread = NULL;
    fit->items = fit->capacity = fit->slots = 0;
}

void ek_item_level_fit_free(struct ek_item_level_fit *fit)
{
    if (!fit)
        return;
    release_items(fit);
    ek_free(fit->suits);
    ek_free(fit->ln);
    ek_free(fit->used);
    ek_free(fit->present);
    ek_free(fit->squares);
    ek_free(fit);
}

static size_t find_slot(const struct ek_item_level_fit *fit, uint64_t key)
{
    size_t at = key & (fit->slots - 1);
    while (fit->slot[at] && fit->key[fit->slot[at] - 1] != key)
        at = (at + 1) & (fit->slots - 1);
    return at;
}

static int grow_slots(struct ek_item_level_fit *fit)
{
    uint32_t *slot = ek_calloc(2 * fit->slots, sizeof *slot);
    if (!slot)
        return EK_ENOMEM;
    ek_free(fit->slot);
    fit->slot = slot;
    fit->slots *= 2;
    for (size_t i = 0; i < fit->items; i++)
        slot[find_slot(fit, fit->key[i])] = (uint32_t)i + 1;
    return EK_OK;
}

static int grow_array(void **array, size_t before, size_t after, size_t size)
{
    char *larger = ek_realloc(*array, after, size);
    if (!larger)
        return EK_ENOMEM;
    memset(larger + before * size, 0, (after - before) * size);
    *array = larger;
    return EK_OK;
}

static int grow_items(struct ek_item_level_fit *fit)
{
    size_t features = (size_t)fit->features, before = fit->capacity;
    size_t after = before ? 2 * before : SLOTS_MIN / 2;
    void *key = fit->key, *lists = fit->lists, *values = fit->values;
    int rc = grow_array(&key, before, after, sizeof *fit->key);
    if (!rc)
        rc = grow_array(&lists, before, after, sizeof *fit->lists);
    if (!rc)
        rc = grow_array(&values, before, after, features * sizeof *fit->values);
    fit->key = key;
    fit->lists = lists;
    fit->values = values;
    if (!rc)
        fit->capacity = after;
    return rc;
}

/* Set *item to the number of an item, adding it; -1 without an id, or if the table is full. Returns
 * 0 or EK_ENOMEM. */
static int find_item(struct ek_item_level_fit *fit, struct ek_text id, int64_t *item)
{
    *item = -1;
    if (!id.length)
        return EK_OK;
    uint64_t key = ek_item_key(id);
    size_t at = find_slot(fit, key);
    if (fit->slot[at]) {
        *item = (int64_t)fit->slot[at] - 1;
        return EK_OK;
    }
    if (fit->items >= VALUES_MAX / (size_t)fit->features)
        return EK_OK;
    if ((fit->items == fit->capacity && grow_items(fit)) ||
        (2 * (fit->items + 1) > fit->slots && grow_slots(fit)))
        return EK_ENOMEM;
    fit->key[fit->items] = key;
    *item = (int64_t)fit->items++;
    fit->slot[find_slot(fit, key)] = (uint32_t)fit->items;
    return EK_OK;
}

/* Set fit->ln to ln|x| of the values of an item, NaN for missing, zero and infinite ones. */
static void take_logs(struct ek_item_level_fit *fit, const float *x)
{
    for (int f = 0; f < fit->features; f++)
        fit->ln[f] = isnormal(x[f]) ? fabs((double)x[f]) : 1;
    ek_ln_compute(fit->ln, fit->ln, (size_t)fit->features);
    for (int f = 0; f < fit->features; f++)
        fit->ln[f] = isnormal(x[f]) && fit->suits[f] ? fit->ln[f] : NAN;
}

/* Count the values of each feature of a list. */
static void count_values(struct ek_item_level_fit *fit, const struct ek_list *q)
{
    size_t features = (size_t)fit->features;
    memset(fit->present, 0, features * sizeof *fit->present);
    for (size_t i = 0; i < (size_t)q->items; i++)
        for (size_t f = 0; f < features; f++)
            fit->present[f] += isnormal(q->x[i * features + f]) != 0;
}

/* Add the values of an item to its sums, and before to r [features]: all if it is measured, else
 * those of features with few values. */
static void add_values(struct ek_item_level_fit *fit, size_t item, bool measured, float *r)
{
    struct item_values *values = &fit->values[item * (size_t)fit->features];
    for (int f = 0; f < fit->features; f++) {
        double ln = fit->ln[f];
        struct item_values *v = &values[f];
        if (isnan(ln))
            continue;
        fit->used[f][0]++;
        if (v->count >= EK_ITEM_LISTS_MIN) {
            double away = ln - v->sum / v->count;
            bool taken = measured || fit->present[f] < HALVED_MIN;
            r[f] += taken ? (float)away : 0;
            fit->squares[f] += taken ? away * away : 0;
            fit->used[f][1] += taken;
        }
        double moved = v->count ? ln - (double)v->last : 0;
        v->up += moved > MOVED && v->up < UINT16_MAX;
        v->down += moved < -MOVED && v->down < UINT16_MAX;
        v->sum += ln;
        v->last = (float)ln;
        v->count++;
    }
}

/* A quarter of the values is half of the half that is measured. */
static void finish_list(const struct ek_item_level_fit *fit, float *r, int16_t *own_spread)
{
    for (int f = 0; f < fit->features; f++) {
        const int *used = fit->used[f];
        double squares = fit->squares[f] - (double)r[f] * (double)r[f] / fmax(used[1], 1);
        own_spread[f] =
            used[1] < OWN_VALUES_MIN ? 0 : ek_item_levels_encode_spread(squares / (used[1] - 1));
        r[f] = used[1] && 4 * used[1] >= used[0] ? r[f] / (float)used[1] : NAN;
    }
}

static int reserve_list(struct ek_item_level_fit *fit)
{
    if (fit->queries < fit->query_capacity)
        return EK_OK;
    size_t more = fit->query_capacity ? 2 * fit->query_capacity : 1024;
    float *r = ek_realloc(fit->r, more, (size_t)fit->features * sizeof *r);
    if (!r)
        return EK_ENOMEM;
    fit->r = r;
    int16_t *own = ek_realloc(fit->own_spread, more, (size_t)fit->features * sizeof *own);
    if (!own)
        return EK_ENOMEM;
    fit->own_spread = own;
    fit->query_capacity = more;
    return EK_OK;
}

int ek_item_level_fit_add(struct ek_item_level_fit *fit, const struct ek_list *q)
{
    size_t features = (size_t)fit->features;
    if (fit->ended)
        return EK_OK;
    if (reserve_list(fit))
        return EK_ENOMEM;
    float *r = fit->r + fit->queries * features;
    memset(r, 0, features * sizeof *r);
    memset(fit->used, 0, features * sizeof *fit->used);
    memset(fit->squares, 0, features * sizeof *fit->squares);
    count_values(fit, q);
    for (int i = 0; q->item_id && i < q->items; i++) {
        int64_t item;
        if (find_item(fit, q->item_id[i], &item))
            return EK_ENOMEM;
        fit->seen++;
        if (item < 0)
            continue;
        fit->known += fit->lists[item]++ >= EK_ITEM_LISTS_MIN;
        take_logs(fit, q->x + (size_t)i * features);
        add_values(fit, (size_t)item, ek_rng_uniform_int(&fit->rng, 2) != 0, r);
    }
    finish_list(fit, r, fit->own_spread + fit->queries * features);
    fit->queries++;
    if (fit->queries == TRIAL_LISTS)
        fit->seen = fit->known = 0;
    fit->ended =
        fit->queries == 2 * TRIAL_LISTS && (double)fit->known < RETURNS_MIN * (double)fit->seen;
    if (fit->ended)
        release_items(fit);
    return EK_OK;
}

/* Later lists of one feature, relative to their strata or to their items. `wander` is the largest
 * absolute mean of a block. */
struct later {
    size_t lists;
    double sd, wander;
};

/* Measure values x [count]; NaN: none. */
static struct later measure(const double *x, size_t count)
{
    struct later l = {0, 0, 0};
    double sum = 0, squares = 0, block = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(x[i]))
            continue;
        sum += x[i];
        squares += x[i] * x[i];
        block += x[i] / BLOCK;
        if (++l.lists % BLOCK)
            continue;
        l.wander = fmax(l.wander, fabs(block));
        block = 0;
    }
    double n = l.lists ? (double)l.lists : 1, mean = sum / n;
    l.sd = sqrt(fmax(squares / n - mean * mean, 0));
    return l;
}

/* Return whether the values of many items keep rising or falling, as ages and counters do. */
static bool are_aging(const struct ek_item_level_fit *fit, int feature)
{
    double aging = 0, moving = 0;
    for (size_t i = 0; i < fit->items; i++) {
        const struct item_values *v = &fit->values[i * (size_t)fit->features + (size_t)feature];
        int moves = v->up + v->down, most = v->up > v->down ? v->up : v->down;
        moving += moves >= MOVES_MIN;
        aging += moves >= MOVES_MIN && most > SAME_WAY * moves;
    }
    return aging > AGING_MOST * moving;
}

/* Inputs and scratch of a choice. */
struct choice {
    struct ek_query_slope_fit *slopes;
    const int *stratum;
    int strata;
    double *level, *lists; /* [strata] */
    double *x;             /* [queries] */
};

/* Subtract the mean of each stratum from c->x [queries]. */
static void subtract_strata(struct choice *c, size_t queries)
{
    memset(c->level, 0, (size_t)c->strata * sizeof *c->level);
    memset(c->lists, 0, (size_t)c->strata * sizeof *c->lists);
    for (size_t q = 0; q < queries; q++)
        if (!isnan(c->x[q])) {
            c->level[c->stratum[q]] += c->x[q];
            c->lists[c->stratum[q]]++;
        }
    for (size_t q = 0; q < queries; q++)
        c->x[q] -= c->level[c->stratum[q]] / fmax(c->lists[c->stratum[q]], 1);
}

/* Return whether the lists of a feature vary much less relative to their items, which do not age,
 * and follow a season no more than relative to their strata. */
static bool is_chosen(const struct ek_item_level_fit *fit, int feature,
                      const struct ek_list_stats *record, struct choice *c)
{
    size_t features = (size_t)fit->features, at = (size_t)feature;
    size_t first = fit->queries / 2, count = fit->queries - first;
    float slope[EK_SLOPE_QUERIES_MAX];
    if (!fit->suits[feature])
        return false;
    for (size_t q = 0; q < fit->queries; q++) {
        const struct ek_list_stats *o = &record[q * fit->stride + at];
        c->x[q] = o->usable ? (double)o->r : NAN;
    }
    ek_query_slope_fit_column(c->slopes, c->x, c->stratum, slope);
    subtract_strata(c, fit->queries);
    struct later plain = measure(c->x + first, count);
    for (size_t q = 0; q < fit->queries; q++)
        c->x[q] = (double)fit->r[q * features + at];
    ek_query_slope_fit_column(c->slopes, c->x, c->stratum, slope);
    struct later own = measure(c->x + first, count);
    return own.lists >= LISTS_MIN && (double)own.lists >= COVERED_MIN * (double)plain.lists &&
           own.sd <= SD_MOST * plain.sd &&
           own.wander <= fmax(WANDER_MOST, WANDER_RATIO_MOST * plain.wander) &&
           !are_aging(fit, feature);
}

static void replace_records(const struct ek_item_level_fit *fit, int feature,
                            struct ek_list_stats *record)
{
    for (size_t q = 0; q < fit->queries; q++) {
        size_t at = q * (size_t)fit->features + (size_t)feature;
        struct ek_list_stats *o = &record[q * fit->stride + (size_t)feature];
        o->r = fit->r[at];
        o->own_spread = fit->own_spread[at];
        if (isnan(o->r))
            ek_list_stats_remove_level(o);
    }
}

/* Return the number of lists that an item must be in, so that the table keeps its bounds. */
static uint32_t least_lists(const struct ek_item_level_fit *fit, int chosen)
{
    size_t most = EK_ITEM_LEVEL_VALUES_MAX / (size_t)chosen;
    most = most < EK_ITEM_LEVELS_MAX ? most : EK_ITEM_LEVELS_MAX;
    for (uint32_t least = EK_ITEM_LISTS_MIN;; least *= 2) {
        size_t items = 0;
        for (size_t i = 0; i < fit->items; i++)
            items += fit->lists[i] >= least;
        if (items <= most)
            return least;
    }
}

struct keyed {
    uint64_t key;
    size_t item;
};

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const struct keyed *)a)->key, y = ((const struct keyed *)b)->key;
    return (x > y) - (x < y);
}

/* Set the levels of an item. */
static void fill_levels(const struct ek_item_level_fit *fit, size_t item,
                        const struct ek_item_levels *t, float *value)
{
    for (int a = 0; a < t->features; a++) {
        const struct item_values *v =
            &fit->values[item * (size_t)fit->features + (size_t)t->feature[a]];
        value[a] = v->count < EK_ITEM_LISTS_MIN ? NAN : (float)(v->sum / v->count);
    }
}

/* Return the usual spread of the later lists around the levels of their items. Half of the values
 * of a list were measured. */
static struct ek_own_spread measure_spread(const struct ek_item_level_fit *fit, int feature,
                                           const struct ek_list_stats *record)
{
    double lists = 0, values = 0, sum = 0, squares = 0;
    size_t features = (size_t)fit->features, at = (size_t)feature, first = fit->queries / 2;
    for (size_t q = first; q < fit->queries; q++) {
        int16_t own = fit->own_spread[q * features + at];
        double weight = ek_item_levels_spread_weight(own, record[q * fit->stride + at].usable / 2);
        lists += own != 0;
        values += weight;
        sum += weight * ek_item_levels_decode_spread(own);
    }
    if (lists < LISTS_MIN)
        return (struct ek_own_spread){0, 0};
    double mean = sum / values;
    for (size_t q = first; q < fit->queries; q++) {
        int16_t own = fit->own_spread[q * features + at];
        double weight = ek_item_levels_spread_weight(own, record[q * fit->stride + at].usable / 2);
        double away = weight * (ek_item_levels_decode_spread(own) - mean);
        squares += away * away;
    }
    return (struct ek_own_spread){(float)mean, (float)fmax(sqrt(squares / values), OWN_SD_MIN)};
}

/* Build the table of the chosen features. order [items] is scratch. */
static int make_table(const struct ek_item_level_fit *fit, const struct ek_list_stats *record,
                      const bool *chosen, int count, struct keyed *order,
                      struct ek_item_levels **out)
{
    uint32_t least = least_lists(fit, count);
    size_t items = 0;
    for (size_t i = 0; i < fit->items; i++)
        if (fit->lists[i] >= least)
            order[items++] = (struct keyed){fit->key[i], i};
    qsort(order, items, sizeof *order, by_key);
    if (!items)
        return EK_OK;
    int rc = ek_item_levels_new(out, items, count);
    if (rc)
        return rc;
    struct ek_item_levels *t = *out;
    for (int f = 0, a = 0; f < fit->features; f++)
        if (chosen[f]) {
            t->spread[a] = measure_spread(fit, f, record);
            t->feature[a++] = f;
        }
    for (size_t i = 0; i < items; i++) {
        t->key[i] = order[i].key;
        fill_levels(fit, order[i].item, t, t->value + i * (size_t)count);
    }
    ek_item_levels_index(t);
    return EK_OK;
}

int ek_item_level_fit_finish(struct ek_item_level_fit *fit, struct ek_query_slope_fit *slopes,
                             struct ek_list_stats *record, const int *stratum, int strata,
                             struct ek_item_levels **out)
{
    int count = 0;
    *out = NULL;
    if (fit->ended || !fit->items)
        return EK_OK;
    double *level = ek_calloc(2 * (size_t)strata, sizeof *level);
    double *x = ek_calloc(fit->queries, sizeof *x);
    struct choice choice = {slopes, stratum, strata, level, level + strata, x};
    bool *chosen = ek_calloc((size_t)fit->features, sizeof *chosen);
    struct keyed *order = ek_calloc(fit->items, sizeof *order);
    int rc = level && x && chosen && order ? EK_OK : EK_ENOMEM;
    for (int f = 0; !rc && f < fit->features; f++)
        count += chosen[f] = is_chosen(fit, f, record, &choice);
    if (!rc && count)
        rc = make_table(fit, record, chosen, count, order, out);
    for (int f = 0; !rc && *out && f < fit->features; f++)
        if (chosen[f])
            replace_records(fit, f, record);
    ek_free(level);
    ek_free(x);
    ek_free(chosen);
    ek_free(order);
    return rc;
}
