#include "offline/train/evaluate.h"

#include "base/alloc.h"
#include "score/scorer.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Centered logs of equal values may differ by rounding: a deviation below LOG_SD_NONE is none. */
static const double SD_FLOOR = 1e-6, LOG_SD_FLOOR = 1e-3, LOG_SD_NONE = 1e-9;

/* Mean and variance by Welford's recurrence. */
struct moments {
    double mean, squares;
    size_t count;
};

static void add(struct moments *m, double x)
{
    double d = x - m->mean;
    m->mean += d / (double)++m->count;
    m->squares += d * (x - m->mean);
}

static double sd_of(const struct moments *m)
{
    return m->count ? sqrt(m->squares / (double)m->count) : 0;
}

static double signed_log1p(double x)
{
    return copysign(log1p(fabs(x)), x);
}

static struct moments column_moments(const float *x, size_t rows, size_t columns, size_t column)
{
    struct moments m = {0};
    for (size_t i = 0; i < rows; i++) {
        double v = (double)x[i * columns + column];
        if (isfinite(v))
            add(&m, signed_log1p(v));
    }
    return m;
}

static void fit_columns(const float *x, size_t rows, size_t columns, float *mean, float *sd)
{
    for (size_t f = 0; f < columns; f++) {
        struct moments m = column_moments(x, rows, columns, f);
        mean[f] = (float)m.mean;
        sd[f] = m.squares > 0 ? (float)(sd_of(&m) + SD_FLOOR) : EK_SD_UNREAD;
    }
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Collect the finite values of a feature in ascending order. */
static size_t sorted_values(const struct ek_dataset *d, size_t feature, float *values)
{
    size_t n = 0;
    for (size_t i = 0; i < d->items; i++) {
        float x = d->x[i * (size_t)d->item_features + feature];
        if (isfinite(x))
            values[n++] = x;
    }
    qsort(values, n, sizeof *values, ascending);
    return n;
}

static float median_of(const struct ek_dataset *d, size_t feature, float *scratch)
{
    size_t n = sorted_values(d, feature, scratch);
    if (!n)
        return 0;
    return (float)(((double)scratch[(n - 1) / 2] + (double)scratch[n / 2]) / 2);
}

static bool usable(double x)
{
    return isfinite(x) && x != 0;
}

/* Add the logs of one feature of one list to `level`, and the centered ones to `spread`. */
static void add_list_values(const struct ek_dataset *d, size_t list, size_t feature,
                            struct moments *level, struct moments *spread)
{
    size_t columns = (size_t)d->item_features, used = 0;
    double sum = 0;
    for (size_t i = d->offset[list]; i < d->offset[list + 1]; i++) {
        double x = (double)d->x[i * columns + feature];
        if (usable(x)) {
            add(level, log(fabs(x)));
            sum += log(fabs(x));
            used++;
        }
    }
    for (size_t i = d->offset[list]; i < d->offset[list + 1]; i++) {
        double x = (double)d->x[i * columns + feature];
        if (usable(x))
            add(spread, log(fabs(x)) - sum / (double)used);
    }
}

static struct moments log_moments(const struct ek_dataset *d, size_t feature, double *mean)
{
    struct moments level = {0}, spread = {0};
    for (size_t q = 0; q < d->lists; q++)
        add_list_values(d, q, feature, &level, &spread);
    *mean = level.mean;
    return spread;
}

/* Set *mean and *sd to log_mean and log_sd of one item feature. Return the number of values; 0
 * gives mean 0 and deviation 1. A constant feature has the smallest deviation. */
static size_t log_statistics(const struct ek_dataset *d, size_t feature, double *mean, double *sd)
{
    struct moments spread = log_moments(d, feature, mean);
    *sd = spread.count ? fmax(sd_of(&spread), LOG_SD_FLOOR) : 1;
    return spread.count;
}

static void fit_logs(struct ek_model *m, const struct ek_dataset *d)
{
    for (int k = 0; k < m->routable_count; k++) {
        double mean, sd;
        struct moments spread = log_moments(d, (size_t)m->routable[k], &mean);
        sd = sd_of(&spread);
        m->log_mean[k] = (float)mean;
        m->log_sd[k] = sd > LOG_SD_NONE ? (float)fmax(sd, LOG_SD_FLOOR) : EK_SD_UNREAD;
    }
}

static void fit_moments(const float *values, size_t n, float *mean, float *sd)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)values[i];
    double middle = n ? sum / (double)n : 0;
    for (size_t i = 0; i < n; i++)
        square += ((double)values[i] - middle) * ((double)values[i] - middle);
    double deviation = n ? sqrt(square / (double)n) : 0;
    *mean = (float)middle;
    *sd = deviation > FLT_MIN && n && values[0] < values[n - 1] ? (float)deviation : 1;
}

static void fit_knots(const float *values, size_t n, float *knot)
{
    for (size_t i = 0; i < EK_CDF_KNOTS; i++) {
        double rank = (double)i * (double)(n - 1) / (EK_CDF_KNOTS - 1);
        knot[i] = n ? values[(size_t)(rank + 0.5)] : 0;
    }
}

