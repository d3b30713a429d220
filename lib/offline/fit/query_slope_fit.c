#include "offline/fit/query_slope_fit.h"

#include "base/alloc.h"
#include "num/bet_bins.h"
#include "num/ln.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = EK_SLOPE_QUERIES_MAX,
    LISTS_MIN = 2048,
    SIDE = MOST + 1, /* of the matrix of cross products; the last column is the level */
};
static const double COVERED_MIN = .99;   /* fraction of lists that must have a value */
static const double VARIANCE_MIN = 1e-4; /* of ln of a query feature */
static const double T_MIN = 20;          /* of a slope by its error, before dependence */
static const double COLLINEAR = .05;     /* least variance that other query features leave */
static const double HALVES_MOST = .25;   /* difference of the slopes of the halves, relative */
static const double MARGIN_LN = .1;      /* by which lists may leave the range of training */
static const double RANGE_BEYOND = .001; /* fraction of the lists beyond each end of a range */

struct ek_query_slope_fit {
    int item_features;
    int count;       /* columns */
    int query[MOST]; /* query feature of each column */
    size_t queries, capacity;
    float (*ln)[MOST]; /* [capacity] NaN: not positive and finite */
    bool usable[MOST]; /* after _prepare */
    double mean[MOST], sd[MOST], low[MOST], high[MOST];
    int strata;
    double (*sum)[SIDE]; /* [strata] scratch */
    double *lists;       /* [strata] scratch */
};

int ek_query_slope_fit_new(struct ek_query_slope_fit **out, const struct ek_manifest *m)
{
    struct ek_query_slope_fit *fit = ek_calloc(1, sizeof *fit);
    if (!fit)
        return EK_ENOMEM;
    fit->item_features = m->item_count;
    for (int i = 0; i < m->query_count && fit->count < MOST; i++)
        if (m->query[i]->type != EK_TYPE_CATEGORY)
            fit->query[fit->count++] = i;
    *out = fit;
    return EK_OK;
}

void ek_query_slope_fit_free(struct ek_query_slope_fit *fit)
{
    if (!fit)
        return;
    ek_free(fit->ln);
    ek_free(fit->sum);
    ek_free(fit->lists);
    ek_free(fit);
}

int ek_query_slope_fit_add(struct ek_query_slope_fit *fit, const struct ek_list *q)
{
    double ln[MOST];
    if (fit->queries == fit->capacity) {
        size_t more = fit->capacity ? 2 * fit->capacity : 1024;
        float(*larger)[MOST] = ek_realloc(fit->ln, more, sizeof *larger);
        if (!larger)
            return EK_ENOMEM;
        fit->ln = larger;
        fit->capacity = more;
    }
    for (int c = 0; c < fit->count; c++) {
        float x = q->query[fit->query[c]];
        ln[c] = isnormal(x) && x > 0 ? (double)x : 1;
    }
    ek_ln_compute(ln, ln, (size_t)fit->count);
    for (int c = 0; c < fit->count; c++) {
        float x = q->query[fit->query[c]];
        fit->ln[fit->queries][c] = isnormal(x) && x > 0 ? (float)ln[c] : NAN;
    }
    fit->queries++;
    return EK_OK;
}

