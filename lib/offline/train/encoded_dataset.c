#include "offline/train/encoded_dataset.h"

#include "base/alloc.h"
#include "offline/train/evaluate.h"

#include <string.h>

static int allocate(struct ek_encoded *c, bool mixes)
{
    const struct ek_dataset *d = c->data;
    c->item = ek_calloc(d->items, c->stride * sizeof *c->item);
    c->query = ek_calloc(d->lists, c->queries * sizeof *c->query);
    if (mixes)
        c->part = ek_calloc(d->items * c->features, EK_TRANSFORM_PARTS * sizeof *c->part);
    return c->item && c->query && (!mixes || c->part) ? EK_OK : EK_ENOMEM;
}

static int encode_list(struct ek_encoded *c, struct ek_encoder *encoder, size_t q)
{
    const struct ek_dataset *d = c->data;
    size_t first = d->offset[q], n = d->offset[q + 1] - first;
    if (ek_encode(encoder, d->x + first * c->features, (int)n, d->query + q * c->queries, NULL))
        return EK_ENOMEM;
    memcpy(c->item + first * c->stride, encoder->item, n * c->stride * sizeof *c->item);
    memcpy(c->query + q * c->queries, encoder->query, c->queries * sizeof *c->query);
    if (n > c->longest)
        c->longest = n;
    return EK_OK;
}

void ek_encoded_parts(struct ek_encoder *encoder, const float *x, size_t items, float *part)
{
    size_t features = (size_t)encoder->model->item_features;
    for (size_t i = 0; i < items; i++)
        ek_transform_parts(&encoder->transformer, x + i * features,
                           part + i * features * EK_TRANSFORM_PARTS);
}

int ek_encoded_init(struct ek_encoded *c, const struct ek_model *m, const struct ek_dataset *d,
                    struct ek_error *e)
{
    struct ek_encoder encoder;
    memset(c, 0, sizeof *c);
    c->data = d;
    c->features = (size_t)m->item_features;
    c->queries = (size_t)m->query_features;
    c->stride = c->features + 2 * (size_t)m->routable_count;
    int code = ek_encoder_init(&encoder, m);
    if (!code)
        code = allocate(c, m->transform == EK_TRANSFORM_MIXTURE);
    for (size_t q = 0; q < d->lists && !code; q++)
        code = encode_list(c, &encoder, q);
    if (!code && c->part)
        ek_encoded_parts(&encoder, d->x, d->items, c->part);
    ek_encoder_release(&encoder);
    if (!code)
        return EK_OK;
    ek_encoded_release(c);
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

void ek_encoded_release(struct ek_encoded *c)
{
    ek_free(c->item);
    ek_free(c->query);
    ek_free(c->part);
    memset(c, 0, sizeof *c);
}

struct ek_network_list ek_encoded_list(const struct ek_encoded *c, size_t q, const float *mask)
{
    size_t first = c->data->offset[q];
    return (struct ek_network_list){
        .items = c->data->offset[q + 1] - first,
        .item = c->item + first * c->stride,
        .query = c->query + q * c->queries,
        .mask = mask,
        .part = c->part ? c->part + first * c->features * EK_TRANSFORM_PARTS : NULL};
}

static void mark(float *to, const float *sd, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = sd[i] < EK_SD_UNREAD ? 1 : 0;
}

/* Return true if some values of a feature are 0 and others, or missing values, are not. */
static bool zeros_differ(const struct ek_dataset *d, size_t feature)
{
    size_t columns = (size_t)d->item_features, zeros = 0;
    for (size_t i = 0; i < d->items; i++)
        zeros += d->x[i * columns + feature] == 0;
    return zeros && zeros < d->items;
}

int ek_input_usage_find(struct ek_input_usage *v, const struct ek_model *m,
                        const struct ek_dataset *d, struct ek_error *e)
{
    size_t items = (size_t)m->item_features, queries = (size_t)m->query_features;
    size_t routable = (size_t)m->routable_count;
    v->item = ek_calloc(items, sizeof *v->item);
    v->query = ek_calloc(queries, sizeof *v->query);
    v->log = ek_calloc(routable, sizeof *v->log);
    v->zero = ek_calloc(routable, sizeof *v->zero);
    if (!v->item || !v->query || !v->log || !v->zero) {
        ek_input_usage_release(v);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    mark(v->item, m->item_sd, items);
    mark(v->query, m->query_sd, queries);
    mark(v->log, m->log_sd, routable);
    for (size_t k = 0; k < routable; k++)
        v->zero[k] = zeros_differ(d, (size_t)m->routable[k]);
    return EK_OK;
}

void ek_input_usage_release(struct ek_input_usage *v)
{
    ek_free(v->item);
    ek_free(v->query);
    ek_free(v->log);
    ek_free(v->zero);
    memset(v, 0, sizeof *v);
}

/* Set the columns of [at, at + count) without usage to 0, in rows [rows, stride]. */
static void mark_used(float *row, size_t rows, size_t stride, size_t at, const float *kept,
                      size_t count)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < count; i++)
            if (!(kept[i] > 0))
                row[r * stride + at + i] = 0;
}

void ek_input_usage_prune(const struct ek_input_usage *v, struct ek_model *m)
{
    size_t items = (size_t)m->item_features, queries = (size_t)m->query_features;
    size_t routable = (size_t)m->routable_count, gate = (size_t)m->gate_size;
    size_t stride = (size_t)m->deep_inputs, units = m->hidden_count ? (size_t)m->hidden[0] : 1;
    size_t logs = items + queries + (m->mask_input ? routable : 0);
    mark_used(m->weight[0], units, stride, 0, v->item, items);
    mark_used(m->weight[0], units, stride, items, v->query, queries);
    if (m->log_input != EK_LOG_NONE)
        mark_used(m->weight[0], units, stride, logs, v->log, routable);
    if (m->log_input == EK_LOG_ALWAYS)
        mark_used(m->weight[0], units, stride, logs + routable, v->zero, routable);
    mark_used(m->gate_weight, gate, queries, 0, v->query, queries);
    mark_used(m->slope, gate + 1, routable, 0, v->log, routable);
    mark_used(m->zero, gate + 1, routable, 0, v->zero, routable);
}