/* Fit the transform statistics that the model needs. Return 0, or EK_ENOMEM. */
static int transform_fit(struct ek_model *m, const struct ek_dataset *d, struct ek_error *e)
{
    if (!m->raw_mean && !m->cdf)
        return EK_OK;
    float *values = ek_calloc(d->items, sizeof *values);
    if (!values)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t f = 0; f < (size_t)m->item_features; f++) {
        size_t n = sorted_values(d, f, values);
        if (m->raw_mean)
            fit_moments(values, n, &m->raw_mean[f], &m->raw_sd[f]);
        if (m->cdf)
            fit_knots(values, n, m->cdf + f * EK_CDF_KNOTS);
    }
    ek_free(values);
    return EK_OK;
}

int ek_statistics_fit(struct ek_model *m, const struct ek_dataset *d, struct ek_error *e)
{
    float *scratch = ek_calloc(d->items, sizeof *scratch);
    if (!scratch)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    fit_columns(d->x, d->items, (size_t)d->item_features, m->item_mean, m->item_sd);
    fit_columns(d->query, d->lists, (size_t)d->query_features, m->query_mean, m->query_sd);
    for (int f = 0; f < m->item_features; f++)
        m->item_median[f] = median_of(d, (size_t)f, scratch);
    fit_logs(m, d);
    ek_free(scratch);
    return transform_fit(m, d, e);
}

struct work {
    struct ek_scorer *scorer;
    double *scores, *scratch; /* [longest] */
    int *order;               /* [longest] */
};

static int prepare(struct work *w, const struct ek_model *m, const struct ek_dataset *d,
                   struct ek_error *e)
{
    size_t longest = 0;
    memset(w, 0, sizeof *w);
    for (size_t q = 0; q < d->lists; q++)
        if (d->offset[q + 1] - d->offset[q] > longest)
            longest = d->offset[q + 1] - d->offset[q];
    w->scores = ek_calloc(longest, sizeof *w->scores);
    w->scratch = ek_calloc(longest, sizeof *w->scratch);
    w->order = ek_calloc(longest, sizeof *w->order);
    if (!w->scores || !w->scratch || !w->order)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return ek_scorer_new(&w->scorer, m, e);
}

static double highest_label(const struct ek_dataset *d)
{
    float highest = 0;
    for (size_t i = 0; i < d->items; i++)
        if (d->label[i] > highest)
            highest = d->label[i];
    return (double)highest;
}

static void release(struct work *w)
{
    ek_scorer_free(w->scorer);
    ek_free(w->scores);
    ek_free(w->scratch);
    ek_free(w->order);
}

static int add_list(struct work *w, struct ek_list *q, size_t number, struct ek_evaluation *v,
                    struct ek_error *e)
{
    int code = ek_scorer_score(w->scorer, q, v->treatment, w->scores, e);
    if (code)
        return code;
    ek_rank(w->scores, q->items, w->order);
    for (int i = 0; i < v->metric_count; i++) {
        double x = ek_metric_compute(v->metric[i], v->gain, w->order, q->label, q->items,
                                     v->max_label, w->scratch);
        ek_metric_add(&v->mean[i], x, v->empty);
        if (!i && v->of_list)
            v->of_list[number] = x;
    }
    return EK_OK;
}

/* ERR always has the gain 2^y - 1. */
static bool needs_exp(const struct ek_evaluation *v)
{
    bool needs = false;
    for (int i = 0; i < v->metric_count; i++)
        needs |=
            v->metric[i].kind == EK_ERR || (v->metric[i].kind == EK_NDCG && v->gain == EK_GAIN_EXP);
    return needs;
}

/* Metrics need labels of at least 0 (score/metrics.h). */
static int check_labels(const struct ek_dataset *d, struct ek_error *e)
{
    for (size_t q = 0; q < d->lists; q++)
        for (size_t i = d->offset[q]; i < d->offset[q + 1]; i++)
            if (!(d->label[i] >= 0))
                return ek_fail(e, EK_EUSAGE,
                               "list %zu, item %zu: a label must be a number of at least 0, not %g",
                               q + 1, i - d->offset[q] + 1, (double)d->label[i]);
    return EK_OK;
}

int ek_evaluate(const struct ek_model *m, const struct ek_dataset *d, struct ek_evaluation *v,
                struct ek_error *e)
{
    struct work w;
    int code = prepare(&w, m, d, e);
    memset(v->mean, 0, sizeof v->mean);
    v->max_label = highest_label(d);
    if (!code)
        code = check_labels(d, e);
    if (!code && v->max_label > EK_LABEL_MAX && needs_exp(v))
        code =
            ek_fail(e, EK_EUSAGE,
                    "label %g is above %g, too large for a gain of 2^y - 1; take linear gain and "
                    "metrics other than ERR, or give grades",
                    v->max_label, (double)EK_LABEL_MAX);
    for (size_t i = 0; i < d->lists && !code; i++) {
        struct ek_list q;
        ek_dataset_view(d, i, &q);
        code = add_list(&w, &q, i, v, e);
    }
    release(&w);
    return code;
}

double ek_spread_ratio(const struct ek_model *m, const struct ek_dataset *d, int k)
{
    double mean, sd;
    if (!log_statistics(d, (size_t)m->routable[k], &mean, &sd) || m->log_sd[k] >= EK_SD_UNREAD)
        return 1;
    return sd / (double)m->log_sd[k];
}
