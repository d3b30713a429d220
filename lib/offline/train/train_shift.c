#include "offline/train/train_shift.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

static const double HIGHEST_FACTOR = 1000;

int ek_train_shift_init(struct ek_train_shift *s, const struct ek_model *m, size_t longest)
{
    size_t features = (size_t)m->item_features, queries = (size_t)m->query_features;
    memset(s, 0, sizeof *s);
    if (ek_encoder_init(&s->encoder, m))
        return EK_ENOMEM;
    s->x = ek_calloc(longest, features * sizeof *s->x);
    s->pick = ek_calloc((size_t)m->routable_count, sizeof *s->pick);
    if (m->transform == EK_TRANSFORM_MIXTURE)
        s->part = ek_calloc(longest, features * EK_TRANSFORM_PARTS * sizeof *s->part);
    float *query = ek_calloc(queries, sizeof *query);
    /* The longest list makes the encoder's room; it needs no memory after that. */
    bool ready = s->x && s->pick && query && (s->part || m->transform != EK_TRANSFORM_MIXTURE) &&
                 !ek_encode(&s->encoder, s->x, (int)longest, query, NULL);
    ek_free(query);
    if (ready)
        return EK_OK;
    ek_train_shift_release(s);
    return EK_ENOMEM;
}

void ek_train_shift_release(struct ek_train_shift *s)
{
    ek_encoder_release(&s->encoder);
    ek_free(s->x);
    ek_free(s->part);
    ek_free(s->pick);
    memset(s, 0, sizeof *s);
}

static void scale_column(float *x, size_t items, size_t features, double factor)
{
    for (size_t i = 0; i < items; i++)
        x[i * features] = (float)(factor * (double)x[i * features]);
}

void ek_train_shift_list(struct ek_train_shift *s, double share, const struct ek_encoded *set,
                         size_t q, struct ek_rng *r, struct ek_network_list *l)
{
    const struct ek_model *m = s->encoder.model;
    const struct ek_dataset *d = set->data;
    size_t features = set->features, count = (size_t)m->routable_count;
    if (ek_rng_uniform(r) >= share || !count)
        return;
    memcpy(s->x, d->x + d->offset[q] * features, l->items * features * sizeof *s->x);
    size_t size = 1 + (size_t)ek_rng_below(r, count);
    for (size_t k = 0; k < count; k++)
        s->pick[k] = (int)k;
    ek_rng_shuffle(r, s->pick, count);
    for (size_t i = 0; i < size; i++) {
        double power = 2 * ek_rng_uniform(r) - 1;
        scale_column(s->x + m->routable[s->pick[i]], l->items, features,
                     pow(HIGHEST_FACTOR, power));
    }
    ek_encode(&s->encoder, s->x, (int)l->items, d->query + q * set->queries, NULL);
    l->item = s->encoder.item;
    if (s->part) {
        ek_encoded_parts(&s->encoder, s->x, l->items, s->part);
        l->part = s->part;
    }
}
