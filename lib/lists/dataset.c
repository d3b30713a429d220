#include "lists/dataset.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "lists/letor.h"

#include <string.h>

enum { FIRST_LISTS = 256, FIRST_ITEMS = 4096 };

void ek_dataset_init(struct ek_dataset *d, int item_features, int query_features)
{
    memset(d, 0, sizeof *d);
    d->item_features = item_features;
    d->query_features = query_features;
}

void ek_dataset_release(struct ek_dataset *d)
{
    ek_free(d->offset);
    ek_free(d->x);
    ek_free(d->query);
    ek_free(d->label);
    ek_free(d->id);
    ek_free(d->source);
    ek_free(d->sources);
    ek_dataset_init(d, d->item_features, d->query_features);
}

static int grow(void *array, size_t count, size_t per, size_t size)
{
    void **slot = array;
    size_t total;
    if (__builtin_mul_overflow(count, per, &total))
        return EK_ENOMEM;
    void *larger = ek_realloc(*slot, total, size);
    if (!larger)
        return EK_ENOMEM;
    *slot = larger;
    return EK_OK;
}

static int grow_lists(struct ek_dataset *d)
{
    if (d->lists < d->list_capacity)
        return EK_OK;
    size_t want = d->list_capacity ? 2 * d->list_capacity : FIRST_LISTS;
    if (grow(&d->offset, want + 1, 1, sizeof *d->offset) ||
        grow(&d->query, want, (size_t)d->query_features, sizeof *d->query) ||
        grow(&d->id, want, 1, sizeof *d->id) || grow(&d->sources, want, 1, sizeof *d->sources))
        return EK_ENOMEM;
    d->offset[d->lists] = d->items;
    d->list_capacity = want;
    return EK_OK;
}

static int grow_items(struct ek_dataset *d, size_t n)
{
    if (n <= d->item_capacity - d->items)
        return EK_OK;
    size_t want = d->item_capacity ? 2 * d->item_capacity : FIRST_ITEMS;
    if (want - d->items < n)
        want = d->items + n;
    if (grow(&d->x, want, (size_t)d->item_features, sizeof *d->x) ||
        grow(&d->label, want, 1, sizeof *d->label) || grow(&d->source, want, 1, sizeof *d->source))
        return EK_ENOMEM;
    d->item_capacity = want;
    return EK_OK;
}

int ek_dataset_add(struct ek_dataset *d, const struct ek_list *q, struct ek_error *e)
{
    size_t n = (size_t)q->items, row = (size_t)d->item_features, m = (size_t)d->query_features;
    if (q->item_features != d->item_features || q->query_features != d->query_features)
        return ek_fail(e, EK_ESTATE,
                       "a list of %d item and %d query features does not fit %d and %d",
                       q->item_features, q->query_features, d->item_features, d->query_features);
    if (grow_lists(d) || grow_items(d, n))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    if (n && row)
        memcpy(d->x + d->items * row, q->x, n * row * sizeof *d->x);
    if (m)
        memcpy(d->query + d->lists * m, q->query, m * sizeof *d->query);
    for (size_t i = 0; i < n; i++)
        d->label[d->items + i] = q->has_label ? q->label[i] : 0;
    d->sources[d->lists] = (uint8_t)q->sources;
    if (q->sources)
        memcpy(d->source + d->items, q->source, n);
    d->id[d->lists] = q->id.length ? ek_hash(q->id.text, q->id.length, 0)
                                   : ek_hash(&d->lists, sizeof d->lists, 0);
    d->items += n;
    d->offset[++d->lists] = d->items;
    return EK_OK;
}

void ek_dataset_view(const struct ek_dataset *d, size_t i, struct ek_list *view)
{
    size_t first = d->offset[i];
    ek_list_init(view);
    view->time_ms = -1;
    view->items = (int)(d->offset[i + 1] - first);
    view->item_features = d->item_features;
    view->query_features = d->query_features;
    view->x = d->x + first * (size_t)d->item_features;
    view->query = d->query + i * (size_t)d->query_features;
    view->label = d->label + first;
    view->has_label = true;
    view->source = d->source + first;
    view->sources = d->sources[i];
}

static int read_all(struct ek_dataset *d, struct ek_letor *l, struct ek_error *e)
{
    struct ek_list q;
    bool more = true;
    ek_list_init(&q);
    int rc = ek_letor_next(l, &q, &more, e);
    while (!rc && more) {
        rc = ek_dataset_add(d, &q, e);
        if (!rc)
            rc = ek_letor_next(l, &q, &more, e);
    }
    ek_list_release(&q);
    return rc;
}

int ek_dataset_read_letor(struct ek_dataset *d, const struct ek_manifest *m, const char *path,
                          struct ek_error *e)
{
    struct ek_letor *l;
    int rc = ek_letor_open(&l, m, path, e);
    if (rc)
        return rc;
    rc = read_all(d, l, e);
    ek_letor_close(l);
    return rc;
}
