#include "score/encode.h"

#include "base/alloc.h"
#include "lists/list.h"
#include "num/ln.h"

#include <float.h>
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

static int init_logs(struct ek_encoder *c)
{
    size_t k = (size_t)c->model->routable_count;
    double *at = c->settled = ek_calloc_aligned(3 * k, sizeof *at);
    if (!at)
        return EK_ENOMEM;
    c->mean = at;
    c->factor = at + k;
    c->log_scale = at + 2 * k;
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
    c->query = ek_calloc_aligned(q, sizeof *c->query);
    c->query_mean = widen(m->query_mean, q);
    c->query_scale = widen_inverse(m->query_sd, q);
    if (c->query && c->query_mean && c->query_scale && !ek_transformer_init(&c->transformer, m) &&
        !init_logs(c))
        return EK_OK;
    ek_encoder_release(c);
    return EK_ENOMEM;
}

static void release_items(struct ek_encoder *c)
{
    ek_free(c->item);
    ek_free(c->x);
    ek_free(c->octave);
    c->item = c->x = NULL;
    c->octave = NULL;
    c->capacity = 0;
}

void ek_encoder_release(struct ek_encoder *c)
{
    void *const arrays[] = {c->settled, c->query, c->query_mean, c->query_scale};
    release_items(c);
    ek_transformer_release(&c->transformer);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ek_free(arrays[i]);
    memset(c, 0, sizeof *c);
}

static int reserve_for(struct ek_encoder *c, size_t n)
{
    if (n <= c->capacity && c->item)
        return EK_OK;
    size_t want = n + n / 2 + 16, features = (size_t)c->model->item_features;
    release_items(c);
    c->item = ek_calloc_aligned(want, c->stride * sizeof *c->item);
    c->x = ek_calloc_aligned(want, (features > 3 ? features : 3) * sizeof *c->x);
    c->octave = ek_calloc_aligned(want, 2 * EK_LN_LANES_MAX * sizeof *c->octave);
    if (!c->item || !c->x || !c->octave) {
        release_items(c);
        return EK_ENOMEM;
    }
    c->capacity = want;
    return EK_OK;
}

static bool rescaled(const struct ek_treatment *t, size_t k)
{
    return t && t[k].action == EK_ACT_REPAIR;
}

static bool any_rescaled(const struct ek_encoder *c, const struct ek_treatment *t)
{
    size_t k = 0, count = (size_t)c->model->routable_count;
    while (k < count && !rescaled(t, k))
        k++;
    return k < count;
}

/* Clamp an overflow to the largest float, because an infinity would count as missing. */
static void rescale(float *x, size_t items, size_t stride, double divisor)
{
    for (size_t i = 0; i < items; i++, x += stride)
        if (isfinite(*x))
            *x = (float)fmax(fmin((double)*x / divisor, FLT_MAX), -FLT_MAX);
}

/* Return the values for the deep part: those of the list, or a rescaled copy. */
static const float *values_of(struct ek_encoder *c, const struct ek_encode_list *l)
{
    const struct ek_model *m = c->model;
    size_t features = (size_t)m->item_features, n = (size_t)l->n;
    if (!any_rescaled(c, l->treatment))
        return l->x;
    memcpy(c->x, l->x, n * features * sizeof *c->x);
    for (size_t k = 0; k < (size_t)m->routable_count; k++)
        if (rescaled(l->treatment, k))
            rescale(c->x + m->routable[k], n, features, l->treatment[k].value);
    return c->x;
}

/* Return the routable values, *stride apart. Copies only if they are not contiguous. */
static const float *routable_of(struct ek_encoder *c, const struct ek_encode_list *l,
                                size_t *stride)
{
    const struct ek_model *m = c->model;
    size_t count = (size_t)m->routable_count;
    *stride = (size_t)m->item_features;
    if (count && m->routable[count - 1] - m->routable[0] == m->routable_count - 1)
        return l->x + m->routable[0];
    for (size_t i = 0; i < (size_t)l->n; i++)
        for (size_t k = 0; k < count; k++)
            c->x[i * count + k] = l->x[i * *stride + (size_t)m->routable[k]];
    *stride = count;
    return c->x;
}

