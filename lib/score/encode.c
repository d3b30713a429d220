#include "score/encode.h"

#include "base/alloc.h"
#include "data/query.h"
#include "num/ln.h"

#include <math.h>
#include <string.h>

static double *widen(const float *x, size_t count)
{
    double *wide = ek_calloc_aligned(count, sizeof *wide);
    for (size_t i = 0; wide && i < count; i++)
        wide[i] = (double)x[i];
    return wide;
}

static double *widen_inverse(const float *x, size_t count)
{
    double *wide = widen(x, count);
    for (size_t i = 0; wide && i < count; i++)
        wide[i] = 1 / wide[i];
    return wide;
}

/* The scratch of the routable features. */
static int init_logs(struct ek_encoder *c)
{
    size_t k = (size_t)c->model->routable_count;
    double *at = c->settled = ek_calloc_aligned(5 * k, sizeof *at);
    if (!at)
        return EK_ENOMEM;
    c->sums = (struct ek_ln_sums){at, at + k};
    c->mean = at + 2 * k;
    c->factor = at + 3 * k;
    c->log_scale = at + 4 * k;
    for (size_t i = 0; i < k; i++)
        c->log_scale[i] = EK_LN_2 / (double)c->model->log_sd[i];
    return EK_OK;
}

int ek_encoder_init(struct ek_encoder *c, const struct ek_model *m)
{
    size_t f = (size_t)m->item_features, q = (size_t)m->query_features;
    size_t k = (size_t)m->routable_count;
    memset(c, 0, sizeof *c);
    c->model = m;
    c->stride = f + 2 * k;
    c->row = ek_calloc_aligned(f > q ? f : q, sizeof *c->row);
    c->routable = ek_calloc_aligned(k, sizeof *c->routable);
    c->query = ek_calloc_aligned(q, sizeof *c->query);
    c->query_mean = widen(m->query_mean, q);
    c->query_scale = widen_inverse(m->query_sd, q);
    if (c->row && c->routable && c->query && c->query_mean && c->query_scale &&
        !ek_transformer_init(&c->transformer, m) && !init_logs(c))
        return EK_OK;
    ek_encoder_release(c);
    return EK_ENOMEM;
}

static void release_items(struct ek_encoder *c)
{
    ek_free(c->item);
    ek_free(c->octave);
    c->item = NULL;
    c->octave = NULL;
    c->capacity = 0;
}

void ek_encoder_release(struct ek_encoder *c)
{
    void *const arrays[] = {c->row,   c->routable,   c->settled,
                            c->query, c->query_mean, c->query_scale};
    release_items(c);
    ek_transformer_release(&c->transformer);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ek_free(arrays[i]);
    memset(c, 0, sizeof *c);
}

