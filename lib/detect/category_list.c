#include "detect/category_list.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

void ek_category_list_release(struct ek_category_list *l)
{
    ek_free(l->of);
    ek_free(l->scratch);
    *l = (struct ek_category_list){0};
}

static int room_for(struct ek_category_list *l, int items)
{
    if (items <= l->capacity)
        return EK_OK;
    size_t want = (size_t)items + (size_t)items / 2;
    struct ek_category_share *of = ek_realloc(l->of, want, sizeof *of);
    if (!of)
        return EK_ENOMEM;
    l->of = of;
    float *scratch = ek_realloc(l->scratch, want, sizeof *scratch);
    if (!scratch)
        return EK_ENOMEM;
    l->scratch = scratch;
    l->capacity = (int)want;
    return EK_OK;
}

static int rising(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The present values, sorted, to scratch; returns how many. */
static int sort_values(struct ek_category_list *l, const struct ek_query *q, int feature)
{
    int present = 0;
    for (int i = 0; i < q->items; i++) {
        float x = q->x[(size_t)i * (size_t)q->item_features + (size_t)feature];
        if (!isnan(x))
            l->scratch[present++] = x == 0 ? 0 : x;
    }
    qsort(l->scratch, (size_t)present, sizeof *l->scratch, rising);
    return present;
}

int ek_category_list_read(struct ek_category_list *l, const struct ek_query *q, int feature)
{
    if (room_for(l, q->items))
        return EK_ENOMEM;
    int present = sort_values(l, q, feature);
    l->count = 0;
    for (int i = 0, end; i < present; i = end) {
        for (end = i + 1; end < present && l->scratch[end] == l->scratch[i];)
            end++;
        l->of[l->count++] =
            (struct ek_category_share){l->scratch[i], (float)(end - i) / (float)present};
    }
    return EK_OK;
}
