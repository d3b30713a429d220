#include "assets/category_table.h"

#include "base/alloc.h"

int ek_category_table_init(struct ek_category_table *t, int count, int strata)
{
    size_t values = (size_t)count, columns = (size_t)strata;
    *t = (struct ek_category_table){.count = count, .strata = strata};
    t->value = ek_calloc(values, sizeof *t->value);
    t->share = ek_calloc(values * columns, sizeof *t->share);
    t->unknown = ek_calloc(columns, sizeof *t->unknown);
    if (t->value && t->share && t->unknown)
        return EK_OK;
    ek_category_table_release(t);
    return EK_ENOMEM;
}

void ek_category_table_release(struct ek_category_table *t)
{
    ek_free(t->value);
    ek_free(t->share);
    ek_free(t->unknown);
    *t = (struct ek_category_table){0};
}

int ek_category_find(const struct ek_category_table *t, float value)
{
    int low = 0, high = t->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (t->value[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->count && t->value[low] == value ? low : -1;
}