static int room_for(struct ek_encoder *c, size_t n)
{
    if (n <= c->capacity && c->item)
        return EK_OK;
    size_t want = n + n / 2 + 16, k = (size_t)c->model->routable_count;
    release_items(c);
    c->item = ek_calloc_aligned(want, c->stride * sizeof *c->item);
    c->octave = ek_calloc_aligned(want, k * sizeof *c->octave);
    if (!c->item || !c->octave) {
        release_items(c);
        return EK_ENOMEM;
    }
    c->capacity = want;
    return EK_OK;
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

/* The routable values of the row in hand; a copy only where they do not stand together. */
static const double *routable_row(struct ek_encoder *c)
{
    const struct ek_model *m = c->model;
    int k = m->routable_count;
    if (k && m->routable[k - 1] - m->routable[0] == k - 1)
        return c->row + m->routable[0];
    for (int i = 0; i < k; i++)
        c->routable[i] = c->row[m->routable[i]];
    return c->routable;
}

static void encode_item(struct ek_encoder *c, size_t number)
{
    size_t f = (size_t)c->model->item_features, k = (size_t)c->model->routable_count;
    float *item = c->item + number * c->stride;
    ek_transform(&c->transformer, c->row, item);
    ek_ln_take(routable_row(c),
               &(struct ek_ln_row){.octave = c->octave + number * k,
                                   .sign = item + f,
                                   .zero = item + f + k,
                                   .sums = c->sums},
               k);
}

static bool silenced(const struct ek_treatment *t, int k)
{
    return t && t[k].action == EK_ACT_SILENCE;
}

/* Means that are known beforehand, of natural logarithms. A rescaled feature is divided first. */
static void given_means(struct ek_encoder *c, const struct ek_encode_list *l)
{
    for (int k = 0; k < c->model->routable_count; k++) {
        double ln = isnan(l->log_mean[k]) ? 0 : l->log_mean[k];
        if (l->treatment && l->treatment[k].action == EK_ACT_RESCALE)
            ln -= log(l->treatment[k].value);
        c->mean[k] = ek_ln_to_octaves(ln);
    }
}

/* Where z is 0, and what it is multiplied with. */
static void settle(struct ek_encoder *c, const struct ek_encode_list *l)
{
    const struct ek_model *m = c->model;
    const struct ek_treatment *t = l->treatment;
    size_t count = (size_t)m->routable_count;
    for (size_t k = 0; m->list_free && k < count; k++)
        c->mean[k] = ek_ln_to_octaves((double)m->log_mean[k]);
    if (!m->list_free && l->log_mean)
        given_means(c, l);
    else if (!m->list_free)
        ek_ln_mean(&c->sums, c->mean, count);
    memcpy(c->factor, c->log_scale, count * sizeof *c->factor);
    for (int k = 0; t && k < m->routable_count; k++) {
        if (silenced(t, k))
            c->factor[k] = 0;
        if (t[k].action == EK_ACT_ROUTE_SPREAD)
            c->factor[k] /= t[k].value;
    }
}

/* The means of feature k over the items of each source, added up as ek_ln_take does: any split of
 * an octave into a whole number and a small rest will do. */
static void source_means(const struct ek_encoder *c, const struct ek_encode_list *l, size_t k,
                         double mean[EK_SOURCES_MAX])
{
    double whole[EK_SOURCES_MAX] = {0}, part[EK_SOURCES_MAX] = {0};
    const float *sign = c->item + c->model->item_features + k;
    for (size_t i = 0; i < (size_t)l->n; i++) {
        double octave = c->octave[i * (size_t)c->model->routable_count + k];
        if (sign[i * c->stride] == 0)
            continue;
        whole[l->source[i]] += floor(octave) + EK_LN_EACH;
        part[l->source[i]] += octave - floor(octave);
    }
    ek_ln_mean(&(struct ek_ln_sums){whole, part}, mean, (size_t)l->sources);
}

/* Centres the octaves of what is routed by source, so that their mean is 0. */
static void centre_by_source(struct ek_encoder *c, const struct ek_encode_list *l)
{
    size_t routable = (size_t)c->model->routable_count;
    for (size_t k = 0; l->treatment && k < routable; k++) {
        double mean[EK_SOURCES_MAX];
        if (l->treatment[k].action != EK_ACT_ROUTE_SOURCE)
            continue;
        source_means(c, l, k, mean);
        for (size_t i = 0; i < (size_t)l->n; i++)
            c->octave[i * routable + k] -= mean[l->source[i]];
        c->mean[k] = 0;
    }
}

static void silence_zeros(struct ek_encoder *c, size_t n, const struct ek_treatment *t)
{
    int count = c->model->routable_count;
    float *zero = c->item + c->model->item_features + count;
    for (int k = 0; k < count; k++)
        for (size_t i = 0; i < n && silenced(t, k); i++)
            zero[i * c->stride + (size_t)k] = 0;
}

int ek_encode_list(struct ek_encoder *c, const struct ek_encode_list *l)
{
    const struct ek_model *m = c->model;
    size_t features = (size_t)m->item_features, routable = (size_t)m->routable_count;
    size_t n = (size_t)l->n;
    if (room_for(c, n))
        return EK_ENOMEM;
    for (int j = 0; j < m->query_features; j++)
        c->row[j] = (double)l->query[j];
    ek_signed_ln(c->row, c->query_mean, c->query_scale, c->query, (size_t)m->query_features);
    memset(c->settled, 0, 2 * routable * sizeof *c->settled); /* the sums */
    for (size_t i = 0; i < n; i++) {
        load_row(c, l->x + i * features, l->treatment);
        encode_item(c, i);
    }
    settle(c, l);
    centre_by_source(c, l);
    for (size_t i = 0; i < n; i++)
        ek_ln_centre(c->octave + i * routable, c->mean, c->factor,
                     c->item + i * c->stride + features, routable);
    silence_zeros(c, n, l->treatment);
    return EK_OK;
}

int ek_encode(struct ek_encoder *c, const float *x, int n, const float *query,
              const struct ek_treatment *treatment)
{
    return ek_encode_list(
        c, &(struct ek_encode_list){.x = x, .n = n, .query = query, .treatment = treatment});
}
