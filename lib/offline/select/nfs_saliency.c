#include "offline/select/nfs_saliency.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

struct looking;

/* Shard of the lists, which are `stride` apart. */
struct shard {
    struct looking *of;
    struct ek_nfs_pass pass;
    struct ek_nfs_saliency found; /* saliency: the sum */
    double *map;                  /* [F] */
    uint64_t *bits;
    size_t from, to;
    int code;
};

struct looking {
    const struct ek_nfs_ranker *ranker;
    const struct ek_nfs_data *data;
    const bool *live;
    double threshold;
    size_t stride;
    struct shard shard[EK_NFS_SHARDS];
};

static size_t items_of(const struct ek_nfs_data *d, size_t list)
{
    return d->offset[list + 1] - d->offset[list];
}

static int measure_list(struct shard *s, size_t list, size_t row)
{
    const struct looking *l = s->of;
    const struct ek_nfs_network *n = &l->ranker->network;
    const struct ek_nfs_data *d = l->data;
    int code = EK_OK;
    for (size_t i = 0; i < items_of(d, list) && !code; i++) {
        bool group = ek_nfs_map(s->pass.d_input + (row + i) * n->in.stride,
                                d->there + (d->offset[list] + i) * n->features, l->live,
                                n->features, l->threshold, s->map, s->bits);
        for (size_t f = 0; f < n->features; f++)
            s->found.saliency[f] += s->map[f];
        s->found.items++;
        if (group)
            code = ek_nfs_groups_add(&s->found.groups, s->bits, 1);
    }
    return code;
}

/* Fill the pass from position `from` on, without lists of one item. Return the position behind. */
static size_t load(struct shard *s, size_t from)
{
    const struct looking *l = s->of;
    size_t to = from;
    ek_nfs_pass_clear(&s->pass);
    for (; to < s->to; to++) {
        struct ek_nfs_list list = ek_nfs_data_list(l->data, to * l->stride);
        if (list.items > 1 &&
            !ek_nfs_pass_add(&s->pass, &l->ranker->network, l->ranker->turned, &list))
            break;
    }
    return to;
}

static void measure_task(void *arg, int i)
{
    struct looking *l = arg;
    struct shard *s = &l->shard[i];
    const struct ek_nfs_ranker *r = l->ranker;
    for (size_t at = s->from; at < s->to && !s->code;) {
        size_t end = load(s, at);
        ek_nfs_forward(&r->network, r->parameter, &s->pass);
        ek_nfs_item_gradient(&r->network, r->parameter, r->turned, &s->pass);
        for (size_t row = 0; at < end && !s->code; at++) {
            size_t items = items_of(l->data, at * l->stride);
            if (items < 2)
                continue;
            s->code = measure_list(s, at * l->stride, row);
            row += items;
        }
    }
}

static size_t nfs_words(size_t features)
{
    return (features + 63) / 64;
}

static int init_shard(struct looking *l, size_t i, size_t places)
{
    struct shard *s = &l->shard[i];
    size_t features = l->data->features;
    s->of = l;
    s->from = places * i / EK_NFS_SHARDS;
    s->to = places * (i + 1) / EK_NFS_SHARDS;
    s->map = ek_calloc(features, sizeof *s->map);
    s->bits = ek_calloc(nfs_words(features), sizeof *s->bits);
    s->found.saliency = ek_calloc(features, sizeof *s->found.saliency);
    if (!s->map || !s->bits || !s->found.saliency || ek_nfs_groups_init(&s->found.groups, features))
        return EK_ENOMEM;
    return ek_nfs_pass_init(&s->pass, &l->ranker->network, l->ranker->rows_max);
}

/* Sum the results of the shards in their order. */
static int collect(struct ek_nfs_saliency *out, const struct looking *l)
{
    size_t features = l->data->features;
    int code = ek_nfs_groups_init(&out->groups, features);
    for (size_t i = 0; i < EK_NFS_SHARDS && !code; i++) {
        const struct shard *s = &l->shard[i];
        code = s->code ? s->code : ek_nfs_groups_merge(&out->groups, &s->found.groups);
        out->items += s->found.items;
        for (size_t f = 0; f < features; f++)
            out->saliency[f] += s->found.saliency[f];
    }
    for (size_t f = 0; f < features && out->items; f++)
        out->saliency[f] /= (double)out->items;
    return code;
}

int ek_nfs_saliency(struct ek_nfs_saliency *out, const struct ek_nfs_ranker *r,
                    const struct ek_nfs_data *d, const bool *live, const struct ek_nfs_options *o,
                    struct ek_error *e)
{
    struct looking l = {.ranker = r,
                        .data = d,
                        .live = live,
                        .threshold = o->threshold,
                        .stride = (d->items + EK_NFS_MAPS_MAX - 1) / EK_NFS_MAPS_MAX};
    int code = EK_OK;
    memset(out, 0, sizeof *out);
    out->saliency = ek_calloc(d->features, sizeof *out->saliency);
    if (!out->saliency)
        code = EK_ENOMEM;
    l.stride = l.stride ? l.stride : 1;
    for (size_t i = 0; i < EK_NFS_SHARDS && !code; i++)
        code = init_shard(&l, i, (d->lists + l.stride - 1) / l.stride);
    if (!code) {
        ek_nfs_run_tasks(o, measure_task, &l);
        code = collect(out, &l);
    }
    for (size_t i = 0; i < EK_NFS_SHARDS; i++) {
        ek_nfs_pass_release(&l.shard[i].pass);
        ek_nfs_saliency_release(&l.shard[i].found);
        ek_free(l.shard[i].map);
        ek_free(l.shard[i].bits);
    }
    if (!code)
        return EK_OK;
    ek_nfs_saliency_release(out);
    return ek_fail(e, code, "out of memory");
}

void ek_nfs_saliency_release(struct ek_nfs_saliency *l)
{
    ek_nfs_groups_release(&l->groups);
    ek_free(l->saliency);
    memset(l, 0, sizeof *l);
}

enum { FIRST_CAPACITY = 256 };

/* Compute the lowest and highest saliency of the live features. Return false if one is not finite.
 */
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
    memset(bits, 0, nfs_words(features) * sizeof *bits);
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
    g->words = nfs_words(features);
    return EK_OK;
}

void ek_nfs_groups_release(struct ek_nfs_groups *g)
{
    ek_free(g->bits);
    ek_free(g->seen);
    ek_free(g->slot);
    memset(g, 0, sizeof *g);
}

/* Return the slot of a group, or the empty slot for it. */
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
