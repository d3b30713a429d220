#include "assets/query_slopes.h"

#include "assets/feature_columns.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "num/ln.h"

#include <math.h>
#include <string.h>

enum { RANGE_COLUMNS = 3 }; /* mean, low, high */
static const float LN_MOST = 104, SLOPE_MOST = 100;

int ek_query_slopes_new(struct ek_query_slopes **out, int features)
{
    struct ek_query_slopes *t = ek_calloc(1, sizeof *t);
    if (!t)
        return EK_ENOMEM;
    t->features = features;
    t->feature = ek_calloc((size_t)features, sizeof *t->feature);
    t->slope = ek_calloc((size_t)features, sizeof *t->slope);
    if (!t->feature || !t->slope) {
        ek_query_slopes_free(t);
        return EK_ENOMEM;
    }
    *out = t;
    return EK_OK;
}

void ek_query_slopes_free(struct ek_query_slopes *t)
{
    if (!t)
        return;
    ek_free(t->feature);
    ek_free(t->slope);
    ek_free(t);
}

/* Set away [C] to the distances of the query values from their means (ln), NaN outside training. */
static void compute_distances(const struct ek_query_slopes *t, const float *query, double *away)
{
    for (int c = 0; c < t->queries; c++) {
        float x = query[t->query[c]];
        away[c] = isnormal(x) && x > 0 ? (double)x : 1;
    }
    ek_ln_compute(away, away, (size_t)t->queries);
    for (int c = 0; c < t->queries; c++) {
        float x = query[t->query[c]];
        bool known =
            isnormal(x) && x > 0 && away[c] >= (double)t->low[c] && away[c] <= (double)t->high[c];
        away[c] = known ? away[c] - (double)t->mean[c] : NAN;
    }
}

static double sum_effects(const struct ek_query_slopes *t, int a, const double *away)
{
    double shift = 0;
    for (int c = 0; c < t->queries; c++)
        if (t->slope[a][c] != 0)
            shift += (double)t->slope[a][c] * away[c];
    return shift;
}

double ek_query_slopes_of(const struct ek_query_slopes *t, const float *query, int feature)
{
    double away[EK_SLOPE_QUERIES_MAX];
    int a = t ? ek_feature_columns_find(t->feature, t->features, feature) : -1;
    if (a < 0)
        return 0;
    compute_distances(t, query, away);
    return sum_effects(t, a, away);
}

void ek_query_slopes_apply(const struct ek_query_slopes *t, const float *query,
                           struct ek_list_stats *record)
{
    double away[EK_SLOPE_QUERIES_MAX];
    compute_distances(t, query, away);
    for (int a = 0; a < t->features; a++) {
        struct ek_list_stats *o = &record[t->feature[a]];
        double shift = sum_effects(t, a, away);
        o->r = ek_residual_lowered(o->r, shift);
        if (isnan(shift))
            ek_list_stats_remove_level(o);
    }
}

uint64_t ek_query_slopes_hash(const struct ek_query_slopes *t, uint64_t seed)
{
    if (!t)
        return seed;
    size_t features = (size_t)t->features;
    uint64_t h = ek_hash(t->feature, features * sizeof *t->feature, seed);
    h = ek_hash(t->query, sizeof t->query, h);
    h = ek_hash(t->mean, sizeof t->mean, h);
    h = ek_hash(t->low, sizeof t->low, h);
    h = ek_hash(t->high, sizeof t->high, h);
    return ek_hash(t->slope, features * sizeof *t->slope, h);
}

