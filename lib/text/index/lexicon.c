#include "text/index/lexicon.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <string.h>

enum { FIRST_ROOM = 1024, FIRST_BYTES = 16 << 10, FIRST_SLOTS = 64 };

struct ek_lexicon_entry {
    uint32_t at, length;
};

void ek_lexicon_init(struct ek_lexicon *n)
{
    *n = (struct ek_lexicon){0};
}

void ek_lexicon_release(struct ek_lexicon *n)
{
    ek_free(n->names);
    ek_free(n->slots);
    ek_free(n->bytes);
    ek_lexicon_init(n);
}

static bool is_same(const struct ek_lexicon *n, const struct ek_slot *slot, uint32_t hash,
                    const char *bytes, size_t length)
{
    if (slot->hash != hash)
        return false;
    const struct ek_lexicon_entry *name = n->names + slot->number - 1;
    return name->length == length && !memcmp(n->bytes + name->at, bytes, length);
}

static int widen(struct ek_lexicon *n)
{
    size_t count = n->slot_count ? 2 * n->slot_count : FIRST_SLOTS;
    struct ek_slot *slots = ek_calloc(count, sizeof *slots);
    if (!slots)
        return EK_ENOMEM;
    for (size_t i = 0; i < n->slot_count; i++) {
        size_t at = n->slots[i].hash & (count - 1);
        if (!n->slots[i].number)
            continue;
        while (slots[at].number)
            at = (at + 1) & (count - 1);
        slots[at] = n->slots[i];
    }
    ek_free(n->slots);
    n->slots = slots;
    n->slot_count = count;
    return EK_OK;
}

static int reserve_names(struct ek_lexicon *n, size_t length)
{
    if (n->count == UINT32_MAX - 1 || length > UINT32_MAX - n->length)
        return EK_ELIMIT;
    if (n->count == n->room) {
        uint32_t room = n->room > UINT32_MAX / 2 ? UINT32_MAX : n->room ? 2 * n->room : FIRST_ROOM;
        struct ek_lexicon_entry *larger = ek_realloc(n->names, room, sizeof *larger);
        if (!larger)
            return EK_ENOMEM;
        n->names = larger;
        n->room = room;
    }
    if (length > n->capacity - n->length) {
        size_t capacity = (n->capacity ? n->capacity + n->capacity / 2 : FIRST_BYTES) + length;
        char *larger = ek_realloc(n->bytes, capacity, 1);
        if (!larger)
            return EK_ENOMEM;
        n->bytes = larger;
        n->capacity = capacity;
    }
    return n->count + 1 > n->slot_count / 2 ? widen(n) : EK_OK;
}

static size_t slot_of(const struct ek_lexicon *n, uint32_t hash, const char *bytes, size_t length)
{
    size_t at = hash & (n->slot_count - 1);
    while (n->slots[at].number && !is_same(n, n->slots + at, hash, bytes, length))
        at = (at + 1) & (n->slot_count - 1);
    return at;
}

int ek_lexicon_add(struct ek_lexicon *n, const char *bytes, size_t length, uint32_t *number,
                   bool *added)
{
    uint32_t hash = (uint32_t)ek_hash(bytes, length, 0);
    size_t at = 0;
    *added = false;
    if (n->slot_count) {
        at = slot_of(n, hash, bytes, length);
        if (n->slots[at].number) {
            *number = n->slots[at].number - 1;
            return EK_OK;
        }
    }
    int rc = reserve_names(n, length);
    if (rc)
        return rc;
    at = slot_of(n, hash, bytes, length);
    n->names[n->count] = (struct ek_lexicon_entry){(uint32_t)n->length, (uint32_t)length};
    memcpy(n->bytes + n->length, bytes, length);
    n->length += length;
    *number = n->count++;
    n->slots[at] = (struct ek_slot){n->count, hash};
    *added = true;
    return EK_OK;
}

const char *ek_lexicon_text(const struct ek_lexicon *n, uint32_t number, size_t *length)
{
    *length = n->names[number].length;
    return n->bytes + n->names[number].at;
}

uint64_t ek_lexicon_memory(const struct ek_lexicon *n)
{
    return (uint64_t)n->room * sizeof *n->names + n->slot_count * sizeof *n->slots + n->capacity;
}
