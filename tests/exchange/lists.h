/* Lists in the exchange format of the Python tests: per list, in native byte order, int32 n; float
 * x [n, F], query [M], mask [K], where 1 routes a feature. The caller frees them with
 * lists_release. */
#ifndef EK_TESTS_EXCHANGE_LISTS_H
#define EK_TESTS_EXCHANGE_LISTS_H

#include "base/alloc.h"
#include "assets/model.h"
#include "lists/list.h"

#include <stdio.h>

struct list {
    struct ek_list query;
    struct ek_treatment *treatment; /* [K] */
};

struct lists {
    struct list *list;
    size_t count;
};

static inline int lists_take(float *to, size_t count, FILE *from)
{
    return fread(to, sizeof *to, count, from) == count ? 0 : -1;
}

static inline int list_read(struct list *l, int n, const struct ek_model *m, FILE *from)
{
    size_t routable = (size_t)m->routable_count;
    float *mask = ek_calloc(routable, sizeof *mask);
    l->treatment = ek_calloc(routable, sizeof *l->treatment);
    ek_list_init(&l->query);
    int failed = !mask || !l->treatment ||
                 ek_list_resize(&l->query, n, m->item_features, m->query_features) ||
                 lists_take(l->query.x, (size_t)n * (size_t)m->item_features, from) ||
                 lists_take(l->query.query, (size_t)m->query_features, from) ||
                 lists_take(mask, routable, from);
    for (size_t k = 0; !failed && k < routable; k++)
        l->treatment[k].action = mask[k] > 0 ? EK_ACT_ROUTE : EK_ACT_NONE;
    ek_free(mask);
    return failed ? -1 : 0;
}

static inline void lists_release(struct lists *l)
{
    for (size_t i = 0; i < l->count; i++) {
        ek_list_release(&l->list[i].query);
        ek_free(l->list[i].treatment);
    }
    ek_free(l->list);
}

/* Read all lists of a stream. Return non-zero if one is truncated or memory is exhausted. */
static inline int lists_read(struct lists *l, const struct ek_model *m, FILE *from)
{
    int n, failed = 0;
    *l = (struct lists){0};
    while (!failed && fread(&n, sizeof n, 1, from) == 1) {
        struct list *more = ek_realloc(l->list, l->count + 1, sizeof *more);
        if (!more)
            return -1;
        l->list = more;
        failed = list_read(&l->list[l->count++], n, m, from);
    }
    return failed;
}

#endif
