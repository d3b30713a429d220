#include "assets/learned_levels.h"

#include "assets/item_levels.h"
#include "base/alloc.h"

#include <math.h>
#include <string.h>

static const float LEVEL_MOST = 200; /* ln; beyond that of any float */

struct ek_learned_levels {
    int features;
    float *far;     /* [features] */
    uint64_t *key;  /* [EK_LEARNED_ITEMS] 0: free */
    uint32_t *last; /* [EK_LEARNED_ITEMS] number of the last list that counted */
    uint8_t *lists; /* [EK_LEARNED_ITEMS, features] */
    float *mean;    /* [EK_LEARNED_ITEMS, features] over these lists */
    float *level;   /* [EK_LEARNED_ITEMS, features] NaN until the mean has its lists */
    uint64_t changes, block_changes[EK_LEARNED_BLOCKS];
};

int ek_learned_levels_new(struct ek_learned_levels **out, const float *far, int features)
{
    struct ek_learned_levels *t = ek_calloc(1, sizeof *t);
    size_t values = (size_t)EK_LEARNED_ITEMS * (size_t)features;
    if (!t)
        return EK_ENOMEM;
    t->features = features;
    t->far = ek_calloc((size_t)features, sizeof *t->far);
    t->key = ek_calloc(EK_LEARNED_ITEMS, sizeof *t->key);
    t->last = ek_calloc(EK_LEARNED_ITEMS, sizeof *t->last);
    t->lists = ek_calloc(values, sizeof *t->lists);
    t->mean = ek_calloc(values, sizeof *t->mean);
    t->level = ek_calloc(values, sizeof *t->level);
    if (!t->far || !t->key || !t->last || !t->lists || !t->mean || !t->level) {
        ek_learned_levels_free(t);
        return EK_ENOMEM;
    }
    memcpy(t->far, far, (size_t)features * sizeof *far);
    *out = t;
    return EK_OK;
}

void ek_learned_levels_free(struct ek_learned_levels *t)
{
    if (!t)
        return;
    ek_free(t->far);
    ek_free(t->key);
    ek_free(t->last);
    ek_free(t->lists);
    ek_free(t->mean);
    ek_free(t->level);
    ek_free(t);
}

bool ek_learned_levels_has_items(const struct ek_learned_levels *t)
{
    return t && t->changes > 0;
}

/* Return the first slot of the key's set. */
static size_t first_of(uint64_t key)
{
    return (size_t)(key % (EK_LEARNED_ITEMS / EK_LEARNED_WAYS)) * EK_LEARNED_WAYS;
}

/* Return the slot of a key, or EK_LEARNED_ITEMS. */
static size_t find_slot(const struct ek_learned_levels *t, uint64_t key)
{
    size_t first = first_of(key);
    for (size_t i = first; i < first + EK_LEARNED_WAYS; i++)
        if (t->key[i] == key)
            return i;
    return EK_LEARNED_ITEMS;
}

const float *ek_learned_levels_find(const struct ek_learned_levels *t, struct ek_text id)
{
    if (!ek_learned_levels_has_items(t) || !id.length)
        return NULL;
    size_t at = find_slot(t, ek_item_key(id));
    return at < EK_LEARNED_ITEMS ? t->level + at * (size_t)t->features : NULL;
}

/* Return a slot for a new key: a free one of its set, else that of the item not seen for
 * longest. */
static size_t take_slot(struct ek_learned_levels *t, uint64_t key)
{
    size_t first = first_of(key), at = first;
    for (size_t i = first; i < first + EK_LEARNED_WAYS && t->key[at]; i++)
        if (!t->key[i] || (int32_t)(t->last[i] - t->last[at]) < 0)
            at = i;
    size_t values = at * (size_t)t->features;
    t->key[at] = key;
    for (int a = 0; a < t->features; a++) {
        t->lists[values + (size_t)a] = 0;
        t->mean[values + (size_t)a] = 0;
        t->level[values + (size_t)a] = NAN;
    }
    return at;
}