int ek_query_slopes_write(const struct ek_query_slopes *t, struct ek_tensors *file)
{
    if (!t)
        return EK_OK;
    const size_t features = (size_t)t->features, queries = (size_t)t->queries;
    const size_t range[] = {queries, RANGE_COLUMNS}, slopes[] = {features, queries};
    struct ek_tensor *feature = ek_tensors_add(file, "slope_feature", EK_U64, 1, &features);
    struct ek_tensor *query =
        feature ? ek_tensors_add(file, "slope_query", EK_U64, 1, &queries) : NULL;
    struct ek_tensor *ln = query ? ek_tensors_add(file, "slope_query_ln", EK_F32, 2, range) : NULL;
    struct ek_tensor *slope = ln ? ek_tensors_add(file, "slope", EK_F32, 2, slopes) : NULL;
    if (!slope)
        return EK_ENOMEM;
    ek_feature_columns_write(t->feature, t->features, feature->data);
    for (int a = 0; a < t->features; a++)
        memcpy((float *)slope->data + (size_t)a * queries, t->slope[a],
               queries * sizeof t->slope[a][0]);
    for (int c = 0; c < t->queries; c++) {
        const float row[] = {t->mean[c], t->low[c], t->high[c]};
        ((uint64_t *)query->data)[c] = (uint64_t)t->query[c];
        memcpy((float *)ln->data + (size_t)c * RANGE_COLUMNS, row, sizeof row);
    }
    return EK_OK;
}

/* Copy the rows of the query features. Return false for values that no training gives. */
static bool copy_queries(struct ek_query_slopes *t, const uint64_t *query, const float *ln)
{
    for (int c = 0; c < t->queries; c++) {
        const float *row = ln + (size_t)c * RANGE_COLUMNS;
        if (query[c] > INT32_MAX || (c && query[c] <= query[c - 1]))
            return false;
        t->query[c] = (int)query[c];
        t->mean[c] = row[0];
        t->low[c] = row[1];
        t->high[c] = row[2];
        if (!(t->low[c] >= -LN_MOST && t->low[c] <= t->mean[c] && t->mean[c] <= t->high[c] &&
              t->high[c] <= LN_MOST))
            return false;
    }
    return true;
}

/* Copy the rows of the item features. Return false for values that no training gives. */
static bool copy_features(struct ek_query_slopes *t, const uint64_t *feature, const float *slope,
                          int features)
{
    if (!ek_feature_columns_read(t->feature, feature, t->features, features))
        return false;
    for (int a = 0; a < t->features; a++)
        for (int c = 0; c < t->queries; c++) {
            t->slope[a][c] = slope[(size_t)a * (size_t)t->queries + (size_t)c];
            if (!(fabsf(t->slope[a][c]) <= SLOPE_MOST))
                return false;
        }
    return true;
}

int ek_query_slopes_read(struct ek_query_slopes **out, const struct ek_tensors *file, int features,
                         struct ek_error *e)
{
    const struct ek_tensor *feature = ek_tensors_find(file, "slope_feature");
    const struct ek_tensor *query = ek_tensors_find(file, "slope_query"), *ln, *slope;
    *out = NULL;
    if (!feature)
        return EK_OK;
    if (feature->dims != 1 || feature->dtype != EK_U64 || !query || query->dims != 1 ||
        query->dtype != EK_U64 || !feature->shape[0] || feature->shape[0] > (size_t)features ||
        !query->shape[0] || query->shape[0] > EK_SLOPE_QUERIES_MAX)
        return ek_fail(e, EK_EFORMAT, "the query slopes of the profile have an invalid shape");
    const size_t range[] = {query->shape[0], RANGE_COLUMNS};
    const size_t slopes[] = {feature->shape[0], query->shape[0]};
    int rc = ek_tensors_expect(file, "slope_query_ln", EK_F32, 2, range, &ln, e);
    if (!rc)
        rc = ek_tensors_expect(file, "slope", EK_F32, 2, slopes, &slope, e);
    if (rc)
        return rc;
    struct ek_query_slopes *t;
    if (ek_query_slopes_new(&t, (int)slopes[0]))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    t->queries = (int)slopes[1];
    if (!copy_queries(t, query->data, ln->data) ||
        !copy_features(t, feature->data, slope->data, features)) {
        ek_query_slopes_free(t);
        return ek_fail(e, EK_EFORMAT, "the query slopes of the profile are out of order or range");
    }
    *out = t;
    return EK_OK;
}
