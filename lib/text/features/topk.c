#include "text/features/topk.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_worse(const struct ek_hit *a, const struct ek_hit *b)
{
    return a->score < b->score || (a->score == b->score && a->document > b->document);
}

static void swap(struct ek_hit *a, struct ek_hit *b)
{
    struct ek_hit kept = *a;
    *a = *b;
    *b = kept;
}

static void rise(struct ek_topk *t, uint32_t at)
{
    while (at && is_worse(t->hits + at, t->hits + (at - 1) / 2)) {
        swap(t->hits + at, t->hits + (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void sink(struct ek_topk *t)
{
    uint32_t at = 0, child;
    while ((child = 2 * at + 1) < t->count) {
        if (child + 1 < t->count && is_worse(t->hits + child + 1, t->hits + child))
            child++;
        if (!is_worse(t->hits + child, t->hits + at))
            return;
        swap(t->hits + child, t->hits + at);
        at = child;
    }
}

void ek_topk_add(struct ek_topk *t, struct ek_hit hit)
{
    if (t->count < t->k) {
        t->hits[t->count] = hit;
        rise(t, t->count++);
    } else if (t->k && is_worse(t->hits, &hit)) {
        t->hits[0] = hit;
        sink(t);
    }
}

double ek_topk_min(const struct ek_topk *t)
{
    return t->count < t->k ? -1 : t->hits[0].score;
}

static int best_first(const void *a, const void *b)
{
    return is_worse(a, b) - is_worse(b, a);
}

void ek_topk_sort(struct ek_topk *t)
{
    if (t->count)
        qsort(t->hits, t->count, sizeof *t->hits, best_first);
}
