#include "offline/select/column.h"

#include "base/alloc.h"

#include <string.h>

int ek_column_copy(struct ek_column *c, const struct ek_dataset *d, size_t feature,
                   struct ek_error *e)
{
    size_t row = (size_t)d->item_features;
    *c = (struct ek_column){*d, ek_calloc(d->items, sizeof *c->was), feature};
    c->data.x = ek_calloc(d->items, row * sizeof *c->data.x);
    if (!c->data.x || !c->was) {
        ek_column_release(c);
        return ek_fail(e, EK_ENOMEM, "no memory for a copy of %zu items", d->items);
    }
    if (d->items)
        memcpy(c->data.x, d->x, d->items * row * sizeof *d->x);
    for (size_t i = 0; i < d->items; i++)
        c->was[i] = d->x[i * row + feature];
    return EK_OK;
}

void ek_column_release(struct ek_column *c)
{
    ek_free(c->data.x);
    ek_free(c->was);
}

void ek_column_set(struct ek_column *c, size_t item, float x)
{
    c->data.x[item * (size_t)c->data.item_features + c->feature] = x;
}

void ek_column_restore(struct ek_column *c)
{
    for (size_t i = 0; i < c->data.items; i++)
        ek_column_set(c, i, c->was[i]);
}
