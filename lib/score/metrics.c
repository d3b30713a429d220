#include "score/metrics.h"

#include "base/parse.h"
#include "base/portable.h"
#include "base/sort.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum ek_metric_kind kind;
    int cutoff_may, cutoff_must;
} METRICS[] = {
    {"ndcg", EK_NDCG, 1, 0}, {"map", EK_MAP, 0, 0}, {"p", EK_PRECISION, 1, 1},
    {"err", EK_ERR, 1, 0},   {"mrr", EK_MRR, 0, 0},
};
enum { METRIC_COUNT = sizeof METRICS / sizeof *METRICS };

int ek_metric_parse(const char *text, struct ek_metric *out, struct ek_error *e)
{
    const char *at = strchr(text, '@');
    size_t length = at ? (size_t)(at - text) : strlen(text);
    uint64_t cutoff = 0;
    if (at && (ek_parse_u64(at + 1, EK_WHOLE, &cutoff) || !cutoff || cutoff > INT_MAX))
        return ek_fail(e, EK_EUSAGE, "cut-off of metric '%s' is not a positive number", text);
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (strlen(METRICS[i].name) != length || strncmp(METRICS[i].name, text, length) != 0)
            continue;
        if (at && !METRICS[i].cutoff_may)
            return ek_fail(e, EK_EUSAGE, "metric '%s' takes no cut-off (ndcg, err and p do)",
                           METRICS[i].name);
        if (!at && METRICS[i].cutoff_must)
            return ek_fail(e, EK_EUSAGE, "metric '%s' needs a cut-off, as in '%s@5'", text, text);
        out->kind = METRICS[i].kind;
        out->cutoff = (int)cutoff;
        return EK_OK;
    }
    return ek_fail(e, EK_EUSAGE,
                   "unknown metric '%s', known are ndcg, ndcg@K, err, err@K, p@K, map, mrr", text);
}

double ek_score_key(double score)
{
    return isnan(score) ? -INFINITY : score;
}

static int better_first(const void *a, const void *b, void *context)
{
    const double *scores = context;
    int i = *(const int *)a, j = *(const int *)b;
    double x = ek_score_key(scores[i]), y = ek_score_key(scores[j]);
    if (x != y)
        return x > y ? -1 : 1;
    if (isnan(scores[i]) != isnan(scores[j]))
        return isnan(scores[i]) ? 1 : -1;
    return (i > j) - (i < j);
}

void ek_rank(const double *scores, int n, int *order)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    ek_sort_with(order, (size_t)n, sizeof *order, better_first, (void *)(uintptr_t)scores);
}

static double gain_of(float label, enum ek_gain gain)
{
    return gain == EK_GAIN_EXP ? exp2((double)label) - 1 : (double)label;
}

static double ndcg(enum ek_gain gain, const int *order, const float *label, int n, int depth,
                   double *scratch)
{
    double dcg = 0, ideal = 0;
    for (int i = 0; i < n; i++)
        scratch[i] = gain_of(label[i], gain);
    for (int r = 0; r < depth; r++)
        dcg += scratch[order[r]] / log2(r + 2);
    ek_sort_doubles_descending(scratch, (size_t)n);
    for (int r = 0; r < depth; r++)
        ideal += scratch[r] / log2(r + 2);
    return ideal > 0 ? dcg / ideal : NAN;
}

static double average_precision(const int *order, const float *label, int n)
{
    double sum = 0;
    int found = 0;
    for (int r = 0; r < n; r++)
        if (label[order[r]] >= 1)
            sum += (double)++found / (r + 1);
    return sum / found;
}

static double precision(const int *order, const float *label, int depth, int cutoff)
{
    int found = 0;
    for (int r = 0; r < depth; r++)
        found += label[order[r]] >= 1;
    return (double)found / cutoff;
}

static double expected_reciprocal_rank(const int *order, const float *label, int depth,
                                       double max_label)
{
    double sum = 0, go_on = 1;
    for (int r = 0; r < depth; r++) {
        double stop = gain_of(label[order[r]], EK_GAIN_EXP) / exp2(max_label);
        sum += go_on * stop / (r + 1);
        go_on *= 1 - stop;
    }
    return sum;
}

static double reciprocal_rank(const int *order, const float *label, int n)
{
    for (int r = 0; r < n; r++)
        if (label[order[r]] >= 1)
            return 1.0 / (r + 1);
    return NAN;
}

double ek_metric_compute(struct ek_metric metric, enum ek_gain gain, const int *order,
                         const float *label, int n, double max_label, double *scratch)
{
    int depth = metric.cutoff && metric.cutoff < n ? metric.cutoff : n;
    if (metric.kind == EK_NDCG)
        return ndcg(gain, order, label, n, depth, scratch);
    if (isnan(reciprocal_rank(order, label, n)))
        return NAN;
    switch (metric.kind) {
    case EK_MAP:
        return average_precision(order, label, n);
    case EK_PRECISION:
        return precision(order, label, depth, metric.cutoff);
    case EK_ERR:
        return expected_reciprocal_rank(order, label, depth, max_label);
    default:
        return reciprocal_rank(order, label, n);
    }
}

void ek_metric_add(struct ek_metric_mean *m, double value, enum ek_empty empty)
{
    m->lists++;
    if (isnan(value)) {
        if (empty == EK_EMPTY_SKIP)
            return;
        value = empty == EK_EMPTY_1;
    }
    m->sum += value;
    m->count++;
}

double ek_metric_result(const struct ek_metric_mean *m)
{
    return m->count ? m->sum / (double)m->count : NAN;
}
