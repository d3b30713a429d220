#include "score/encode.h"

#include "base/alloc.h"
#include "num/ln.h"

#include <float.h>
#include <math.h>
#include <string.h>

int ek_encoder_init(struct ek_encoder *c, const struct ek_model *m)
{
    size_t widest =
        (size_t)(m->item_features > m->query_features ? m->item_features : m->query_features);
    memset(c, 0, sizeof *c);
    c->model = m;
    c->row = ek_calloc_aligned(widest, sizeof *c->row);
    c->line = ek_calloc_aligned(widest, sizeof *c->line);
    c->sum = ek_calloc_aligned(2 * (size_t)m->routable_count, sizeof *c->sum);
    c->query = ek_calloc_aligned((size_t)m->query_features, sizeof *c->query);
    if (c->row && c->line && c->sum && c->query)
        return EK_OK;
    ek_encoder_release(c);
    return EK_ENOMEM;
}

static void release_items(struct ek_encoder *c)
{
    ek_free(c->deep);
    ek_free(c->z);
    ek_free(c->zero);
    ek_free(c->log);
    c->deep = c->z = c->zero = NULL;
    c->log = NULL;
    c->capacity = 0;
}

void ek_encoder_release(struct ek_encoder *c)
{
    release_items(c);
    ek_free(c->row);
    ek_free(c->line);
    ek_free(c->sum);
    ek_free(c->query);
    memset(c, 0, sizeof *c);
}

static int room_for(struct ek_encoder *c, size_t n)
{
    if (n <= c->capacity && c->deep)
        return EK_OK;
    size_t want = n + n / 2 + 16, k = (size_t)c->model->routable_count;
    release_items(c);
    c->deep = ek_calloc_aligned(want, (size_t)c->model->item_features * sizeof *c->deep);
    c->z = ek_calloc_aligned(want, k * sizeof *c->z);
    c->zero = ek_calloc_aligned(want, k * sizeof *c->zero);
    c->log = ek_calloc_aligned(want, k * sizeof *c->log);
    if (!c->deep || !c->z || !c->zero || !c->log) {
        release_items(c);
        return EK_ENOMEM;
    }
    c->capacity = want;
    return EK_OK;
}

/* out = (sgn(x) ln(1+|x|) - mean) / sd, 0 where x is not finite. `line` is scratch. */
static void standardise(const double *x, int count, const float *mean, const float *sd,
                        double *line, float *out)
{
    for (int f = 0; f < count; f++) {
        double a = fabs(x[f]);
        line[f] = a <= DBL_MAX ? 1 + a : 1;
    }
    ek_ln_of(line, line, (size_t)count);
    for (int f = 0; f < count; f++) {
        double t = (copysign(line[f], x[f]) - (double)mean[f]) / (double)sd[f];
        out[f] = fabs(x[f]) <= DBL_MAX ? (float)t : 0;
    }
}

/* Logs and zero indicators of one item; adds to the sums. */
static void take_logs(struct ek_encoder *c, double *log, float *zero)
{
    int count = c->model->routable_count;
    const int *routable = c->model->routable;
    double *sum = c->sum, *usable = c->sum + count;
    for (int k = 0; k < count; k++) {
        double a = fabs(c->row[routable[k]]);
        c->line[k] = a >= DBL_MIN && a <= DBL_MAX ? a : 1;
        zero[k] = a == 0;
    }
    ek_ln_of(c->line, log, (size_t)count);
    for (int k = 0; k < count; k++) {
        double a = fabs(c->row[routable[k]]);
        int use = a >= DBL_MIN && a <= DBL_MAX;
        sum[k] += log[k]; /* ln 1 = 0 where not usable */
        usable[k] += use;
        log[k] = use ? log[k] : NAN;
    }
}

/* The factor that z of a feature is multiplied with: 0 silences it. */
static double z_factor(const struct ek_model *m, const struct ek_treatment *t, int k)
{
    double factor = 1 / (double)m->log_sd[k];
    if (t && t[k].action == EK_ACT_SILENCE)
        return 0;
    if (t && t[k].action == EK_ACT_ROUTE_SPREAD)
        return factor / t[k].value;
    return factor;
}

/* Turns the sums into means and factors, in place. */
static void settle(struct ek_encoder *c, const struct ek_treatment *t)
{
    const struct ek_model *m = c->model;
    double *mean = c->sum, *factor = c->sum + m->routable_count;
    for (int k = 0; k < m->routable_count; k++) {
        mean[k] = factor[k] > 0 ? mean[k] / factor[k] : 0;
        if (m->list_free)
            mean[k] = (double)m->log_mean[k];
        factor[k] = z_factor(m, t, k);
    }
}

static void centre(struct ek_encoder *c, const float *x, size_t item)
{
    const struct ek_model *m = c->model;
    int count = m->routable_count;
    const double *mean = c->sum, *factor = c->sum + count, *log = c->log + item * (size_t)count;
    float *z = c->z + item * (size_t)count, *zero = c->zero + item * (size_t)count;
    for (int k = 0; k < count; k++) {
        double v = copysign(1, (double)x[m->routable[k]]) * (log[k] - mean[k]) * factor[k];
        z[k] = isnan(v) ? 0 : (float)v;
        zero[k] = factor[k] > 0 ? zero[k] : 0;
    }
}

static void load_row(struct ek_encoder *c, const float *x, const struct ek_treatment *t)
{
    const struct ek_model *m = c->model;
    for (int f = 0; f < m->item_features; f++)
        c->row[f] = (double)x[f];
    for (int k = 0; t && k < m->routable_count; k++)
        if (t[k].action == EK_ACT_RESCALE)
            c->row[m->routable[k]] /= t[k].value;
}

int ek_encode(struct ek_encoder *c, const float *x, int n, const float *query,
              const struct ek_treatment *treatment)
{
    const struct ek_model *m = c->model;
    size_t features = (size_t)m->item_features, routable = (size_t)m->routable_count;
    if (room_for(c, (size_t)n))
        return EK_ENOMEM;
    for (int j = 0; j < m->query_features; j++)
        c->row[j] = (double)query[j];
    standardise(c->row, m->query_features, m->query_mean, m->query_sd, c->line, c->query);
    memset(c->sum, 0, 2 * routable * sizeof *c->sum);
    for (size_t i = 0; i < (size_t)n; i++) {
        load_row(c, x + i * features, treatment);
        standardise(c->row, m->item_features, m->item_mean, m->item_sd, c->line,
                    c->deep + i * features);
        take_logs(c, c->log + i * routable, c->zero + i * routable);
    }
    settle(c, treatment);
    for (size_t i = 0; i < (size_t)n; i++)
        centre(c, x + i * features, i);
    return EK_OK;
}
