#include "offline/train/encoded.h"

#include "base/alloc.h"

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
    return ek_fail(e, EK_ENOMEM, "no memory to encode %zu items", d->items);
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