/* Measure one column. */
static void measure(struct ek_query_slope_fit *fit, int c)
{
    double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;
    size_t n = 0;
    for (size_t q = 0; q < fit->queries; q++) {
        double x = (double)fit->ln[q][c];
        if (isnan(x))
            continue;
        n++;
        sum += x;
        squares += x * x;
        low = fmin(low, x);
        high = fmax(high, x);
    }
    double mean = n ? sum / (double)n : 0;
    double variance = n ? fmax(squares / (double)n - mean * mean, 0) : 0;
    fit->mean[c] = mean;
    fit->sd[c] = sqrt(variance);
    fit->low[c] = low - MARGIN_LN;
    fit->high[c] = high + MARGIN_LN;
    fit->usable[c] = n >= LISTS_MIN && (double)n >= COVERED_MIN * (double)fit->queries &&
                     variance >= VARIANCE_MIN;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Set the range of one column, from its quantiles, unless few lists have a value. */
static void add_range(const struct ek_query_slope_fit *fit, int c, float *scratch,
                      struct ek_query_ranges *out)
{
    size_t n = 0;
    for (size_t q = 0; q < fit->queries; q++)
        if (!isnan(fit->ln[q][c]))
            scratch[n++] = fit->ln[q][c];
    if (n < LISTS_MIN)
        return;
    qsort(scratch, n, sizeof *scratch, compare_floats);
    size_t beyond = (size_t)(RANGE_BEYOND * (double)n);
    out->query[out->count] = fit->query[c];
    out->low[out->count] = expf(scratch[beyond] - (float)MARGIN_LN);
    out->high[out->count] = expf(scratch[n - 1 - beyond] + (float)MARGIN_LN);
    out->count++;
}

int ek_query_slope_fit_ranges(const struct ek_query_slope_fit *fit, struct ek_query_ranges *out)
{
    float *scratch = ek_calloc(fit->queries, sizeof *scratch);
    if (!scratch)
        return EK_ENOMEM;
    *out = (struct ek_query_ranges){0};
    for (int c = 0; c < fit->count; c++)
        add_range(fit, c, scratch, out);
    ek_free(scratch);
    return EK_OK;
}

int ek_query_slope_fit_prepare(struct ek_query_slope_fit *fit, int strata)
{
    for (int c = 0; c < fit->count; c++)
        measure(fit, c);
    fit->strata = strata;
    fit->sum = ek_calloc((size_t)strata, sizeof *fit->sum);
    fit->lists = ek_calloc((size_t)strata, sizeof *fit->lists);
    return fit->sum && fit->lists ? EK_OK : EK_ENOMEM;
}

/* Set row to the columns of a list and its level, 0 for columns out of use. Return false if a value
 * is missing. */
static bool fill_row(const struct ek_query_slope_fit *fit, const bool *use, const double *x,
                     size_t q, double row[SIDE])
{
    for (int c = 0; c < MOST; c++) {
        row[c] = c < fit->count && use[c] ? (double)fit->ln[q][c] - fit->mean[c] : 0;
        if (isnan(row[c]))
            return false;
    }
    row[MOST] = x[q];
    return !isnan(x[q]);
}

/* Cross products of lists first .. end - 1 within strata. Return the number of lists. */
static double sum_products(struct ek_query_slope_fit *fit, const bool *use, const double *x,
                           const int *stratum, size_t first, size_t end, double s[SIDE][SIDE])
{
    double row[SIDE], n = 0;
    memset(s, 0, SIDE * sizeof *s);
    memset(fit->sum, 0, (size_t)fit->strata * sizeof *fit->sum);
    memset(fit->lists, 0, (size_t)fit->strata * sizeof *fit->lists);
    for (size_t q = first; q < end; q++) {
        if (!fill_row(fit, use, x, q, row))
            continue;
        n++;
        fit->lists[stratum[q]]++;
        for (int i = 0; i < SIDE; i++) {
            fit->sum[stratum[q]][i] += row[i];
            for (int j = 0; row[i] != 0 && j <= i; j++)
                s[i][j] += row[i] * row[j];
        }
    }
    for (int k = 0; k < fit->strata; k++)
        for (int i = 0; fit->lists[k] > 0 && i < SIDE; i++)
            for (int j = 0; j <= i; j++)
                s[i][j] -= fit->sum[k][i] * fit->sum[k][j] / fit->lists[k];
    for (int i = 0; i < SIDE; i++)
        for (int j = i + 1; j < SIDE; j++)
            s[i][j] = s[j][i];
    return n;
}

/* Sweep column k: it becomes a regressor of the others (Beaton 1964). */
static void sweep(double s[SIDE][SIDE], int k)
{
    double pivot = s[k][k];
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; i != k && j < SIDE; j++)
            if (j != k)
                s[i][j] -= s[i][k] * s[k][j] / pivot;
    for (int i = 0; i < SIDE; i++)
        if (i != k) {
            s[i][k] /= pivot;
            s[k][i] /= pivot;
        }
    s[k][k] = -1 / pivot;
}

/* Return the column whose slope explains most and counts, or -1. */
static int find_best(const struct ek_query_slope_fit *fit, const bool *use, const bool *in,
                     const double *own, double s[SIDE][SIDE], double lists)
{
    int best = -1;
    double most = 0;
    for (int c = 0; c < fit->count; c++) {
        if (!use[c] || in[c] || s[c][c] <= COLLINEAR * own[c])
            continue;
        double slope = s[c][MOST] / s[c][c], explained = slope * s[c][MOST];
        double left = fmax(s[MOST][MOST] - explained, 1e-12 * lists);
        if (explained <= most || explained * lists < T_MIN * T_MIN * left ||
            fabs(slope) * fit->sd[c] < (double)EK_DEAD_BAND_LEVEL_LN)
            continue;
        most = explained;
        best = c;
    }
    return best;
}

/* Fit by forward selection among `use`, or with all of them. Set slope and in. Return the number of
 * lists. */
static double fit_slopes(struct ek_query_slope_fit *fit, const bool *use, bool all, const double *x,
                         const int *stratum, size_t first, size_t end, double *slope, bool *in)
{
    double s[SIDE][SIDE], own[MOST];
    double lists = sum_products(fit, use, x, stratum, first, end, s);
    memset(in, 0, MOST * sizeof *in);
    for (int c = 0; c < MOST; c++)
        own[c] = s[c][c];
    for (int c = 0; all && c < fit->count; c++)
        if (use[c] && s[c][c] > COLLINEAR * own[c] && own[c] > 0) {
            sweep(s, c);
            in[c] = true;
        }
    for (int c; !all && lists >= LISTS_MIN && (c = find_best(fit, use, in, own, s, lists)) >= 0;) {
        sweep(s, c);
        in[c] = true;
    }
    for (int c = 0; c < MOST; c++)
        slope[c] = in[c] ? s[c][MOST] : 0;
    return lists;
}

