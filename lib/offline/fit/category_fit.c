#include "offline/fit/category_fit.h"

#include "base/alloc.h"
#include "assets/profile.h"
#include "num/misra_gries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHOLE = 1 << 20, /* weight of a whole list */
    PRIOR = 20       /* weight of the fractions over all lists in those of a stratum, in lists */
};

struct ek_category_fit {
    struct ek_misra_gries *pairs;  /* key: stratum in the upper half, value in the lower */
    uint32_t lists[EK_STRATA_MAX]; /* lists with a value */
};

/* Value over all strata. */
struct total {
    float value;
    uint64_t weight, lists;
};

int ek_category_fit_new(struct ek_category_fit **out)
{
    struct ek_category_fit *fit = ek_calloc(1, sizeof *fit);
    if (!fit)
        return EK_ENOMEM;
    if (ek_misra_gries_new(&fit->pairs, EK_CATEGORY_PAIRS_MAX)) {
        ek_free(fit);
        return EK_ENOMEM;
    }
    *out = fit;
    return EK_OK;
}

void ek_category_fit_free(struct ek_category_fit *fit)
{
    if (!fit)
        return;
    ek_misra_gries_free(fit->pairs);
    ek_free(fit);
}

static uint64_t key_of(int stratum, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint64_t)stratum << 32 | bits;
}

