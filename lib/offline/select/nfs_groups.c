#include "offline/select/nfs_groups.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

size_t ek_nfs_words(size_t features)
{
    return (features + 63) / 64;
}

/* Lowest and highest saliency of the live features; false when one is no number. */
static bool range_of(const double *map, const bool *live, size_t features, double *low,
                     double *high)
{
    bool usable = true;
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t f = 0; f < features; f++) {
        if (!live[f])
            continue;
        usable = usable && isfinite(map[f]);
        *low = fmin(*low, map[f]);
        *high = fmax(*high, map[f]);
    }
    return usable;
}

bool ek_nfs_map(const float *gradient, const bool *there, const bool *live, size_t features,
                double threshold, double *map, uint64_t *bits)
{
    double low, high;
    memset(bits, 0, ek_nfs_words(features) * sizeof *bits);
    for (size_t f = 0; f < features; f++)
        map[f] = there[f] && live[f] ? fabs((double)gradient[f]) : 0;
    bool usable = range_of(map, live, features, &low, &high);
    bool varies = usable && high > low;
    for (size_t f = 0; f < features; f++) {
        if (varies && live[f])
            map[f] = (map[f] - low) / (high - low);
        else
            map[f] = usable && live[f] && map[f] > 0;
        if (varies && map[f] > threshold)
            bits[f / 64] |= (uint64_t)1 << (f % 64);
    }
    return varies;
}

int ek_nfs_groups_init(struct ek_nfs_groups *g, size_t features)
{
    memset(g, 0, sizeof *g);
    g->features = features;
    g->words = ek_nfs_words(features);
    return EK_OK;
}

void ek_nfs_groups_release(struct ek_nfs_groups *g)
{
    ek_free(g->bits);
    ek_free(g->seen);
    ek_free(g->slot);
    memset(g, 0, sizeof *g);
}

/* The slot of a group, or the empty one where it belongs. */
static size_t *slot_of(const struct ek_nfs_groups *g, size_t *slot, size_t capacity,
                       const uint64_t *bits)
{
    size_t bytes = g->words * sizeof *bits;
    size_t i = (size_t)ek_hash(bits, bytes, 0) & (2 * capacity - 1);
    while (slot[i] && memcmp(g->bits + (slot[i] - 1) * g->words, bits, bytes) != 0)
        i = (i + 1) & (2 * capacity - 1);
    return &slot[i];
}

static int grow(struct ek_nfs_groups *g)
{
    size_t capacity = g->capacity ? 2 * g->capacity : FIRST_CAPACITY;
    uint64_t *bits = ek_realloc(g->bits, capacity, g->words * sizeof *bits);
    g->bits = bits ? bits : g->bits;
    uint64_t *seen = bits ? ek_realloc(g->seen, capacity, sizeof *seen) : NULL;
    g->seen = seen ? seen : g->seen;
    size_t *slot = seen ? ek_calloc(2 * capacity, sizeof *slot) : NULL;
    if (!slot)
        return EK_ENOMEM;
    for (size_t i = 0; i < g->count; i++)
        *slot_of(g, slot, capacity, g->bits + i * g->words) = i + 1;
    ek_free(g->slot);
    g->slot = slot;
    g->capacity = capacity;
    return EK_OK;
}

int ek_nfs_groups_add(struct ek_nfs_groups *g, const uint64_t *bits, uint64_t times)
{
    if (g->count == g->capacity && grow(g))
        return EK_ENOMEM;
    size_t *slot = slot_of(g, g->slot, g->capacity, bits);
    if (!*slot) {
        memcpy(g->bits + g->count * g->words, bits, g->words * sizeof *bits);
        g->seen[g->count] = 0;
        *slot = ++g->count;
    }
    g->seen[*slot - 1] += times;
    g->maps += times;
    return EK_OK;
}

int ek_nfs_groups_merge(struct ek_nfs_groups *g, const struct ek_nfs_groups *other)
{
    int code = EK_OK;
    for (size_t i = 0; i < other->count && !code; i++)
        code = ek_nfs_groups_add(g, other->bits + i * other->words, other->seen[i]);
    return code;
}

bool ek_nfs_group_has(const struct ek_nfs_groups *g, size_t group, size_t feature)
{
    return g->bits[group * g->words + feature / 64] >> (feature % 64) & 1;
}

size_t ek_nfs_group_size(const struct ek_nfs_groups *g, size_t group)
{
    size_t size = 0;
    for (size_t w = 0; w < g->words; w++)
        size += (size_t)__builtin_popcountll(g->bits[group * g->words + w]);
    return size;
}