/* Remove the slopes that differ between the halves of training. Return whether any was removed. */
static bool drop_unsteady(struct ek_query_slope_fit *fit, const double *x, const int *stratum,
                          const double *slope, bool *use)
{
    double half[2][MOST];
    bool in[MOST], dropped = false;
    for (int h = 0; h < 2; h++)
        fit_slopes(fit, use, true, x, stratum, h ? fit->queries / 2 : 0,
                   h ? fit->queries : fit->queries / 2, half[h], in);
    for (int c = 0; c < fit->count; c++)
        if (use[c] && fabs(half[0][c] - half[1][c]) > HALVES_MOST * fabs(slope[c])) {
            use[c] = false;
            dropped = true;
        }
    return dropped;
}

static void subtract(const struct ek_query_slope_fit *fit, const float *slope, double *x)
{
    for (size_t q = 0; q < fit->queries; q++)
        for (int c = 0; c < fit->count; c++)
            if (slope[c] != 0)
                x[q] -= (double)slope[c] * ((double)fit->ln[q][c] - fit->mean[c]);
}

bool ek_query_slope_fit_column(struct ek_query_slope_fit *fit, double *x, const int *stratum,
                               float slope[EK_SLOPE_QUERIES_MAX])
{
    double full[MOST] = {0};
    bool use[MOST] = {0}, in[MOST] = {0}, any = false, again = true;
    memcpy(use, fit->usable, sizeof use);
    while (again) {
        fit_slopes(fit, use, false, x, stratum, 0, fit->queries, full, in);
        memcpy(use, in, sizeof use);
        again = drop_unsteady(fit, x, stratum, full, use);
    }
    for (int c = 0; c < MOST; c++) {
        slope[c] = in[c] ? (float)full[c] : 0;
        any |= slope[c] != 0;
    }
    if (any)
        subtract(fit, slope, x);
    return any;
}

/* Reduce the table to the columns in use. */
static void fill_table(const struct ek_query_slope_fit *fit, const float (*slope)[MOST],
                       struct ek_query_slopes *t)
{
    for (int c = 0; c < fit->count; c++) {
        bool used = false;
        for (int f = 0; f < fit->item_features; f++)
            used |= slope[f][c] != 0;
        if (!used)
            continue;
        int to = t->queries++, a = 0;
        t->query[to] = fit->query[c];
        t->mean[to] = (float)fit->mean[c];
        t->low[to] = (float)fit->low[c];
        t->high[to] = (float)fit->high[c];
        for (int f = 0; f < fit->item_features; f++)
            for (int i = 0; i < MOST; i++)
                if (slope[f][i] != 0) {
                    t->feature[a] = f;
                    t->slope[a++][to] = slope[f][c];
                    break;
                }
    }
}

static void take_column(const struct ek_list_stats *record, int features, int f, size_t queries,
                        double *x)
{
    for (size_t q = 0; q < queries; q++) {
        const struct ek_list_stats *o = &record[q * (size_t)features + (size_t)f];
        x[q] = o->usable ? (double)o->r : NAN;
    }
}

/* Lists without a level relative to the query have none. */
static void put_column(struct ek_list_stats *record, int features, int f, size_t queries,
                       const double *x)
{
    for (size_t q = 0; q < queries; q++) {
        struct ek_list_stats *o = &record[q * (size_t)features + (size_t)f];
        o->r = (float)x[q];
        if (isnan(x[q]))
            ek_list_stats_remove_level(o);
    }
}

int ek_query_slope_fit_finish(struct ek_query_slope_fit *fit, struct ek_list_stats *record,
                              int features, const int *stratum, struct ek_query_slopes **out)
{
    int count = 0, rc = EK_OK;
    *out = NULL;
    double *x = ek_calloc(fit->queries, sizeof *x);
    float(*slope)[MOST] = ek_calloc((size_t)fit->item_features, sizeof *slope);
    if (!x || !slope)
        rc = EK_ENOMEM;
    for (int f = 0; !rc && f < fit->item_features; f++) {
        take_column(record, features, f, fit->queries, x);
        if (!ek_query_slope_fit_column(fit, x, stratum, slope[f]))
            continue;
        count++;
        put_column(record, features, f, fit->queries, x);
    }
    if (!rc && count)
        rc = ek_query_slopes_new(out, count);
    if (!rc && count)
        fill_table(fit, (const float(*)[MOST])slope, *out);
    ek_free(x);
    ek_free(slope);
    return rc;
}