static float value_of(uint64_t key)
{
    uint32_t bits = (uint32_t)key;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int ek_category_fit_add(struct ek_category_fit *fit, const struct ek_category_list *l, int stratum)
{
    for (int i = 0; i < l->count; i++)
        if (ek_misra_gries_add(fit->pairs, key_of(stratum, l->of[i].value),
                               (uint64_t)lroundf(l->of[i].share * WHOLE)))
            return EK_ENOMEM;
    fit->lists[stratum] += l->count > 0;
    return EK_OK;
}

static uint64_t moved(uint64_t key, const int *number)
{
    return key_of(number[key >> 32], value_of(key));
}

int ek_category_fit_merge(struct ek_category_fit *fit, const struct ek_category_counts *c,
                          const int *number, int strata)
{
    for (size_t i = 0; i < c->pairs; i++) {
        struct ek_misra_gries_key pair = c->pair[i];
        pair.key = moved(pair.key, number);
        if (ek_misra_gries_add_weight(fit->pairs, &pair))
            return EK_ENOMEM;
    }
    for (int s = 0; s < strata; s++)
        fit->lists[number[s]] += c->lists[s];
    return EK_OK;
}

static int by_pair(const void *a, const void *b)
{
    uint64_t x = ((const struct ek_misra_gries_key *)a)->key,
             y = ((const struct ek_misra_gries_key *)b)->key;
    return (x > y) - (x < y);
}

int ek_category_fit_counts(const struct ek_category_fit *fit, const int *number, int strata,
                           struct ek_category_counts *out)
{
    size_t pairs = ek_misra_gries_count(fit->pairs);
    out->pair = ek_calloc(pairs, sizeof *out->pair);
    out->lists = ek_calloc((size_t)strata, sizeof *out->lists);
    if (!out->pair || !out->lists)
        return EK_ENOMEM;
    out->pairs = pairs;
    ek_misra_gries_list(fit->pairs, out->pair);
    for (size_t i = 0; i < pairs; i++)
        out->pair[i].key = moved(out->pair[i].key, number);
    qsort(out->pair, pairs, sizeof *out->pair, by_pair);
    for (int s = 0; s < strata; s++)
        out->lists[number[s]] += fit->lists[s];
    return EK_OK;
}

static int by_value(const void *a, const void *b)
{
    float x = ((const struct total *)a)->value, y = ((const struct total *)b)->value;
    return (x > y) - (x < y);
}

static int heaviest_first(const void *a, const void *b)
{
    const struct total *x = a, *y = b;
    int order = (x->weight < y->weight) - (x->weight > y->weight);
    return order ? order : by_value(a, b);
}

/* Sum pairs by value. Return the number of distinct values. */
static size_t sum_by_value(const struct ek_misra_gries_key *pair, size_t pairs, struct total *total)
{
    size_t n = 0;
    for (size_t i = 0; i < pairs; i++)
        total[i] = (struct total){value_of(pair[i].key), pair[i].weight, pair[i].times};
    qsort(total, pairs, sizeof *total, by_value);
    for (size_t i = 0; i < pairs; i++) {
        if (n && total[n - 1].value == total[i].value) {
            total[n - 1].weight += total[i].weight;
            total[n - 1].lists += total[i].lists;
        } else {
            total[n++] = total[i];
        }
    }
    return n;
}

static double in_lists(uint64_t weight)
{
    return (double)weight / WHOLE;
}

/* Sum the lists by stratum of the profile. Return their total. */
static double count_lists(const struct ek_category_fit *fit, const int *number, int strata,
                          double *lists)
{
    double sum = 0;
    for (int s = 0; s < strata; s++) {
        lists[number[s]] += fit->lists[s];
        sum += fit->lists[s];
    }
    return sum;
}

/* Write the `kept` heaviest values to the table in ascending order. */
static void fill_values(struct total *total, size_t kept, double lists, struct ek_category_table *t)
{
    size_t strata = (size_t)t->strata;
    qsort(total, kept, sizeof *total, by_value);
    for (size_t v = 0; v < kept; v++) {
        t->value[v] = total[v].value;
        for (size_t s = 0; s < strata; s++)
            t->share[v * strata + s] = (float)fmin(in_lists(total[v].weight) / lists, 1);
    }
}

/* Compute the fractions by stratum, if the profile has strata, and the known weight of each
 * stratum's lists. */
static void fill_strata(const struct ek_misra_gries_key *pair, size_t pairs, const int *number,
                        const struct total *total, const double *lists, struct ek_category_table *t,
                        double *known)
{
    size_t strata = (size_t)t->strata;
    for (size_t i = 0; i < pairs; i++) {
        int v = ek_category_find(t, value_of(pair[i].key)), s = number[pair[i].key >> 32];
        double weight = in_lists(pair[i].weight);
        if (v >= 0 && total[v].lists > 1)
            known[s] += weight;
        if (v >= 0 && s)
            t->share[(size_t)v * strata + (size_t)s] += (float)(weight / PRIOR);
    }
    for (size_t v = 0; v < (size_t)t->count; v++)
        for (size_t s = 1; s < strata; s++) {
            float *share = &t->share[v * strata + s];
            *share = (float)fmin((double)*share * PRIOR / (lists[s] + PRIOR), 1);
        }
}

static void fill_unknown(const double *lists, const double *known, double all,
                         struct ek_category_table *t)
{
    double sum = 0;
    for (int s = 0; s < t->strata; s++)
        sum += known[s];
    double overall = all > 0 ? fmax(1 - sum / all, 0) : 1;
    for (int s = 0; s < t->strata; s++) {
        double own = fmax(lists[s] - known[s], 0);
        t->unknown[s] = (float)fmin((own + PRIOR * overall) / (lists[s] + PRIOR), 1);
    }
    if (t->strata > 1)
        t->unknown[0] = (float)overall;
}

static int fill(const struct ek_category_fit *fit, const int *number, int strata,
                struct ek_misra_gries_key *pair, struct total *total, double *lists,
                struct ek_category_table *t)
{
    size_t pairs = ek_misra_gries_count(fit->pairs), most = EK_CATEGORY_CELLS_MAX / (size_t)strata;
    ek_misra_gries_list(fit->pairs, pair);
    size_t values = sum_by_value(pair, pairs, total), kept = values < most ? values : most;
    if (kept > EK_CATEGORIES_MAX)
        kept = EK_CATEGORIES_MAX;
    if (ek_category_table_init(t, (int)kept, strata))
        return EK_ENOMEM;
    double all = count_lists(fit, number, strata, lists);
    qsort(total, values, sizeof *total, heaviest_first);
    fill_values(total, kept, all, t);
    fill_strata(pair, pairs, number, total, lists, t, lists + strata);
    fill_unknown(lists, lists + strata, all, t);
    return EK_OK;
}

int ek_category_fit_finish(const struct ek_category_fit *fit, const int *number, int strata,
                           struct ek_category_table *out)
{
    size_t pairs = ek_misra_gries_count(fit->pairs);
    struct ek_misra_gries_key *pair = ek_calloc(pairs, sizeof *pair);
    struct total *total = ek_calloc(pairs, sizeof *total);
    double *lists = ek_calloc(2 * (size_t)strata, sizeof *lists);
    int rc = EK_ENOMEM;
    if (pair && total && lists)
        rc = fill(fit, number, strata, pair, total, lists, out);
    ek_free(pair);
    ek_free(total);
    ek_free(lists);
    return rc;
}
