/* What a message with a part of a list says of the whole. As with labels: a schema that means
 * something else by these words, a value of another kind, must not turn live messages into dead
 * letters, so such a value is skipped. */
#include "lists/codec_inner.h"

#include <math.h>

int ek_decode_list_items(struct ek_decode *d)
{
    static const double MOST = 1e9;
    const uint8_t *start = d->w.p;
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (!ek_head_is_number(&h))
        return ek_decode_skip_from(d, start);
    double value = ek_head_number(&h);
    if (!(value >= 0 && value <= MOST) || value != floor(value))
        return ek_decode_fail(d, EK_EFORMAT, "not the number of items of a list");
    d->list_items = (int)value;
    return EK_OK;
}

/* Beyond it is no logarithm of a double. */
static const double LOG_MOST = 745;

static int read_mean(struct ek_decode *d, double *mean)
{
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc)
        return rc;
    *mean = NAN;
    if (h.kind == EK_WIRE_NIL)
        return EK_OK;
    if (!ek_head_is_number(&h))
        return ek_decode_fail(d, EK_EFORMAT, "%s, expected %s", ek_decode_kind(d, h.kind),
                              d->words->number);
    *mean = ek_head_number(&h);
    if (fabs(*mean) > LOG_MOST)
        return ek_decode_fail(d, EK_EFORMAT, "%g is no mean of logarithms", *mean);
    return EK_OK;
}

int ek_decode_log_means(struct ek_decode *d)
{
    int count = d->c->manifest->routable_count;
    const uint8_t *start = d->w.p;
    struct ek_head h;
    int rc = ek_decode_head(d, &h);
    if (rc || h.kind == EK_WIRE_NIL)
        return rc;
    if (h.kind != EK_WIRE_ARRAY)
        return ek_decode_skip_from(d, start);
    if (h.count != (uint32_t)count)
        return ek_decode_fail(d, EK_EFORMAT, "%u means, %d features are routable", h.count, count);
    if (ek_query_mean_room(d->q, count))
        return ek_decode_fail(d, EK_ENOMEM, "no memory for %d means", count);
    for (d->index = 0; !rc && d->index < count; d->index += !rc)
        rc = read_mean(d, &d->q->log_mean[d->index]);
    if (rc)
        return rc;
    d->index = -1;
    d->q->has_log_means = true;
    return EK_OK;
}

/* What is derived from the length of a list cannot be had from one item. */
static int without_length(struct ek_decode *d)
{
    const struct ek_manifest *m = d->c->manifest;
    if (d->c->layout != EK_LAYOUT_ITEM || !m->derived_count)
        return EK_OK;
    d->field = d->c->list_items;
    return ek_decode_fail(d, EK_EFORMAT, "missing: the query feature '%s' is of the whole list",
                          m->query[m->query_count - 1]->name);
}

int ek_decode_whole(struct ek_decode *d)
{
    if (d->list_items < 0)
        return without_length(d);
    if (d->list_items < d->q->items) {
        d->field = d->c->list_items;
        return ek_decode_fail(d, EK_EFORMAT, "%d, but the message has %d items", d->list_items,
                              d->q->items);
    }
    d->q->list_items = d->list_items;
    return EK_OK;
}