static void mark_change(struct ek_learned_levels *t, size_t at)
{
    t->block_changes[at / EK_LEARNED_BLOCK] = ++t->changes;
}

void ek_learned_levels_add(struct ek_learned_levels *t, struct ek_text id, const float *ln,
                           uint64_t list)
{
    if (!id.length)
        return;
    uint64_t key = ek_item_key(id);
    size_t at = find_slot(t, key);
    bool changes = at == EK_LEARNED_ITEMS;
    uint32_t now = (uint32_t)list;
    if (at < EK_LEARNED_ITEMS && now - t->last[at] < EK_LEARNED_GAP)
        return;
    if (at == EK_LEARNED_ITEMS)
        at = take_slot(t, key);
    t->last[at] = now;
    for (int a = 0; a < t->features; a++) {
        size_t i = at * (size_t)t->features + (size_t)a;
        if (isnan(ln[a]) || t->lists[i] == EK_LEARNED_LISTS)
            continue;
        if (fabsf(ln[a] - t->mean[i]) > t->far[a])
            t->lists[i] = 0;
        changes = true;
        t->lists[i]++;
        t->mean[i] += (ln[a] - t->mean[i]) / (float)t->lists[i];
        if (t->lists[i] == EK_LEARNED_LISTS)
            t->level[i] = t->mean[i];
    }
    if (changes)
        mark_change(t, at);
}

static void copy_item(struct ek_learned_levels *t, size_t to, const struct ek_learned_levels *other,
                      size_t from)
{
    size_t features = (size_t)t->features;
    t->last[to] = other->last[from];
    for (size_t a = 0; a < features; a++) {
        t->lists[to * features + a] = other->lists[from * features + a];
        t->mean[to * features + a] = other->mean[from * features + a];
        t->level[to * features + a] = other->level[from * features + a];
    }
}

void ek_learned_levels_merge(struct ek_learned_levels *t, const struct ek_learned_levels *other)
{
    for (size_t from = 0; from < EK_LEARNED_ITEMS; from++) {
        uint64_t key = other->key[from];
        if (!key || find_slot(t, key) < EK_LEARNED_ITEMS)
            continue;
        size_t to = take_slot(t, key);
        copy_item(t, to, other, from);
        mark_change(t, to);
    }
}

uint64_t ek_learned_levels_mark(const struct ek_learned_levels *t, int block)
{
    return t->block_changes[block];
}

static void item_serialize(struct ek_learned_levels *t, size_t at, struct ek_serialize *s)
{
    size_t features = (size_t)t->features, values = at * features;
    ek_serialize_u32(s, &t->last[at]);
    ek_serialize_raw(s, t->lists + values, features * sizeof *t->lists);
    ek_serialize_raw(s, t->mean + values, features * sizeof *t->mean);
    for (size_t i = values; i < values + features; i++) {
        ek_serialize_require(s, t->lists[i] <= EK_LEARNED_LISTS && fabsf(t->mean[i]) <= LEVEL_MOST);
        t->level[i] = t->lists[i] == EK_LEARNED_LISTS ? t->mean[i] : NAN;
    }
}

void ek_learned_levels_serialize(struct ek_learned_levels *t, int block, struct ek_serialize *s)
{
    size_t first = (size_t)block * EK_LEARNED_BLOCK;
    int features = t->features;
    ek_serialize_int(s, &features, t->features, t->features);
    ek_serialize_raw(s, t->key + first, EK_LEARNED_BLOCK * sizeof *t->key);
    for (size_t at = first; at < first + EK_LEARNED_BLOCK && !s->rc; at++) {
        if (!t->key[at])
            continue;
        ek_serialize_require(s, first_of(t->key[at]) == at - at % EK_LEARNED_WAYS);
        item_serialize(t, at, s);
        if (ek_serialize_is_reading(s))
            mark_change(t, at);
    }
}
