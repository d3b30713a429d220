#include "offline/fit/known_fit.h"

#include "base/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct ek_known_fit {
    const struct ek_manifest *manifest;
    int features;
    float *value;   /* [features, EK_KNOWN_VALUES_MAX] rising */
    uint8_t *count; /* [features] */
    bool *many;     /* [features] more values than fit, or a category */
};

int ek_known_fit_new(struct ek_known_fit **out, const struct ek_manifest *m)
{
    size_t features = (size_t)m->watched_count;
    struct ek_known_fit *k = ek_calloc(1, sizeof *k);
    if (!k)
        return EK_ENOMEM;
    k->manifest = m;
    k->features = m->watched_count;
    k->value = ek_calloc(features * EK_KNOWN_VALUES_MAX, sizeof *k->value);
    k->count = ek_calloc(features, sizeof *k->count);
    k->many = ek_calloc(features, sizeof *k->many);
    if (!k->value || !k->count || !k->many) {
        ek_known_fit_free(k);
        return EK_ENOMEM;
    }
    for (int f = 0; f < k->features; f++)
        k->many[f] = m->item[f]->type == EK_TYPE_CATEGORY;
    *out = k;
    return EK_OK;
}

void ek_known_fit_free(struct ek_known_fit *k)
{
    if (!k)
        return;
    ek_free(k->value);
    ek_free(k->count);
    ek_free(k->many);
    ek_free(k);
}

static void add(struct ek_known_fit *k, int f, float x)
{
    float *value = k->value + (size_t)f * EK_KNOWN_VALUES_MAX;
    int low = 0, high = k->count[f];
    if (!isfinite(x))
        return;
    while (low < high) {
        int middle = (low + high) / 2;
        if (value[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < k->count[f] && value[low] == x)
        return;
    if (k->count[f] == EK_KNOWN_VALUES_MAX) {
        k->many[f] = true;
        return;
    }
    memmove(value + low + 1, value + low, (size_t)(k->count[f] - low) * sizeof *value);
    value[low] = x;
    k->count[f]++;
}

void ek_known_fit_add(struct ek_known_fit *k, const struct ek_list *q)
{
    const struct ek_manifest *m = k->manifest;
    for (int f = 0; f < k->features; f++)
        for (int i = 0; i < (f < m->item_count ? q->items : 1) && !k->many[f]; i++)
            add(k, f, ek_list_value(q, m, i, f));
}

void ek_known_fit_merge(struct ek_known_fit *k, const struct ek_profile *p)
{
    for (int f = 0; f < k->features; f++) {
        k->many[f] |= !p->known_count[f];
        for (int i = 0; i < p->known_count[f] && !k->many[f]; i++)
            add(k, f, p->known[(size_t)f * EK_KNOWN_VALUES_MAX + (size_t)i]);
    }
}

void ek_known_fit_finish(const struct ek_known_fit *k, struct ek_profile *p)
{
    memcpy(p->known, k->value, (size_t)k->features * EK_KNOWN_VALUES_MAX * sizeof *p->known);
    for (int f = 0; f < k->features; f++)
        p->known_count[f] = k->many[f] ? 0 : k->count[f];
}