static bool silenced(const struct ek_treatment *t, size_t k)
{
    return t && t[k].action == EK_ACT_BLANK;
}

/* Set known means, converted from natural logarithms to octaves. Return whether they are known. */
static bool provided_means(struct ek_encoder *c, const struct ek_encode_list *l)
{
    const struct ek_model *m = c->model;
    for (size_t k = 0; k < (size_t)m->routable_count && (m->list_free || l->log_mean); k++) {
        double ln = m->list_free ? (double)m->log_mean[k] : l->log_mean[k];
        if (m->list_free && rescaled(l->treatment, k))
            ln += log(l->treatment[k].value);
        c->mean[k] = isnan(ln) ? 0 : ek_ln_to_octaves(ln);
    }
    return m->list_free || l->log_mean;
}

static void prepare_factors(struct ek_encoder *c, const struct ek_treatment *t)
{
    size_t count = (size_t)c->model->routable_count;
    memcpy(c->factor, c->log_scale, count * sizeof *c->factor);
    for (size_t k = 0; t && k < count; k++) {
        if (silenced(t, k))
            c->factor[k] = 0;
        if (t[k].action == EK_ACT_ROUTE_NORMALIZED)
            c->factor[k] /= t[k].value;
    }
}

static void centre_source(struct ek_encoder *c, const struct ek_encode_list *l, size_t k,
                          int source)
{
    const struct ek_model *m = c->model;
    size_t n = 0, features = (size_t)m->item_features, room = c->capacity;
    float *z = c->x + room, *zero = z + room;
    double mean;
    for (size_t i = 0; i < (size_t)l->n; i++)
        if (l->source[i] == source)
            c->x[n++] = l->x[i * features + (size_t)m->routable[k]];
    ek_ln_center(&(struct ek_ln_list){.rows = {c->x, z, 1, 1, n, 1},
                                      .zero = zero,
                                      .scale = c->factor + k,
                                      .mean = &mean,
                                      .octave = c->octave});
    for (size_t i = (size_t)l->n; i-- > 0;)
        if (l->source[i] == source)
            c->item[i * c->stride + features + k] = z[--n];
}

static void centre_by_source(struct ek_encoder *c, const struct ek_encode_list *l)
{
    for (size_t k = 0; l->treatment && k < (size_t)c->model->routable_count; k++)
        for (int s = 0; l->treatment[k].action == EK_ACT_ROUTE_PER_SOURCE && s < l->sources; s++)
            centre_source(c, l, k, s);
}

static void silence_zeros(struct ek_encoder *c, size_t n, const struct ek_treatment *t)
{
    size_t count = (size_t)c->model->routable_count;
    float *zero = c->item + c->model->item_features + count;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < n && silenced(t, k); i++)
            zero[i * c->stride + k] = 0;
}

static void encode_query(struct ek_encoder *c, const float *query)
{
    size_t count = (size_t)c->model->query_features;
    ek_signed_ln(&(struct ek_ln_rows){query, c->query, count, count, 1, count}, c->query_mean,
                 c->query_scale);
}

int ek_encode_list(struct ek_encoder *c, const struct ek_encode_list *l)
{
    const struct ek_model *m = c->model;
    size_t features = (size_t)m->item_features, routable = (size_t)m->routable_count;
    size_t n = (size_t)l->n, stride;
    if (reserve_for(c, n))
        return EK_ENOMEM;
    encode_query(c, l->query);
    ek_transform(&c->transformer, values_of(c, l), n, c->item, c->stride);
    prepare_factors(c, l->treatment);
    const float *x = routable_of(c, l, &stride);
    float *z = c->item + features;
    c->has_zeros = ek_ln_center(&(struct ek_ln_list){.rows = {x, z, stride, c->stride, n, routable},
                                                     .zero = z + routable,
                                                     .scale = c->factor,
                                                     .mean = c->mean,
                                                     .given = provided_means(c, l),
                                                     .octave = c->octave});
    centre_by_source(c, l);
    silence_zeros(c, n, l->treatment);
    return EK_OK;
}

int ek_encode(struct ek_encoder *c, const float *x, int n, const float *query,
              const struct ek_treatment *treatment)
{
    return ek_encode_list(
        c, &(struct ek_encode_list){.x = x, .n = n, .query = query, .treatment = treatment});
}
