#include "offline/select/nfs_copies.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>

/* An item's value; missing ones stand behind all others. */
struct value {
    float x;
    uint32_t item;
};

/* Hashes of the order of the items and of the opposite order; both 0 where nothing varies. */
struct order {
    uint64_t rising, falling;
};

enum { MISSING = 0 }; /* ranks begin with 1 */

static int ascending(const void *a, const void *b)
{
    float x = ((const struct value *)a)->x, y = ((const struct value *)b)->x;
    return (x > y) - (x < y);
}

/* Equal values have equal ranks, which have no gaps. Returns the highest. */
static uint32_t rank_values(const struct value *sorted, size_t count, uint32_t *rank)
{
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        at += !i || sorted[i].x > sorted[i - 1].x;
        rank[sorted[i].item] = at;
    }
    return at;
}

static struct order order_of(const struct ek_dataset *d, size_t feature, struct value *values,
                             uint32_t *rank)
{
    size_t count = 0, bytes = d->items * sizeof *rank;
    struct order o = {0, 0};
    for (size_t i = 0; i < d->items; i++) {
        float x = d->x[i * (size_t)d->item_features + feature];
        rank[i] = MISSING;
        if (isfinite(x))
            values[count++] = (struct value){x, (uint32_t)i};
    }
    qsort(values, count, sizeof *values, ascending);
    uint32_t highest = rank_values(values, count, rank);
    if (highest < 2)
        return o;
    o.rising = ek_hash(rank, bytes, 0);
    for (size_t i = 0; i < d->items; i++)
        rank[i] = rank[i] == MISSING ? MISSING : highest + 1 - rank[i];
    o.falling = ek_hash(rank, bytes, 0);
    return o;
}

static int first_alike(const struct order *order, int feature)
{
    const struct order *o = &order[feature];
    if (!o->rising && !o->falling)
        return -1;
    for (int f = 0; f < feature; f++)
        if (order[f].rising == o->rising || order[f].rising == o->falling)
            return f;
    return -1;
}

int ek_nfs_copies(const struct ek_dataset *d, int *copy_of, struct ek_error *e)
{
    struct order *order = ek_calloc((size_t)d->item_features, sizeof *order);
    struct value *values = ek_calloc(d->items, sizeof *values);
    uint32_t *rank = ek_calloc(d->items, sizeof *rank);
    int code = EK_OK;
    if (!order || !values || !rank)
        code = ek_fail(e, EK_ENOMEM, "no memory to compare %d features", d->item_features);
    for (int f = 0; f < d->item_features && !code; f++) {
        order[f] = order_of(d, (size_t)f, values, rank);
        copy_of[f] = first_alike(order, f);
    }
    ek_free(order);
    ek_free(values);
    ek_free(rank);
    return code;
}
