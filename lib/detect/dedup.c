#include "detect/dedup.h"

#include "base/hash.h"

static uint64_t relative_key(const struct ek_list *q)
{
    return ek_hash(q->query, (size_t)q->query_features * sizeof *q->query, 1);
}

/* Return a key of the item ids, or of the values if an item has no id, independent of the order. */
static uint64_t items_key(const struct ek_list *q, uint64_t key)
{
    uint64_t of_ids = 0, of_values = 0;
    size_t row = (size_t)q->item_features;
    int ids = q->item_id != NULL;
    for (int i = 0; ids && i < q->items; i++) {
        ids = q->item_id[i].text != NULL;
        if (ids)
            of_ids += ek_hash(q->item_id[i].text, q->item_id[i].length, key);
    }
    for (int i = 0; !ids && i < q->items; i++)
        of_values += ek_hash(q->x + (size_t)i * row, row * sizeof *q->x, key);
    uint64_t sum = ids ? of_ids : of_values;
    return ek_hash(&sum, sizeof sum, key);
}

uint64_t ek_dedup_key(const struct ek_list *q, unsigned same)
{
    uint64_t key = same & EK_SAME_QUERY_FEATURES ? relative_key(q) : 0;
    return same & EK_SAME_ITEM_IDS ? items_key(q, key) : key;
}

static bool is_recent(const struct ek_dedup *r, uint32_t slot, uint32_t now)
{
    return r->number[slot] && now - r->number[slot] <= EK_REPEAT_LISTS;
}

uint32_t ek_dedup_count(struct ek_dedup *r, uint64_t key, uint64_t number)
{
    uint32_t slot = (uint32_t)key % EK_REPEAT_SLOTS, tag = (uint32_t)(key >> 32);
    uint32_t now = (uint32_t)number + 1;
    if (is_recent(r, slot, now) && r->tag[slot] == tag)
        return ++r->seen[slot];
    r->tag[slot] = tag;
    r->number[slot] = now;
    r->seen[slot] = 0;
    return 0;
}

/* Return the number of the next slot. */
static int slot_serialize(struct ek_dedup *r, struct ek_serialize *s, int slot)
{
    int from = slot;
    ek_serialize_int(s, &slot, from, EK_REPEAT_SLOTS - 1);
    ek_serialize_u32(s, &r->tag[slot]);
    ek_serialize_u32(s, &r->number[slot]);
    ek_serialize_u32(s, &r->seen[slot]);
    return slot + 1;
}

void ek_dedup_serialize(struct ek_dedup *r, struct ek_serialize *s, uint64_t number)
{
    uint32_t now = (uint32_t)number + 1;
    int count = 0, next = 0;
    for (uint32_t slot = 0; slot < EK_REPEAT_SLOTS; slot++)
        count += is_recent(r, slot, now);
    ek_serialize_int(s, &count, 0, EK_REPEAT_SLOTS);
    for (int i = 0; i < count && !s->rc; i++) {
        while (!ek_serialize_is_reading(s) && !is_recent(r, (uint32_t)next, now))
            next++;
        ek_serialize_require(s, next < EK_REPEAT_SLOTS);
        if (!s->rc)
            next = slot_serialize(r, s, next);
    }
}

void ek_dedup_merge(struct ek_dedup *r, const struct ek_dedup *others, uint64_t here,
                    uint64_t there)
{
    uint32_t now = (uint32_t)here + 1, then = (uint32_t)there + 1;
    for (uint32_t slot = 0; slot < EK_REPEAT_SLOTS; slot++) {
        uint32_t ago = then - others->number[slot];
        if (!is_recent(others, slot, then) || is_recent(r, slot, now) || ago >= now)
            continue;
        r->tag[slot] = others->tag[slot];
        r->number[slot] = now - ago;
        r->seen[slot] = others->seen[slot];
    }
}

static int bucket_of(const void *bytes, size_t length)
{
    return (int)(ek_hash(bytes, length, EK_BUCKET_SEED) % EK_BUCKETS);
}

int ek_canary_bucket(const struct ek_list *q)
{
    if (q->id.text && q->id.length)
        return bucket_of(q->id.text, q->id.length);
    uint64_t key = ek_dedup_key(q, EK_SAME_QUERY_FEATURES | EK_SAME_ITEM_IDS);
    return bucket_of(&key, sizeof key);
}
