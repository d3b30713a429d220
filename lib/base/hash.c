#include "base/hash.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>
#include <xxhash.h>
#include <zlib.h>

uint64_t ek_hash(const void *bytes, size_t length, uint64_t seed)
{
    return XXH64(bytes, length, seed);
}

uint32_t ek_crc32(const void *bytes, size_t length)
{
    return (uint32_t)crc32_z(0, bytes, length);
}

enum { FIRST_CAPACITY = 1024 };

void ek_hash_set_init(struct ek_hash_set *s)
{
    memset(s, 0, sizeof *s);
}

void ek_hash_set_release(struct ek_hash_set *s)
{
    ek_free(s->slots);
    ek_hash_set_init(s);
}

/* Return the slot of a hash, or its empty slot. Capacity is a power of two. */
static uint64_t *slot_of(const struct ek_hash_set *s, uint64_t hash)
{
    size_t i = (size_t)hash & (s->capacity - 1);
    while (s->slots[i] && s->slots[i] != hash)
        i = (i + 1) & (s->capacity - 1);
    return &s->slots[i];
}

static int grow(struct ek_hash_set *s)
{
    struct ek_hash_set larger = {.count = s->count,
                                 .capacity = s->capacity ? 2 * s->capacity : FIRST_CAPACITY};
    larger.slots = ek_calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return EK_ENOMEM;
    for (size_t i = 0; i < s->capacity; i++)
        if (s->slots[i])
            *slot_of(&larger, s->slots[i]) = s->slots[i];
    ek_free(s->slots);
    *s = larger;
    return EK_OK;
}

int ek_hash_set_add(struct ek_hash_set *s, uint64_t hash, bool *added)
{
    if (2 * s->count >= s->capacity && grow(s))
        return EK_ENOMEM;
    hash = hash ? hash : 1;
    uint64_t *slot = slot_of(s, hash);
    *added = !*slot;
    s->count += *added;
    *slot = hash;
    return EK_OK;
}
